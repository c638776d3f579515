"""Which model answers a session, and which models can be chosen."""
