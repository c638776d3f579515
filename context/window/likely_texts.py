"""Shows the parts of files that nobody named and that seem to matter for the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice

from context.code.outline import changed_parts, definitions_called
from context.disk.source import Unread
from context.find.mentions import Mention
from context.find.named_definitions import named_definitions
from context.find.order import Ranking, settings
from context.index.file_text import FileText, file_text
from context.window.file_views import Reason, parts_form, whole_form, without
from context.window.likely_parts import FIRST, Part, contest, first_parts, shortlist
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
SIGNATURES_SHARE = 0.15
"""The largest share of a file's room that all its signatures may take, with what is shown of it where it
changed: the map has them too."""
_RECENT = 2.0
"""Score of a file that the conversation has been about, relative to the best of the others."""
_RECENT_REASON = "this conversation has been about it"
_HELD = 1.0
"""The same of a file that is shown in part since it changed, is open or is named."""
_HELD_REASON = "other parts of it are shown"
_NAMED_SHARE = 0.5
"""The largest share of the room that definitions which the request names take before other parts."""
_OTHER_SUBJECT = 0.6
"""The share of what matches a request, from which that the model does not know makes it another subject."""
_SUBJECT_SHARE, _MOST_OF_SUBJECT = 0.5, 16_000
"""The share of a budget, and the tokens, up to which what matches best is what a request is about."""
_FEWEST_FILES = 24
_MOST_TEXT = 2_400_000
"""Number of characters above which no further files take part, unless they are fewer than 24."""
_TOKENS_PER_FILE = 250
"""One file for each 250 tokens of room takes part with its passages, and 24 at least."""
_MOST_FAILURES = 40
"""Number of parts that did not fit, after which no more are tried."""


def show_likely(
    packing: Packing, ranking: Ranking, room: int, earned: int, *, first: bool, fills: bool
) -> None:
    """Add the best parts in at most ``room`` tokens, the last ``earned`` of which only parts fill that are
    surely about the request.

    In a following turn, these are only parts that were not shown before and that match the words of the
    request well, in more room where the model knows little of what matches. ``fills`` says to fill the room,
    by parts without these words once the others are shown.
    """
    likely = _likely(packing, ranking, known_too=not first)
    named = named_definitions(packing.request.text, packing.snapshot, likely)
    surest = max(likely.values(), default=1.0)
    likely |= {mention.path: surest for mention in named if _may_show(packing, mention.path)}
    files: dict[str, FileText] = {}
    if room >= _MIN_TOKENS:
        files = _read(packing, likely)
        most = max(_FEWEST_FILES, room // _TOKENS_PER_FILE)
        wanted = {**ranking.held, **ranking.wanted}
        taking_part = shortlist(files, likely, wanted, ranking, packing.snapshot, most)
        parts = contest(taking_part, likely, wanted, ranking, packing.snapshot, every=fills)
        if not first:
            parts = [part for part in parts if part.sure]
            room = _later_room(packing, files, parts, room)
        parts = _unknown(packing, files, [*_named_parts(files, named, room), *parts])
        lengths = {
            path: len(file.source.text) for path, file in files.items() if _may_be_whole(packing, path)
        }
        chosen = _choose(parts, lengths, room * _CHARACTERS_PER_TOKEN, earned * _CHARACTERS_PER_TOKEN)
        if fills:
            # The estimate is too low for some languages, and part of the room would stay empty.
            by_token = _measured(packing, files, chosen)
            chosen = _choose(parts, lengths, int(room * by_token), int(earned * by_token))
        for path, best in chosen.items():
            said = f"likely to matter: {_reason(packing, ranking, path)}"
            room -= _show(packing, files[path], best, said, room)
    told = {left.path for left in packing.left_out}
    for path in likely if first else ():
        if path not in packing.files and path not in told:
            why = f"beyond the share of files that nobody named: {_reason(packing, ranking, path)}"
            packing.left_out.append(LeftOut(path, 0, why))


def _later_room(packing: Packing, files: Mapping[str, FileText], matching: list[Part], room: int) -> int:
    """The tokens that likely parts may take in a following turn: more than ``room`` where the best of what
    matches is mostly new to the model, since the request is about another subject then."""
    best: list[Part] = []
    most = min(_MOST_OF_SUBJECT, int(packing.request.budget * _SUBJECT_SHARE))
    left = most * _CHARACTERS_PER_TOKEN
    for part in matching:
        left -= part.size
        if left < 0:
            break
        best.append(part)
    size, unknown = (sum(part.size for part in parts) for parts in (best, _unknown(packing, files, best)))
    if unknown < _OTHER_SUBJECT * size:
        return room
    wanted = unknown // _CHARACTERS_PER_TOKEN
    room = min(packing.room, max(room, min(packing.request.subject_limit or 0, wanted)))
    packing.unmet = max(0, wanted - room)
    return room


def _named_parts(files: Mapping[str, FileText], named: Iterable[Mention], room: int) -> list[Part]:
    """The definitions that the request names, as parts that come before all others, in their share of the
    ``room``: each whole, unless it is too long."""
    found: list[Part] = []
    left = int(room * _CHARACTERS_PER_TOKEN * _NAMED_SHARE)
    for mention in named:
        file = files.get(mention.path)
        if file is None or mention.symbol is None:
            continue
        called = definitions_called(mention.symbol, file.outline)
        for part in first_parts(file, (range(each.start, each.end) for each in called)):
            if part.size <= left:
                left -= part.size
                found.append(part)
    return found


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


def _likely(packing: Packing, ranking: Ranking, *, known_too: bool) -> dict[str, float]:
    """The files that may be shown in part, with their scores, and with ``known_too`` those that the model
    knows whole: by them, a request about another subject is told from one about the same."""
    rules = settings()["related"]
    # A small model knows no other files than those that it is shown: of a small project, all of them.
    fills = packing.request.likeliest_last and packing.request.fills_up
    least = 0.0 if fills else rules["least"]
    best = max(ranking.scores.values(), default=0.0) or 1.0
    shown = (*packing.files, *packing.snapshot.changes) if known_too else tuple(packing.files)

    def takes_part(path: str) -> bool:
        return _may_show(packing, path) or (known_too and _is_known(packing, path))

    likely = {path: best * _RECENT for path in packing.request.recent if takes_part(path)}
    for path in shown:
        score = ranking.scores.get(path, 0.0) if packing.wants_parts(path) else best * _HELD
        if score >= rules["least"] and takes_part(path):
            likely.setdefault(path, score)
    may_be = (
        path for path in ranking.order.top if ranking.scores.get(path, 0.0) >= least and takes_part(path)
    )
    for path in islice(may_be, rules["most"]):
        likely.setdefault(path, ranking.scores.get(path, 0.0))
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
            if _may_show(packing, path):
                packing.left_out.append(LeftOut(path, 0, source.why))
        else:
            layout = packing.snapshot.entries.layout(path, source.digest)
            files[path] = file_text(source, layout)
            size += len(source.text)
    return files


def _reason(packing: Packing, ranking: Ranking, path: str) -> str:
    if path in packing.request.recent:
        return _RECENT_REASON
    return ranking.reasons.get(path, _HELD_REASON)


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


def show_in_short(
    packing: Packing, ranking: Ranking, file: FileText, reason: Reason, changed: list[range], room: int
) -> int:
    """Add the best parts of a wanted file that is too long, those around ``changed`` lines first, in at most
    ``room`` tokens, and return these."""
    path = file.source.path
    outline = len(file.outline.text)
    left = room * _CHARACTERS_PER_TOKEN
    signatures = outline <= SIGNATURES_SHARE * left
    found = contest({path: file}, {path: 1.0}, ranking.wanted, ranking, packing.snapshot)
    touched = first_parts(file, changed_parts(file.outline, changed, len(file.lines)))
    parts = _unknown(packing, {path: file}, [*touched, *found])
    chosen = _choose(parts, {}, left - outline if signatures else left).get(path, [])
    said = f"{reason.value}, but too long to be shown whole"
    return _show(packing, file, chosen, said, room, signatures=signatures, likely=False)


def _unknown(packing: Packing, files: Mapping[str, FileText], parts: Iterable[Part]) -> list[Part]:
    """What the model was not shown of ``parts``. Those that come before all others may overlap the others."""
    known: dict[str, set[tuple[int, int]]] = {}
    rest: list[Part] = []
    for part in parts:
        file = files[part.path]
        held = known.get(part.path)
        if held is None:
            held = known[part.path] = set(_known_parts(packing, file))
        if held:
            for lines in without(held, part.lines):
                size = file.starts[lines.stop] - file.starts[lines.start]
                rest.append(part._replace(start=lines.start, stop=lines.stop, size=size))
        else:
            rest.append(part)
        if part.negated == FIRST:
            held.add((part.start, part.stop))
    return rest


def _known_parts(packing: Packing, file: FileText) -> frozenset[tuple[int, int]]:
    """The line ranges of a file's current state that the model was shown."""
    path = file.source.path
    shown = packing.files.get(path) or packing.before.files.get(path)
    if shown is None or shown.digest != file.source.digest:
        return frozenset()
    return frozenset({(0, len(file.lines))}) if shown.whole else shown.parts


def _show(
    packing: Packing,
    file: FileText,
    parts: list[Part],
    said: str,
    room: int,
    *,
    signatures: bool = False,
    likely: bool = True,
) -> int:
    """Add the parts of one file, without the worst ones if not all fit, and return their tokens."""
    source = file.source
    known = _known_parts(packing, file)
    further = source.path in packing.files
    may_be_whole = likely and _may_be_whole(packing, source.path)
    masked = f"; masked: {', '.join(file.safe.kinds)}" if file.safe.kinds else ""
    why = f"{said}; the parts that match best{masked}"
    if packing.request.whole_files and may_be_whole:
        form = whole_form(file, f"{said}; whole{masked}")
        tokens = packing.counter.count_kept(form.text)
        if not parts or tokens > room:
            return 0
        packing.add(Kind.MENTIONED, source.path, form.text, tokens, form.why)
        packing.files[source.path] = ShownFile(source.digest, file.sums, True)
        return tokens
    while parts:
        ranges = sorted((part.lines for part in parts), key=lambda lines: lines.start)
        size = sum(part.size for part in parts)
        whole = may_be_whole and size >= _WHOLE * len(source.text)
        if whole:
            form = whole_form(file, f"{said}; whole{masked}")
        else:
            form = parts_form(file, ranges, why, signatures=signatures, further=further)
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
    return path not in packing.before.files and path not in packing.files


def _is_known(packing: Packing, path: str) -> bool:
    """Whether the model knows all of a file's current state."""
    shown = packing.files.get(path) or packing.before.files.get(path)
    return shown is not None and shown.whole and shown.digest == packing.snapshot.entries.digest(path)


def _may_show(packing: Packing, path: str) -> bool:
    """Whether parts of a file may be new to the model. What changed since it was shown comes before them."""
    before, shown = packing.before.files.get(path), packing.files.get(path)
    if shown is None and before is not None and before.digest != packing.snapshot.entries.digest(path):
        return False
    known = shown or before
    return (
        path in packing.snapshot.entries
        and not (known is not None and (known.whole or known.lines is None))
        and path not in packing.without_room
        and (Kind.PROJECT_INSTRUCTIONS, path) not in packing.texts
    )
