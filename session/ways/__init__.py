"""Other ways into a session: following one of another process, replaying one, measuring many."""
