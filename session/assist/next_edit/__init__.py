"""Next edits: the other places that a change needs, found by names and offered one by one."""
