"""Commands that open, list, fork and export sessions."""
