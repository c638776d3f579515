"""Builds an answer from deltas, for the dialects that never send a complete item.

The events and the shapes of the items are the same as in the Responses dialect.
"""

from __future__ import annotations

from session.base.text.pieces import Pieces
from session.wire.protocol.events import (
    FinalStatus,
    Finished,
    ItemDone,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.frames import is_object
from session.wire.protocol.items import ServerItem, new_call_id
from session.wire.protocol.output import MOST_TEXT

NAMELESS = "unnamed"
"""The name of a call whose server gave none: the model is told that there is no such tool."""


class _Part:
    """One output item while it streams."""

    def __init__(self, kind: str, key: str, marks: ServerItem, keeps_reasoning: bool) -> None:
        self.kind = kind
        self.key = key
        self._marks = marks
        self._keeps_reasoning = keeps_reasoning
        self.call_id = ""
        self.name = ""
        self.said = Pieces(None if kind == "function_call" else MOST_TEXT)
        self.signature = ""
        self.block: ServerItem | None = None

    def item(self) -> ServerItem | None:
        text = self.said.text()
        if self.kind == "message":
            content = [{"type": "output_text", "text": text, "annotations": []}]
            return {"type": "message", "role": "assistant", "content": content} if text else None
        if self.kind == "reasoning":
            return self._reasoning(text)
        if not self.name and not text.strip():
            return None
        self.call_id = self.call_id or new_call_id()
        return {
            "type": "function_call",
            "call_id": self.call_id,
            "name": self.name or NAMELESS,
            "arguments": text or "{}",
        }

    def _reasoning(self, text: str) -> ServerItem | None:
        """The reasoning item; ``thinking`` holds signed blocks that must be sent back unchanged."""
        block = self.block
        if self.signature and not self.said.gone:
            block = {"type": "thinking", "thinking": text, "signature": self.signature}
        if not text and block is None:
            return None
        summary = [{"type": "summary_text", "text": text}] if text else []
        item: ServerItem = {"type": "reasoning", "summary": summary, **self._marks}
        if self._keeps_reasoning and text:
            item["reasoning_content"] = text
        return item if block is None else {**item, "thinking": [block]}


class Parts:
    """The items of one answer in the order they began."""

    def __init__(self, origin: str = "", *, keeps_reasoning: bool = False) -> None:
        """``origin`` marks its reasoning; with ``keeps_reasoning`` the server wants that back as text."""
        self._marks: ServerItem = {"origin": origin} if origin else {}
        self._keeps_reasoning = keeps_reasoning
        self._parts: dict[tuple[str, object], _Part] = {}
        self._output: list[ServerItem] = []
        self._settled: set[tuple[str, object]] = set()

    def text(self, piece: str, key: object = "text") -> list[WireEvent]:
        """Add a piece of the answer's text."""
        self._part(key, "message").said.append(piece)
        return [TextDelta(piece)]

    def reasoning(self, piece: str, key: object = "reasoning") -> list[WireEvent]:
        """Add a piece of the reasoning."""
        self._part(key, "reasoning").said.append(piece)
        return [ReasoningDelta(piece)]

    def sign(self, signature: object, key: object) -> list[WireEvent]:
        """Add a piece of the server's signature of the reasoning ``key``."""
        if isinstance(signature, str):
            self._part(key, "reasoning").signature += signature
        return []

    def signed(self, block: ServerItem, key: object) -> list[WireEvent]:
        """Add a block of reasoning that only its server can read."""
        self._part(key, "reasoning").block = block
        return []

    def tool(
        self, key: object, *, call_id: object = "", name: object = "", piece: object = ""
    ) -> list[WireEvent]:
        """Add to the tool call ``key``: its id, its name, or a piece of its arguments."""
        part = self._part(key, "function_call")
        if isinstance(call_id, str) and call_id and not part.call_id:
            part.call_id = call_id
        if isinstance(name, str) and name and not part.name:
            part.name = name
        if not isinstance(piece, str) or not piece:
            return []
        part.said.append(piece)
        return [ToolInputDelta(part.key, part.call_id, part.name, piece)]

    def said(self, kind: str, key: object) -> str:
        """The text so far of the item ``key``, a call's arguments; empty for an unknown one."""
        part = self._parts.get((kind, key))
        return "" if part is None else part.said.text()

    def calls_are_whole(self) -> bool:
        """Whether there is a call, and the arguments of each are whole: then the answer is."""
        calls = [part for (kind, _), part in self._parts.items() if kind == "function_call"]
        return bool(calls) and all(is_object(part.said.text()) for part in calls)

    def close(self, key: object) -> list[WireEvent]:
        """Finish the item ``key``."""
        return [event for name in self._parts if name[1] == key for event in self._settle(name)]

    def _settle(self, name: tuple[str, object]) -> list[WireEvent]:
        item = None if name in self._settled else self._parts[name].item()
        self._settled.add(name)
        if item is None:
            return []
        self._output.append(item)
        return [ItemDone(item, self._parts[name].key)]

    def finish(
        self, status: FinalStatus, response_id: str, usage: TokenUsage | None, reason: str | None
    ) -> list[WireEvent]:
        """The answer's last events. A tool call in an answer that was cut off is left out."""
        events: list[WireEvent] = []
        for name in self._parts:
            if status == "completed" or name[0] != "function_call":
                events += self._settle(name)
        return [*events, Finished(status, response_id, tuple(self._output), usage, reason)]

    def _part(self, key: object, kind: str) -> _Part:
        part = self._parts.get((kind, key))
        if part is None:
            name = f"{kind}-{len(self._parts)}"
            part = self._parts[kind, key] = _Part(kind, name, self._marks, self._keeps_reasoning)
        return part


_MOST_TOKENS = 1_000_000_000
"""The largest count that is believed: one that is not would make every sum of the session worthless."""


def count(value: object, *path: str) -> int:
    """The token count at ``path`` in ``value``; 0 if there is no positive integer, or nonsense."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if type(value) is int and 0 < value <= _MOST_TOKENS else 0
