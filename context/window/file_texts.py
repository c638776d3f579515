"""Chooses the files whose text is in a window: named, pinned, changed and open ones, then related ones."""

from __future__ import annotations

from itertools import islice

from context.find.ranking import Ranking, settings
from context.project.project_paths import project_paths
from context.text.fences import LIST_FENCE
from context.window.file_views import EXPLICIT, Reason, file_view
from context.window.packing import Packing
from context.window.pieces import Kind, LeftOut
from context.window.related_files import related_view
from context.window.seen import ShownFile

_LONGEST_TOKEN = 12
"""Characters per token that no text reaches on average, so that a longer one need not be counted."""
_MIN_TOKENS = 24
"""Number of tokens below which no file is tried, since its heading alone would not fit."""
_MIN_RELATED_TOKENS = 400
"""Number of tokens below which no related file is tried."""
_MOST_FAILURES = 4
"""Number of related files that did not fit, after which no more are tried."""
_RECENT_REASON = "this conversation has been about it"
_CHARACTERS_PER_TOKEN = 4
"""Estimated characters per token, used to choose parts of files before they are counted."""


def show_files(packing: Packing, ranking: Ranking, room: int, *, first: bool) -> frozenset[str]:
    """Add the files that matter in at most ``room`` tokens, and return those that are shown whole.

    ``first`` says that this is the first window of a conversation, which has related files too.
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
    for path, reason in wanted.items():
        room -= _show(packing, path, reason, room, named)
    room -= _names_only(packing, named, room)
    if first:
        _related(packing, ranking, room)
    return frozenset(path for path, shown in packing.files.items() if shown.whole)


def _show(packing: Packing, path: str, reason: Reason, room: int, named: list[str]) -> int:
    """Add one file in the fullest form that fits, and return its tokens."""
    entry = packing.snapshot.entries.get(path)
    digest = entry.digest if entry is not None else ""
    if reason not in EXPLICIT and digest and packing.before.without_room.get(path) == digest:
        return 0
    tokens = 0
    before = packing.before.files.get(path)
    # A file's shortest form is its definitions. If they do not fit, it is not even read.
    least = packing.counter.count_kept(entry.block) if entry is not None else 0
    if room >= max(_MIN_TOKENS, 0 if before is not None else least):
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
            if tokens <= room:
                packing.add(found.kind, path, form.text, tokens, form.why)
                whole = form.whole or found.completes
                packing.files[path] = ShownFile(found.digest, found.lines, whole, found.parts)
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


def _related(packing: Packing, ranking: Ranking, room: int) -> None:
    """Add files that nobody named but that rank well, best first."""
    map_limit = packing.request.map_limit
    limit = None if map_limit is None else map_limit // 4
    rules = settings()["related"]
    spent = _recent(packing, ranking, room if limit is None else min(room, max(limit, room // 4)))
    room = room - spent if limit is None else min(room, limit) - spent
    may_be = (
        path
        for _, path in ranking.order.top
        if ranking.scores.get(path, 0.0) >= rules["least"] and _may_be_related(packing, path)
    )
    likely = list(islice(may_be, rules["most"]))
    failures = 0
    for at, path in enumerate(likely):
        if room < _MIN_RELATED_TOKENS or failures == _MOST_FAILURES:
            _leave_out(packing, path, ranking.reasons[path])
            continue
        # A file that stands out gets most of the room; files with similar scores share it.
        rivals = sum(ranking.scores[other] for other in likely[at : at + rules["rivals"]])
        share = max(rules["share"], ranking.scores[path] / rivals)
        tokens = _show_related(packing, path, ranking.reasons[path], ranking, room, share)
        room -= tokens
        failures += not tokens


def _recent(packing: Packing, ranking: Ranking, room: int) -> int:
    """Add the files that the conversation has been about, and return their tokens."""
    share: float = settings()["related"]["share"]
    left = room
    for path in packing.request.recent:
        if not _may_be_related(packing, path):
            continue
        if left < _MIN_RELATED_TOKENS:
            packing.left_out.append(LeftOut(path, 0, f"no room beside the other files: {_RECENT_REASON}"))
            continue
        left -= _show_related(packing, path, _RECENT_REASON, ranking, left, share)
    return room - left


def _show_related(packing: Packing, path: str, reason: str, ranking: Ranking, room: int, share: float) -> int:
    """Add a file that nobody named in about ``share`` of the room, and return its tokens."""
    limit = int(room * share) * _CHARACTERS_PER_TOKEN
    found = related_view(path, reason, ranking.wanted, limit, packing.snapshot)
    if found.problem is not None:
        packing.left_out.append(LeftOut(path, 0, found.problem))
        return 0
    tokens = 0
    for form in found.forms:
        tokens = packing.counter.count_kept(form.text)
        if tokens <= room:
            packing.add(found.kind, path, form.text, tokens, form.why)
            packing.files[path] = ShownFile(found.digest, found.lines, form.whole)
            return tokens
    _leave_out(packing, path, reason, tokens)
    return 0


def _leave_out(packing: Packing, path: str, reason: str, tokens: int = 0) -> None:
    why = f"beyond the share of files that nobody named: {reason}"
    packing.left_out.append(LeftOut(path, tokens, why))


def _may_be_related(packing: Packing, path: str) -> bool:
    return (
        path in packing.snapshot.entries
        and path not in packing.files
        and path not in packing.without_room
        and (Kind.PROJECT_INSTRUCTIONS, path) not in packing.texts
    )


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
