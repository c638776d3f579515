"""A suggestion as the editor draws it: ghost text at the cursor, ghost lines, struck lines."""
