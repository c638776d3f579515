"""The partner's suggestions while the user types: from the repetitions in the file, the same each time."""
