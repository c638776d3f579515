"""What is known of each file, kept in memory and in segments on disk."""
