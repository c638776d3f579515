"""Debugging: commands that run live, and what of their output says why they failed."""
