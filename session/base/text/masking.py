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


def start_of_key(text: str) -> int:
    """Where the end of ``text`` begins that could be the beginning of a known key, else its length."""
    start = len(text)
    for secret in _known:
        at = text.find(secret[0], max(0, len(text) - len(secret) + 1), start)
        while at >= 0 and not secret.startswith(text[at:]):
            at = text.find(secret[0], at + 1, start)
        start = at if at >= 0 else start
    return start
