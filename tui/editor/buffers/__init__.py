"""Open files as text: lines, undo history, conflicts and unsaved changes, without a screen."""
