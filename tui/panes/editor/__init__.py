"""The editor pane: the open file, its landed hunks and the one in flight."""
