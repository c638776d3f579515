"""Commands that open, list, fork, replay and export sessions."""
