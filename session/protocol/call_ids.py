"""Ids for tool calls whose server gives none."""

from __future__ import annotations

import uuid


def new_call_id() -> str:
    """An id that no other call of the conversation has: a server refuses two calls of one id."""
    return f"call_{uuid.uuid4().hex[:24]}"
