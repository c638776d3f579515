"""Keys that this process has read, so that what others say can be shown without them.

A server may repeat the key it was given in the words of its refusal; those words go to the screen and
into the journal.
"""

from __future__ import annotations

_SHORTEST = 8
"""Characters: shorter ones (``none``, ``test``) are no secrets, and are parts of other words."""

_known: set[str] = set()


def remember(secret: str) -> None:
    """From now on :func:`mask` takes ``secret`` out."""
    if len(secret) >= _SHORTEST:
        _known.add(secret)


def mask(text: str) -> str:
    """``text`` with every known key replaced."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, "[key]")
    return text
