"""The layout of the panes, their titles, the status line and the empty editor."""
