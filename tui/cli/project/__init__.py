"""Commands about the project: its hunks, checks, windows, reviews and usage."""
