"""Reading, comparing and writing the project's files."""
