"""What the front ends say: figures, tables, slash commands and completion."""
