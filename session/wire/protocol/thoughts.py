"""Sets apart what a model thinks where its server leaves that in the text, between tags.

Servers without a parser for a model's reasoning pass its tags through (vLLM and llama.cpp without their
``--reasoning`` options, gateways before them). Nothing of it is an answer: it is shown as reasoning, and its
drafts of edits never land. Tags count at the beginning of a message, where chat templates have models put
them; elsewhere they may be a part of what is written.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from session.wire.protocol.dialects import Decoder
from session.wire.protocol.events import (
    Created,
    Finished,
    ItemDone,
    ReasoningDelta,
    TextDelta,
    WireEvent,
)
from session.wire.protocol.items import ServerItem

_NAMES = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad", "seed:think"),
    *("thought_process", "thinking_process", "chain_of_thought", "internal_monologue", "inner_monologue"),
)
_TAGS = {
    **{f"<{name}>": f"</{name}>" for name in _NAMES},
    "[think]": "[/think]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|channel|>final<|message|>": "",
    "<|start|>assistant<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>final<|message|>": "",
}
"""Maps what opens thinking to what closes it, in lower case; to nothing what only begins the answer."""
NO_END = "its thinking had no end"
"""The reason why an answer is not complete that was all in one such tag."""


class _Text:
    """One message while it streams: what of it is thought, and what is said."""

    def __init__(self) -> None:
        self._held = ""
        self._close = ""
        """What ends the thinking that has begun."""
        self.answers = False
        """Whether the answer has begun, so that tags no longer count."""
        self._thought = False

    @property
    def is_open(self) -> bool:
        """Whether thinking has begun and not ended."""
        return bool(self._close)

    def feed(self, text: str) -> list[tuple[bool, str]]:
        """The pieces of ``text``, and whether each is thought; the end may be held until more has come."""
        if self.answers:
            return [(False, text)]
        self._held += text
        pieces: list[tuple[bool, str]] = []
        while self._held and not self.answers:
            piece = self._inside() if self._close else self._begin()
            if piece is None:
                break
            pieces += [piece] if piece[1] else []
        return pieces

    def end(self) -> list[tuple[bool, str]]:
        """What was held, now that the message is whole."""
        held, self._held = self._held, ""
        if self._thought and not self._close:
            held = held.lstrip()
        return [(self.is_open, held)] if held else []

    def _begin(self) -> tuple[bool, str] | None:
        """Find out whether thinking begins; None while that cannot be told."""
        begin = self._held.lstrip()
        lower = begin[:64].lower()
        for tag, close in _TAGS.items():
            if lower.startswith(tag):
                self._held, self._close, self._thought = begin[len(tag) :], close, True
                return True, ""
        if not begin or any(tag.startswith(lower) for tag in _TAGS):
            return None
        said, self._held, self.answers = begin if self._thought else self._held, "", True
        return False, said

    def _inside(self) -> tuple[bool, str] | None:
        """The next piece of a thought, up to its end; None where there may be an end that has not come."""
        lower = self._held.lower()
        at = lower.find(self._close)
        if at >= 0:
            thought, self._held = self._held[:at], self._held[at + len(self._close) :]
            self._close = ""
            return True, thought
        kept = next((n for n in range(len(self._close) - 1, 0, -1) if lower.endswith(self._close[:n])), 0)
        thought, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
        return (True, thought) if thought else None


class ThoughtsApart:
    """A decoder whose events have thinking as reasoning, and whose messages hold the answer alone."""

    def __init__(self, decoder: Decoder) -> None:
        self._decoder = decoder
        self._text = _Text()

    @property
    def finished(self) -> bool:
        """True after the answer's last event."""
        return self._decoder.finished

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``."""
        return self._sorted(self._decoder.feed(frame))

    def end(self) -> list[WireEvent]:
        """The last events when the stream ends."""
        return self._sorted(self._decoder.end())

    def _sorted(self, events: list[WireEvent]) -> list[WireEvent]:
        if self._text.answers and len(events) == 1 and type(events[0]) is TextDelta:
            return events  # up to thousands a second
        out: list[WireEvent] = []
        for event in events:
            match event:
                case TextDelta(text=text):
                    out += map(_event, self._text.feed(text))
                case ItemDone(item=item) if item.get("type") == "message":
                    out += [*map(_event, self._text.end()), replace(event, item=_answer(item))]
                    self._text = _Text()
                case Finished():
                    out += [*map(_event, self._text.end()), _finished(event)]
                case Created():
                    self._text = _Text()
                    out.append(event)
                case _:
                    out.append(event)
        return out


def _event(piece: tuple[bool, str]) -> WireEvent:
    thought, text = piece
    return ReasoningDelta(text) if thought else TextDelta(text)


def _answer(item: ServerItem) -> ServerItem:
    """The message ``item`` without the thinking at the beginning of its text."""
    content = item.get("content")
    if not isinstance(content, list):
        return item
    for index, part in enumerate(content):
        if isinstance(part, dict) and isinstance(text := part.get("text"), str):
            said = _said(text)
            return (
                item if said == text else {**item, "content": _with(content, index, {**part, "text": said})}
            )
    return item


def _with(parts: Iterable[object], index: int, part: object) -> list[object]:
    return [part if at == index else each for at, each in enumerate(parts)]


def _said(text: str) -> str:
    message = _Text()
    pieces = message.feed(text)
    return "".join(piece for thought, piece in [*pieces, *message.end()] if not thought)


def _finished(event: Finished) -> Finished:
    messages = [item for item in event.output if item.get("type") == "message"]
    output = tuple(_answer(item) if item.get("type") == "message" else item for item in event.output)
    endless = bool(messages) and _is_endless(messages[-1])
    if endless and event.status == "completed":
        return replace(event, status="incomplete", output=output, reason=NO_END)
    return replace(event, output=output) if output != event.output else event


def _is_endless(item: ServerItem) -> bool:
    content = item.get("content")
    first = (
        next((part for part in content if isinstance(part, dict)), {}) if isinstance(content, list) else {}
    )
    message = _Text()
    message.feed(text if isinstance(text := first.get("text"), str) else "")
    return message.is_open
