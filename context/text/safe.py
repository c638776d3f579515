"""A file's text as a model may be shown it: secrets masked, hidden characters replaced."""

from __future__ import annotations

from context.text.fences import harmless
from context.text.secrets import Redacted, redact
from context.text.unseen import has_hidden, named

HIDDEN = "hidden characters"
"""What a text is said to hold besides kinds of secrets, where characters in it could hide words."""


def safe_text(text: str, hints: frozenset[str] | None = None) -> Redacted:
    """``text`` of a file, line for line, so that edits can quote it. ``hints`` are as in :func:`redact`."""
    safe = redact(text, hints)
    kinds = (*safe.kinds, HIDDEN) if has_hidden(text) else safe.kinds
    return Redacted(harmless(safe.text), kinds)


def safe_instructions(text: str) -> Redacted:
    """``text`` of the project's instructions: every character that cannot be seen is written out by name."""
    safe = redact(text)
    spoken = named(safe.text)
    return Redacted(spoken, (*safe.kinds, HIDDEN) if has_hidden(text) else safe.kinds)
