"""Suggestions while the user types in the editor: ghost text, accepting it, and what it costs."""
