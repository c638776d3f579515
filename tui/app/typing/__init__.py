"""Help while the user types: suggestions, next edits, refactors in place, and redirects by touch."""
