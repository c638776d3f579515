"""Keeps this process's own keys out of events, also where a server repeats one in pieces."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from session.base.events import Event, HunkTyped, ReasoningDelta, TextDelta, ToolOutput
from session.base.text.masking import mask, start_of_key

Piece = TextDelta | ReasoningDelta | HunkTyped | ToolOutput
"""An event that brings a text in pieces, which a server may cut anywhere."""


class KeyMask:
    """Masks the known keys in events. What could be the beginning of a key is held back until the next piece
    of the same text, or any other event, shows whether it is one."""

    def __init__(self) -> None:
        self._held: Piece | None = None

    def take(self, event: Event) -> list[Event]:
        """What may be told now that ``event`` has come, in order."""
        if not isinstance(event, Piece):
            return [*self.rest(), masked(event)]
        before: list[Event] = []
        held = self._held
        if held is not None:
            if replace(held, text="") == replace(event, text=""):
                self._held = None
                event = replace(event, text=held.text + event.text)
            else:
                before = self.rest()
        text = mask(event.text)
        start = start_of_key(text)
        if start < len(text):
            self._held = replace(event, text=text[start:])
        return [*before, replace(event, text=text[:start])] if start else before

    def rest(self) -> list[Event]:
        """What was held back, now that nothing more of its text comes."""
        held, self._held = self._held, None
        return [held] if held is not None else []


def masked(event: Event) -> Event:
    """``event`` without the known keys in any of its texts."""
    changed: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        new = value
        if isinstance(value, str):
            new = mask(value)
        elif isinstance(value, tuple):
            new = tuple(mask(each) if isinstance(each, str) else each for each in value)
        if new != value:
            changed[field.name] = new
    return replace(event, **changed) if changed else event
