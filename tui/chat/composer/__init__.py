"""The composer: where the user types."""
