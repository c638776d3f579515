"""Commands that open, list and export sessions."""
