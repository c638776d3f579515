"""Chooses the files whose text is in a window: named, pinned, changed and open ones, then related ones."""

from __future__ import annotations

from collections.abc import Iterable

from context.disk.changes import changed_ranges
from context.disk.source import Unread
from context.find.order import Ranking
from context.index.file_text import file_text
from context.project.project_paths import project_paths
from context.text.safe import LIST_FENCE
from context.window.file_views import EXPLICIT, Reason, file_view, without
from context.window.likely_texts import SIGNATURES_SHARE, show_in_short, show_likely
from context.window.packing import Packing
from context.window.pieces import Kind, LeftOut
from context.window.seen import ShownFile

_LONGEST_TOKEN = 12
"""Characters per token that no text reaches on average, so that a longer one need not be counted."""
_WHOLE_SHARE = 0.5
"""The largest share of the room that one file may take whole, unless it is pinned."""
LATER_OUTLINES = 0.25
"""The share of the room for likely parts that outlines take in a following turn."""
_MIN_TOKENS = 24
"""Number of tokens below which no file is tried, since its heading alone would not fit."""


def show_files(
    packing: Packing, ranking: Ranking, room: int, limit: int | None, *, first: bool, fills: bool = False
) -> frozenset[str]:
    """Add the files that matter in at most ``room`` tokens, and return those that are shown whole.

    Likely parts take at most ``limit`` of them; without a limit there are none in a following turn. ``first``
    says that this is the first window of a conversation, and ``fills`` that likely parts fill the room.
    """
    place = {path: at for at, path in enumerate(ranking.order.first)}
    changed = sorted(packing.snapshot.changes, key=lambda path: place.get(path, -1))
    since = [path for path in packing.before.files if path not in packing.snapshot.changes]
    wanted: dict[str, Reason] = dict.fromkeys(packing.mentioned, Reason.NAMED)
    pinned = list(packing.pinned)
    for paths, reason in (
        (pinned, Reason.PINNED),
        (changed, Reason.CHANGED),
        (since, Reason.SHOWN_BEFORE),
    ):
        for path in paths:
            wanted.setdefault(path, reason)
    known = project_paths(packing.snapshot.paths)
    for path in packing.request.open_files:
        if path in known:
            wanted.setdefault(path, Reason.OPEN)
    named: list[str] = []
    bound = int(room * _WHOLE_SHARE)
    for path, reason in wanted.items():
        if spent := _bounded(packing, ranking, path, reason, min(bound, room)):
            room -= spent
        else:
            room -= _show(packing, path, reason, room, bound, named)
    room -= _names_only(packing, named, room)
    if limit is not None and not first:
        limit = int(limit * (1 - LATER_OUTLINES))
    if first or limit is not None:
        likely_room = room if limit is None else min(room, limit)
        # What must be earned is the end of all the room, which a limit may never reach.
        earned = max(0, likely_room - max(0, room - packing.earned)) if fills else 0
        show_likely(packing, ranking, likely_room, earned, first=first, fills=fills)
    _tell_partly_shown(packing, wanted)
    return frozenset(path for path, shown in packing.files.items() if shown.whole)


def _bounded(packing: Packing, ranking: Ranking, path: str, reason: Reason, bound: int) -> int:
    """Add a file in short if all of it would take more than ``bound`` tokens, and return its tokens.

    A change to a file with an earlier state is by itself no reason to show more than what changed."""
    change, before = packing.snapshot.changes.get(path), packing.before.files.get(path)
    compared = reason is Reason.CHANGED and (change is None or change.base is not None)
    if (
        compared
        or packing.wants_parts(path)
        or reason is Reason.SHOWN_BEFORE
        or path in packing.pinned
        or bound < _MIN_TOKENS
    ):
        return 0
    if before is not None and (before.whole or reason is not Reason.NAMED):
        return 0
    source = packing.snapshot.read(path)
    if isinstance(source, Unread) or len(source.text) <= bound:
        return 0
    if len(source.text) < bound * _LONGEST_TOKEN and packing.counter.count_kept(source.text) <= bound:
        return 0
    file = file_text(source)
    changed = [] if change is None or change.base is None else change.ranges(file.sums)
    if before is not None and before.lines is not None and before.digest != source.digest:
        changed = changed_ranges(before.lines, file.sums)
    return show_in_short(packing, ranking, file, reason, changed, bound)


def _tell_partly_shown(packing: Packing, wanted: Iterable[str]) -> None:
    """Tell of which files that were wanted whole the model lacks lines."""
    told = {left.path for left in packing.left_out}
    for path in wanted:
        shown = packing.files.get(path)
        if shown is None or shown.whole or shown.lines is None or packing.wants_parts(path) or path in told:
            continue
        total = len(shown.lines)
        missing = sum(map(len, without(shown.parts, range(total))))
        if missing:
            why = f"shown in part ({missing:,} of its {total:,} lines are not in the window)"
            if missing == total:
                why = "only its definitions are shown"
            packing.left_out.append(LeftOut(path, 0, why))


def _show(packing: Packing, path: str, reason: Reason, room: int, bound: int, named: list[str]) -> int:
    """Add one file in the fullest form that fits, and return its tokens. All its signatures may take at most
    a small share of ``bound`` tokens where it can be shown without them."""
    entries = packing.snapshot.entries
    digest = entries.digest(path)
    if reason not in EXPLICIT and digest and packing.before.without_room.get(path) == digest:
        return 0
    tokens = 0
    before = packing.before.files.get(path)
    # The shortest form of a file without an earlier state is its definitions. If they do not fit, it is not
    # even read.
    change = packing.snapshot.changes.get(path)
    is_new = before is None and digest and (change is None or change.base is None)
    least = packing.counter.count_kept(entries.block(path)) if is_new else 0
    if room >= max(_MIN_TOKENS, least):
        parts = (*packing.mentioned.get(path, ()), *packing.pinned.get(path, ()))
        found = file_view(path, reason, packing.snapshot, before, parts)
        if found is None:
            return 0
        if found.problem is not None:
            if path not in packing.snapshot.unread:
                packing.left_out.append(LeftOut(path, 0, found.problem, named=reason is Reason.NAMED))
            return 0
        digest = found.digest
        for form in found.forms:
            if len(form.text) > room * _LONGEST_TOKEN:
                continue
            tokens = packing.counter.count_kept(form.text)
            if tokens <= (min(room, int(bound * SIGNATURES_SHARE)) if form.roomy else room):
                packing.add(found.kind, path, form.text, tokens, form.why)
                whole = form.whole or found.completes
                known = found.parts | form.parts
                packing.files[path] = ShownFile(found.digest, found.lines, whole, known)
                return tokens
    elif path in packing.snapshot.unread:
        return 0
    if reason is Reason.PINNED:
        why = "pinned, but there is no room for its text"
        if before is not None and before.digest == digest:
            packing.left_out.append(LeftOut(path, tokens, f"{why}; a part of it was shown before"))
            return 0
    else:
        why = "no room for its text"
    if path in packing.snapshot.changes:
        named.append(path)
    packing.without_room[path] = digest
    packing.left_out.append(LeftOut(path, tokens, why, named=reason is Reason.NAMED))
    return 0


def _names_only(packing: Packing, named: list[str], room: int) -> int:
    """Add the names of the changed files whose text did not fit, and return the tokens of the list."""
    heading = f"## Changed files that are not shown\n\n{LIST_FENCE}"
    text = heading
    spent = packing.counter.count_kept(heading) + packing.counter.count_kept(LIST_FENCE)
    for path in sorted(named):
        line = f"- {path} ({packing.snapshot.changes[path].status})\n"
        tokens = packing.counter.count_kept(line)
        if spent + tokens > room:
            break
        text += line
        spent += tokens
    listed = text != heading
    text += LIST_FENCE
    if listed and packing.before.texts.get((Kind.CHANGED, "")) != text:
        packing.texts[Kind.CHANGED, ""] = text
        packing.add(Kind.CHANGED, None, text, spent, "changed files without room for their text")
        return spent
    return 0
