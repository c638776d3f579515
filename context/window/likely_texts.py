"""Shows the parts of files that nobody named and that seem to matter for the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from context.disk.source import Unread
from context.find.ranking import Ranking, settings
from context.index.file_text import FileText, file_text
from context.window.file_views import Form, parts_form, whole_form
from context.window.likely_parts import Part, contest, shortlist
from context.window.packing import Packing
from context.window.pieces import Kind, LeftOut
from context.window.seen import ShownFile

_MIN_TOKENS = 150
"""Number of tokens below which no more parts are tried."""
_CHARACTERS_PER_TOKEN = 4
"""Estimated characters per token, used to choose parts before they are counted."""
_HEADING = 80
"""Estimated length of what stands around the parts of one file."""
_WHOLE = 0.7
"""The share of a file from which all of it is shown in place of its parts."""
_SIGNATURES = 0.4
"""The largest share of the room that all signatures of a named file may take."""
_RECENT = 2.0
"""Score of a file that the conversation has been about, relative to the best of the others."""
_RECENT_REASON = "this conversation has been about it"
_FEWEST_FILES = 24
_MOST_TEXT = 2_400_000
"""Number of characters above which no further files take part, unless they are fewer than 24."""
_TOKENS_PER_FILE = 250
"""One file for each 250 tokens of room takes part with its passages, and 24 at least."""
_MOST_FAILURES = 40
"""Number of parts that did not fit, after which no more are tried."""


def show_likely(packing: Packing, ranking: Ranking, room: int, *, first: bool, fills: bool) -> None:
    """Add the best parts in at most ``room`` tokens.

    In a following turn, these are only parts that were not shown before and that match the words of the
    request well. ``fills`` says to fill the room, by parts without these words once the others are shown.
    """
    likely = _likely(packing, ranking)
    files: dict[str, FileText] = {}
    if room >= _MIN_TOKENS:
        files = _read(packing, likely)
        most = max(_FEWEST_FILES, room // _TOKENS_PER_FILE)
        wanted = {**ranking.held, **ranking.wanted}
        taking_part = shortlist(files, likely, wanted, ranking, packing.snapshot, most)
        parts = contest(taking_part, likely, wanted, ranking, packing.snapshot, every=fills)
        if not first:
            parts = [part for part in parts if part.sure and not _is_known(packing, part)]
        lengths = {
            path: len(file.source.text) for path, file in files.items() if _may_be_whole(packing, path)
        }
        earned = min(room, packing.earned) if fills else 0
        chosen = _choose(parts, lengths, room * _CHARACTERS_PER_TOKEN, earned * _CHARACTERS_PER_TOKEN)
        if fills:
            # The estimate is too low for some languages, and part of the room would stay empty.
            by_token = _measured(packing, files, chosen)
            chosen = _choose(parts, lengths, int(room * by_token), int(earned * by_token))
        for path, best in chosen.items():
            room -= _show(packing, files[path], best, _reason(packing, ranking, path), room)
    told = {left.path for left in packing.left_out}
    for path in likely if first else ():
        if path not in packing.files and path not in told:
            why = f"beyond the share of files that nobody named: {_reason(packing, ranking, path)}"
            packing.left_out.append(LeftOut(path, 0, why))


def _measured(packing: Packing, files: Mapping[str, FileText], chosen: Mapping[str, list[Part]]) -> float:
    """The characters per token of the chosen parts."""
    size = tokens = 0
    for path, parts in chosen.items():
        file = files[path]
        for lines in (part.lines for part in parts):
            text = file.source.text[file.starts[lines.start] : file.starts[lines.stop]]
            size += len(text)
            tokens += packing.counter.count_kept(text)
    return size / max(1, tokens)


def _likely(packing: Packing, ranking: Ranking) -> dict[str, float]:
    """The files that may be shown in part, with their scores."""
    rules = settings()["related"]
    best = max(ranking.scores.values(), default=0.0) or 1.0
    likely = {path: best * _RECENT for path in packing.request.recent if _may_show(packing, path)}
    may_be = (
        path
        for path in ranking.order.top
        if ranking.scores.get(path, 0.0) >= rules["least"] and _may_show(packing, path)
    )
    for path in islice(may_be, rules["most"]):
        likely.setdefault(path, ranking.scores[path])
    return likely


def _read(packing: Packing, paths: Iterable[str]) -> dict[str, FileText]:
    """The texts of the likeliest files: of all, unless they are long."""
    files: dict[str, FileText] = {}
    size = 0
    for path in paths:
        if size > _MOST_TEXT and len(files) >= _FEWEST_FILES:
            break
        source = packing.snapshot.read(path)
        if isinstance(source, Unread):
            packing.left_out.append(LeftOut(path, 0, source.why))
        else:
            layout = packing.snapshot.entries.layout(path, source.digest)
            files[path] = file_text(source, layout)
            size += len(source.text)
    return files


def _reason(packing: Packing, ranking: Ranking, path: str) -> str:
    return _RECENT_REASON if path in packing.request.recent else ranking.reasons[path]


def _is_known(packing: Packing, part: Part) -> bool:
    """Whether the model was shown these lines; lines that changed since are shown as a change."""
    before = packing.before.files.get(part.path)
    if before is None:
        return False
    if before.digest != packing.snapshot.entries.digest(part.path):
        return True
    lines = part.lines
    return before.has_shown([(lines.start, lines.stop)])


def _choose(
    parts: Iterable[Part], lengths: Mapping[str, int], room: int, earned: int = 0
) -> dict[str, list[Part]]:
    """The best parts in about ``room`` characters, by file; the file with the worst of them last, so that it
    is cut if the estimate was too low. The last ``earned`` characters are for sure parts alone.

    ``lengths`` are those of the files that may be shown whole: once most of one is chosen, the rest is too.
    """
    chosen: dict[str, list[Part]] = {}
    rest = dict(lengths)
    failures = 0
    for part in parts:
        path, size = part.path, part.size
        if not rest.get(path, 1):
            continue
        cost = size + (0 if path in chosen else len(path) + _HEADING)
        if cost <= room and not part.sure and cost > room - earned:
            continue
        if cost <= room:
            room -= cost
            chosen[path] = [*chosen.pop(path, ()), part]
            if path in rest:
                rest[path] -= size
                if rest[path] <= min((1 - _WHOLE) * lengths[path], room):
                    room -= rest[path]
                    rest[path] = 0
            continue
        failures += 1
        if failures == _MOST_FAILURES:
            return chosen
    return chosen


def named_in_short(packing: Packing, ranking: Ranking, file: FileText, room: int) -> int:
    """Add the best parts of a named file that is too long, in at most ``room`` tokens, and return these."""
    path = file.source.path
    outline = len(file.outline.text)
    left = room * _CHARACTERS_PER_TOKEN
    signatures = outline <= _SIGNATURES * left
    parts = contest({path: file}, {path: 1.0}, ranking.wanted, ranking, packing.snapshot)
    chosen = _choose(parts, {}, left - outline if signatures else left).get(path, [])
    return _show(packing, file, chosen, "", room, signatures=signatures)


def _show(
    packing: Packing, file: FileText, parts: list[Part], reason: str, room: int, *, signatures: bool = False
) -> int:
    """Add the parts of one file, without the worst ones if not all fit, and return their tokens."""
    source = file.source
    before = packing.before.files.get(source.path)
    known = before.parts if before is not None and before.digest == source.digest else frozenset()
    may_be_whole = bool(reason) and _may_be_whole(packing, source.path)
    while parts:
        ranges = sorted((part.lines for part in parts), key=lambda lines: lines.start)
        size = sum(part.size for part in parts)
        whole = may_be_whole and size >= _WHOLE * len(source.text)
        form = _whole(file, reason) if whole else _parts(file, ranges, reason, signatures=signatures)
        tokens = packing.counter.count_kept(form.text)
        if tokens <= room:
            packing.add(Kind.MENTIONED, source.path, form.text, tokens, form.why)
            shown = known | {(lines.start, lines.stop) for lines in ranges}
            packing.files[source.path] = ShownFile(source.digest, file.sums, whole, shown)
            return tokens
        if whole and len(parts) > 1:
            may_be_whole = False
        else:
            parts = parts[:-1]
    return 0


def _may_be_whole(packing: Packing, path: str) -> bool:
    """Whether the model knows nothing of a file yet, so that its whole text repeats nothing."""
    return path not in packing.before.files


def _whole(file: FileText, reason: str) -> Form:
    return whole_form(file, f"likely to matter: {reason}; whole{_masked(file)}")


def _parts(file: FileText, ranges: list[range], reason: str, *, signatures: bool) -> Form:
    said = f"likely to matter: {reason}" if reason else "named in the request, but too long to be shown whole"
    why = f"{said}; the parts that match best{_masked(file)}"
    return parts_form(file, ranges, why, signatures=signatures)


def _masked(file: FileText) -> str:
    return f"; masked: {', '.join(file.safe.kinds)}" if file.safe.kinds else ""


def _may_show(packing: Packing, path: str) -> bool:
    before = packing.before.files.get(path)
    return (
        path in packing.snapshot.entries
        and path not in packing.files
        and not (before is not None and before.whole)
        and path not in packing.without_room
        and (Kind.PROJECT_INSTRUCTIONS, path) not in packing.texts
    )
