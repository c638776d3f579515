"""What the front ends show of a race: its lines, the panel, and the attempts to choose from."""
