"""Guards: edits that are held until the user agrees."""
