"""What is kept of a session: its journal, past sessions, usage, whole outputs, and sharing it."""
