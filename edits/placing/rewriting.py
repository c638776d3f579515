"""Puts other lines in the place of those that a hunk would land: what the user made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edits.files.edited import edited
from edits.hunk import Hunk


def rewritten(hunk: Hunk, new: Sequence[str]) -> Hunk:
    """``hunk`` with ``new`` in place of its new lines. What it looks for stays, and lines that are in both
    are context, whose bytes stay those of the file."""
    lines = edited(hunk.old, new)
    return replace(hunk, lines=lines, replacement=None, alternatives=(), replace_all=False)
