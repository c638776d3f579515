"""What hunks changed: files before and after them, and a patch that ``git apply`` takes."""
