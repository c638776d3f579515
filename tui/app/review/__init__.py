"""Reviewing: the list of a session's hunks, findings of checks and reviews, and the user's verdicts."""
