"""Texts that are attached to a prompt."""

from __future__ import annotations

from context.text.safe import fenced


def attached(name: str, text: str) -> str:
    """A file or resource with its text, fenced so that nothing in it is taken for the prompt."""
    return f"{name}:\n{fenced(name, text)}"
