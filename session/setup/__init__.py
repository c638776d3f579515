"""Makes the parts of a session from flags and settings."""
