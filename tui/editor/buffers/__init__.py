"""Open files as text: rows, undo history, conflicts, search and unsaved changes, without a screen."""
