"""How far a terminal at the end of a slow line is behind, by what it answers."""
