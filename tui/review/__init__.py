"""Reviewing hunks: the list of all of a session's, what each changed, and the user's verdicts."""
