"""Coverage: how many past commits' failing tests N attempts turn green, and what that takes."""
