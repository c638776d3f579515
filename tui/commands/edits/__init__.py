"""Commands that land and undo edits."""
