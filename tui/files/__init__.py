"""What the user decides about open files: undo, redo, and conflicts with what landed."""
