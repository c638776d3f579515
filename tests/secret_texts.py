"""Secrets for tests, and finding a part of one."""

from __future__ import annotations

import random
import string

_DICE = random.Random(1)
_BASE64 = string.ascii_letters + string.digits + "+/"
KEY = "sk-" + "".join(_DICE.choices(string.ascii_letters + string.digits, k=40))
_LINES = ["".join(_DICE.choices(_BASE64, k=64)) for _ in range(200)]
_PART = 12
"""Characters of a secret that must not be seen."""


def private_key(count: int) -> list[str]:
    """The lines of a private key, so many between the first and the last."""
    return ["-----BEGIN RSA PRIVATE KEY-----", *_LINES[:count], "-----END RSA PRIVATE KEY-----"]


def pieces(text: str, secret: str) -> list[str]:
    """The parts of a secret that are in a text."""
    parts = (secret[at : at + _PART] for at in range(len(secret) - _PART + 1))
    return [part for part in parts if part in text]
