"""What new text says: markup and placeholders that are none of it, and how deep its lines stand."""
