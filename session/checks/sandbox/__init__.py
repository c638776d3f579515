"""Sandboxes: the project as it is, writable without consequences, for commands that judge it."""
