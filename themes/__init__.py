"""Colours as data: one TOML file per theme, and their loader."""
