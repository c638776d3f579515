"""Refactoring in place in the editor: what is asked for the selected lines, and stopping it."""
