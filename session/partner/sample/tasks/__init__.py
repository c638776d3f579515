"""A small task list."""
