"""The tools that read the project: read, search, list, outline."""
