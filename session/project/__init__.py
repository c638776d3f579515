"""The project folder of a session: its files, locks, pins, prompts and trust, and indexing it."""
