"""How far the terminal is behind what was written to it, and how much detail its line carries."""
