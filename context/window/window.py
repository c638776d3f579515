"""Builds the window: what the model is shown for one request, never over its budget.

The order of the pieces keeps the server's prompt cache valid: stable pieces come first, and those about the
request last. Every piece is a block (see ``context.text.tokens``), so the window's tokens are the sum of its
pieces' tokens. Room is assigned in this order: instructions and request, the project's instructions, the
conversation, the files that the request names, pinned files, changed files, the map.

A window of a large project takes some hundred thousand values for a moment, none of them in a circle. So no
garbage is collected meanwhile: a collection finds nothing, but looks at all of them and holds up every
thread (30 to 80 ms were seen).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from context.find.order import Ranking
from context.find.ranking import rank, says_much
from context.map.blocks import FrozenMap, MapPart, with_changes
from context.map.project_map import (
    build_delta,
    build_map,
    full_cost,
    list_cost,
    more_outlines,
    reuse_frozen_map,
)
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from context.window.file_texts import LATER_OUTLINES, show_files
from context.window.packing import Packing
from context.window.pieces import BudgetTooSmall, Kind, LeftOut, Piece, Window, WindowRequest
from context.window.preamble import history, needed, project_instructions
from context.window.seen import Seen

_LOCK = threading.Lock()
_pauses = 0
_was_enabled = False


@contextmanager
def uncollected() -> Iterator[None]:
    """Collect no garbage meanwhile; several threads may be in it. A collector that is off stays off."""
    global _pauses, _was_enabled
    with _LOCK:
        if not _pauses:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _LOCK:
            _pauses -= 1
            if not _pauses and _was_enabled:
                gc.enable()


__all__ = ["BudgetTooSmall", "Kind", "LeftOut", "Piece", "Window", "WindowRequest", "build"]

_FILES_SHARE = 0.6
"""The share of the remaining room that file texts may take."""
_MAP_SHARE = 0.5
"""A complete map up to this share of the room is always shown, and file texts get all the rest."""

_MOST_BY_CHANGES = 16_000
"""Tokens that likely parts may take where the request says little and only uncommitted changes tell what
it may be about: a short word should not cost a large window."""

_BY_NAME = "on the map by its name alone: nobody edits it by hand"


def build(request: WindowRequest, snapshot: Snapshot, counter: Counter, seen: Seen | None = None) -> Window:
    """Build a window of at most ``request.budget`` tokens.

    With ``seen``, it has only what is new or changed since. Raises BudgetTooSmall if the instructions and the
    request alone do not fit.
    """
    with uncollected():
        return _packed(Packing(request, snapshot, counter, seen or Seen()))


def _packed(packing: Packing) -> Window:
    request = packing.request
    needed(packing)
    project_instructions(packing)
    history(packing)
    if request.fill_limit is not None:
        taken = request.budget - request.used - packing.room
        packing.room = max(0, min(packing.room, request.fill_limit - taken))
        packing.earned = request.fill_limit - min(
            request.fill_limit, request.fill_comfort or request.fill_limit
        )
    _files_and_map(packing)
    return packing.window()


def _files_and_map(packing: Packing) -> None:
    """Add file texts, then the map in the room that is left."""
    count = packing.counter.count_kept
    known_map = bool(packing.before.outlines)
    # A following turn that says little, such as one that was started by a save, looks for nothing.
    limited = packing.request.likely_limit
    looks = not known_map or bool(limited and says_much(packing.request.text, packing.snapshot))
    ranking = _ranked(packing, related=looks)
    full = 0 if known_map else full_cost(packing.snapshot, count, packing.room)
    limit = packing.room if packing.request.map_limit is None else packing.request.map_limit
    if known_map:
        file_room = packing.room
    else:
        at_least = list_cost(packing.snapshot, count, packing.room // 4)
        map_cost = min(full, limit)
        file_room = int(packing.room * _FILES_SHARE)
        if map_cost <= packing.room * _MAP_SHARE:
            file_room = packing.room - map_cost
        file_room = min(file_room, packing.room - at_least)
    says = looks and (known_map or says_much(packing.request.text, packing.snapshot))
    by_changes = ranking.changed and not says and not packing.mentioned
    fills = packing.request.fills_up and not known_map and (says or by_changes or bool(packing.mentioned))
    if fills and not packing.request.likeliest_last:
        limited = _MOST_BY_CHANGES if by_changes else None
    elif packing.request.fills_up and not says and not packing.mentioned:
        limited = 0  # a greeting gets the map, and the work in hand
    whole = show_files(packing, ranking, file_room, limited, first=not known_map, fills=fills)
    _map(packing, ranking, min(packing.room, limit), whole, full, first=not known_map, looks=looks)
    part = packing.map
    packing.left_out += [
        LeftOut(path, tokens, "no room for its definitions") for path, tokens in part.unoutlined
    ]
    packing.left_out += [LeftOut(path, tokens, "no room to list its files") for path, tokens in part.unlisted]
    packing.left_out += [LeftOut(path, tokens, _BY_NAME) for path, tokens in part.by_name]


def _map(
    packing: Packing,
    ranking: Ranking,
    limit: int,
    whole: frozenset[str],
    full: int,
    *,
    first: bool,
    looks: bool,
) -> None:
    """Add the map: its changes; or, at a fresh start, the frozen map and its changes, or a new map."""
    count = packing.counter.count_kept
    if not first:
        known = {**packing.before.files, **packing.files}
        texts = frozenset(path for path, shown in known.items() if shown.whole)
        delta = build_delta(packing.snapshot, packing.before.outlines, packing.room, count, texts)
        _add_map(packing, delta, "definitions that changed since the map was shown")
        share = int((packing.request.likely_limit or 0) * LATER_OUTLINES) if looks else 0
        room = min(packing.room, share)
        outlines = with_changes(packing.before.outlines, delta.outlines, delta.gone)
        more = more_outlines(packing.snapshot, ranking, outlines, known, room, count)
        _add_map(packing, more, "definitions that match this request")
        packing.map = replace(delta, outlines={**delta.outlines, **more.outlines})
        return
    frozen = packing.seen.frozen
    held_back = packing.removed | packing.withheld
    if frozen and any(len(frozen.outlines.get(path, "")) > len(path) + 1 for path in held_back):
        # It was made before the user took these files out, or before they changed, and holds what they say.
        frozen = None
    again = frozen and reuse_frozen_map(packing.snapshot, frozen, limit, min(full, limit), count)
    if frozen and again:
        base, delta = again
        _add_map(packing, base, f"the project: {len(base.outlines):,} files, as first shown")
        _add_map(packing, delta, "definitions that changed since the map was first shown")
        now = with_changes(base.outlines, delta.outlines, delta.gone)
        packing.map = MapPart(base.text, base.tokens, now, gone=delta.gone)
        packing.frozen = frozen
        return
    packing.map = build_map(packing.snapshot, ranking, limit, count, whole, full)
    total = len(packing.snapshot.paths)
    in_part = f" ({packing.map.in_part:,} of them in part)" if packing.map.in_part else ""
    files = "1 file" if total == 1 else f"{total:,} files"
    told = f"the project: {files}, {packing.map.outlined:,} of them with their definitions{in_part}"
    _add_map(packing, packing.map, told)
    if packing.map.text:
        packing.frozen = FrozenMap(packing.map.text, packing.map.tokens, packing.map.outlines)


def _add_map(packing: Packing, part: MapPart, why: str) -> None:
    if part.text:
        indexing = "" if packing.snapshot.complete else "; the project is still being indexed"
        packing.add(Kind.MAP, None, part.text, part.tokens, f"{why}{indexing}")


def _ranked(packing: Packing, *, related: bool) -> Ranking:
    request = packing.request
    in_hand = [*packing.mentioned, *packing.pinned, *packing.snapshot.changes, *request.open_files]
    in_hand += request.recent
    return rank(
        packing.snapshot,
        request.text,
        in_hand,
        at_work=request.at_work,
        earlier=request.earlier,
        related=related,
    )
