"""From flags and settings to the parts of a session."""
