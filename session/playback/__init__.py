"""Replaying a past session: its events with their times, the player, and the texts that its hunks left."""
