"""Definitions in source code, found by tree-sitter and written as outlines."""
