"""Guards: edits that are held back until the user agrees."""
