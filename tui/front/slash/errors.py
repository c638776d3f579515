"""Why a command cannot be obeyed."""

from __future__ import annotations


class SlashError(Exception):
    """A command failed; the message says why."""
