"""Tracks a response's output items while they stream: finds an event's item and keeps its text so far.

Servers differ in how an event names its item: by id, by ``output_index``, by both, by neither, or by
an id that changes at the end. An item is therefore looked up by id, then by index, then by kind and order.
"""

from __future__ import annotations

from typing import Any

from session.base.text.pieces import Pieces

_TOOL_INPUT = {"custom_tool_call": "input", "function_call": "arguments"}
_PARTS_APART = "\n\n"


MOST = 512
"""The most items a response may have. Each lookup searches them all, so the number is limited."""


MOST_TEXT = 1_000_000
"""Characters of one message or reasoning that are kept while it streams, the newest: no model writes as much
in one."""


class TooManyItems(Exception):
    """A response has more than :data:`MOST` items."""


class OutputItem:
    """One output item: its ids, and the text passed on so far."""

    def __init__(self, kind: str, index: int | None) -> None:
        self.kind = kind
        self.index = index
        self.item_id = ""
        self.key = ""
        """The id that the item's events carry; its first piece fixes it."""
        self.call_id = ""
        self.name = ""
        self.done: dict[str, Any] | None = None
        """The complete item, once the server has sent it."""
        self._most = None if kind in _TOOL_INPUT else MOST_TEXT
        self._earlier, self._said = Pieces(self._most), Pieces(self._most)
        """The text of earlier parts, and that of the current one."""
        self._part: object = None

    def identify(self, item: dict[str, Any]) -> None:
        """Store the ids and the name that ``item`` carries; those already known stay."""
        for field, name in (("item_id", "id"), ("call_id", "call_id"), ("name", "name")):
            value = item.get(name)
            if isinstance(value, str) and value and not getattr(self, field):
                setattr(self, field, value)

    def delta(self, text: str, part: object = None) -> str:
        """Add a delta and return the text to pass on. ``part`` is the index of a reasoning summary's part."""
        begun = len(self._earlier) or len(self._said)
        if part is not None and begun and part != self._part and self.kind == "reasoning":
            text = _PARTS_APART + text
        self._part = part
        self._said.append(text)
        return text

    def settle_key(self, position: int) -> str:
        """The item's id for the caller: the server's, or one made from its position."""
        self.key = self.key or self.item_id or f"item-{position}"
        return self.key

    def part_done(self, text: str) -> str:
        """Take the full text of the current part. Returns the rest that no delta has sent."""
        rest = _rest(self._said.newest(), text, self._said.gone)
        self._said.append(rest)
        self._earlier, self._said = self._whole(), Pieces(self._most)
        return rest

    def _whole(self) -> Pieces:
        """The text of all parts; where the beginning of the current one is gone, so are the earlier ones."""
        if not self._said.gone:
            self._earlier.append(self._said.newest())
            return self._earlier
        self._said.gone += self._earlier.gone + len(self._earlier)
        return self._said

    def finish(self, item: dict[str, Any]) -> str:
        """Take the complete item. Returns the rest of its text that no delta has sent."""
        self.identify(item)
        self.done = item
        whole = self._whole()
        said, gone = whole.newest(), whole.gone
        self._earlier, self._said = Pieces(), Pieces()
        if self.kind == "reasoning":
            return "" if said else full_text(self.kind, item)
        return _rest(said, full_text(self.kind, item), gone)

    def as_streamed(self) -> dict[str, Any] | None:
        """The item built from its deltas, if the server never sent it whole; None if too little is known."""
        self._earlier, self._said = self._whole(), Pieces(self._most)
        said = self._earlier.text()
        names = {"id": self.item_id} if self.item_id else {}
        if self.kind == "message" and said:
            content = [{"type": "output_text", "text": said, "annotations": []}]
            return {"type": "message", "role": "assistant", "content": content, **names}
        if self.kind in _TOOL_INPUT and self.call_id and self.name:
            call = {
                "type": self.kind,
                "call_id": self.call_id,
                "name": self.name,
                _TOOL_INPUT[self.kind]: said,
            }
            return {**call, **names}
        return None


class OutputItems:
    """The items of one response, in the order they appeared."""

    def __init__(self) -> None:
        self._items: list[OutputItem] = []
        self._matched: set[int] = set()
        self._latest: OutputItem | None = None
        """The item of the last delta, kept with that delta's ids: the next delta mostly has the same ones."""
        self._latest_names: tuple[str, object, int | None] | None = None

    def add(self, item: dict[str, Any], index: int | None) -> OutputItem:
        """The item that an ``output_item.added`` event announces."""
        self._latest = None
        known = self._by_id(item.get("id")) or self._by_index(index, _kind(item))
        if known is None:
            known = self._new(_kind(item), index)
        known.identify(item)
        return known

    def for_delta(self, kind: str, item_id: object, index: int | None) -> OutputItem:
        """The item that a delta of ``kind`` belongs to, created if no event announced it."""
        names = (kind, item_id, index)
        if self._latest is not None and names == self._latest_names:
            return self._latest
        known = self._by_id(item_id, kind) or self._by_index(index, kind)
        if known is None:
            candidates = [item for item in self._items if item.kind == kind and item.done is None]
            # An unknown id means a new item, unless the last open item has no id yet.
            if candidates and (not item_id or not candidates[-1].item_id):
                known = candidates[-1]
        if known is None:
            known = self._new(kind, index)
        if isinstance(item_id, str) and not known.item_id:
            known.item_id = item_id
        self._latest, self._latest_names = known, names
        return known

    def for_done(self, item: dict[str, Any], index: int | None) -> OutputItem:
        """The item that an ``output_item.done`` event ends."""
        self._latest = None
        kind = _kind(item)
        known = self._by_id(item.get("id"), kind) or self._by_index(index, kind)
        if known is None:
            known = next((i for i in self._items if i.kind == kind and i.done is None), None)
        return known or self._new(kind, index)

    def for_final(self, item: dict[str, Any], index: int) -> OutputItem:
        """The item at ``index`` of the final response's output."""
        self._latest = None
        kind = _kind(item)
        known = self._by_id(item.get("id"), kind)
        if known is None or id(known) in self._matched:
            known = next((i for i in self._items if i.kind == kind and id(i) not in self._matched), None)
        known = known or self._new(kind, index)
        self._matched.add(id(known))
        return known

    def key_of(self, item: OutputItem) -> str:
        """The id of ``item`` for the caller; it never changes once it is given."""
        return item.key or item.settle_key(self._items.index(item))

    def output(self) -> tuple[dict[str, Any], ...]:
        """Every finished item, in order of appearance."""
        return tuple(item.done for item in self._items if item.done is not None)

    def unfinished(self) -> list[OutputItem]:
        """The items that have started and are not complete."""
        return [item for item in self._items if item.done is None]

    def _new(self, kind: str, index: int | None) -> OutputItem:
        if len(self._items) >= MOST:
            raise TooManyItems
        item = OutputItem(kind, index)
        self._items.append(item)
        return item

    def _by_id(self, item_id: object, kind: str | None = None) -> OutputItem | None:
        if not isinstance(item_id, str) or not item_id:
            return None
        for item in reversed(self._items):
            if item.item_id == item_id and kind in (None, item.kind):
                return item
        return None

    def _by_index(self, index: int | None, kind: str) -> OutputItem | None:
        if index is None:
            return None
        return next(
            (item for item in reversed(self._items) if item.index == index and item.kind == kind), None
        )


def full_text(kind: str, item: dict[str, Any]) -> str:
    """The text of a complete item: a message's text, a call's input, or a reasoning summary."""
    if kind in _TOOL_INPUT:
        value = item.get(_TOOL_INPUT[kind])
        return value if isinstance(value, str) else ""
    if kind == "reasoning":
        return _PARTS_APART.join(_parts(item.get("summary"))) or _PARTS_APART.join(
            _parts(item.get("content"))
        )
    content = item.get("content")
    return content if isinstance(content, str) else "".join(_parts(content))


def _parts(content: Any) -> list[str]:
    if not isinstance(content, list):
        return []
    texts = (part.get("text", part.get("refusal")) for part in content if isinstance(part, dict))
    return [text for text in texts if isinstance(text, str) and text]


def _rest(said: str, whole: str, before: int) -> str:
    """The part of ``whole`` after ``said``, which has ``before`` characters in front of it; empty if ``said``
    is not there, since sent text stays sent."""
    return whole[before + len(said) :] if whole.startswith(said, before) else ""


def _kind(item: dict[str, Any]) -> str:
    kind = item.get("type")
    return kind if isinstance(kind, str) else "message"
