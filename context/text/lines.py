"""Splitting text into lines as git and compilers count them."""

from __future__ import annotations


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` without their ends; only ``\\n`` ends a line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
