"""The live picture of a project folder, and immutable snapshots of it."""
