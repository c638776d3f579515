"""What the terminal shows, cell by cell, and the fewest bytes that change it."""
