"""The link to the model server: open and warm, kept across turns, replaced when lost."""
