"""The project folder of a session: its files, locks, pins and prompts, and indexing it."""
