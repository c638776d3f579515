"""What new text says: markup, placeholders and entities that are none of it."""
