"""Tells the calls of one Chat answer apart, whichever way the server does: by index, by id or by position.

Sources: OpenAI's Chat Completions reference (``index`` and ``id``), and what gateways and small servers are
known to send: no index, 0 for every call, an id in each piece, ids that differ from piece to piece, the name
in each piece, or none of them and the calls one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Call:
    number: int
    index: int | None
    position: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class CallPiece:
    """A piece of a call: ``position`` is its place in the list of its chunk, the rest what the server said.
    Without arguments it is ``empty``."""

    position: int
    index: int | None = None
    call_id: str = ""
    name: str = ""
    empty: bool = False


class ChatCalls:
    """The calls of one answer so far."""

    def __init__(self, is_whole: Callable[[int], bool]) -> None:
        """``is_whole`` says whether the arguments of the call with that number are a whole JSON object."""
        self._is_whole = is_whole
        self._calls: list[_Call] = []

    def number(self, piece: CallPiece) -> int:
        """The number of the call that ``piece`` is part of, from 0."""
        call = self._of_index(piece) if piece.index is not None else self._of_id_or_position(piece)
        if call is None:
            call = _Call(len(self._calls), piece.index, piece.position, piece.call_id, piece.name)
            self._calls.append(call)
        call.call_id = call.call_id or piece.call_id
        call.name = call.name or piece.name
        return call.number

    def _of_index(self, piece: CallPiece) -> _Call | None:
        calls = [call for call in self._calls if call.index == piece.index]
        same = [call for call in calls if piece.call_id and call.call_id == piece.call_id]
        if same or not calls:
            return same[-1] if same else None
        # 0 for every call: a name with another id starts one. Without a name, each piece has its own id.
        another = piece.name and piece.call_id and calls[-1].call_id
        return None if another else calls[-1]

    def _of_id_or_position(self, piece: CallPiece) -> _Call | None:
        same = [call for call in self._calls if piece.call_id and call.call_id == piece.call_id]
        there = [call for call in self._calls if call.position == piece.position]
        if not same and not there:
            return None
        call = (same or there)[-1]
        if not piece.name or not call.name:
            return call
        other_id = piece.call_id and call.call_id and piece.call_id != call.call_id
        if other_id or piece.name != call.name:
            return None
        return None if not piece.empty and self._is_whole(call.number) else call
