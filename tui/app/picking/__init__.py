"""Choosing a model, a session or a theme, and playing a past session again."""
