"""A session's events on disk, and handing them to subscribers."""
