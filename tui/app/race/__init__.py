"""What the front ends show of a race: the panel, and the attempts to choose from."""
