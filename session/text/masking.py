"""Removes the keys that this process has read from text that is shown or stored.

A server may repeat the key it was given in its refusal, which goes to the screen and the journal.
"""

from __future__ import annotations

_SHORTEST = 8
"""Least length of a key in characters: shorter ones (``none``, ``test``) are parts of other words."""

_known: set[str] = set()


def remember(secret: str) -> None:
    """Have :func:`mask` remove ``secret`` from now on."""
    if len(secret) >= _SHORTEST:
        _known.add(secret)


def mask(text: str) -> str:
    """``text`` with every known key replaced."""
    # The longest first: of a key that contains another, nothing may be left.
    for secret in sorted(_known, key=len, reverse=True):
        if secret in text:
            text = text.replace(secret, "[key]")
    return text
