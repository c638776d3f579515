"""The forms in which a file can be shown, fullest first: whole, in short with its changes, outlined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain

from context.code.outline import (
    NOT_SHOWN,
    Outline,
    changed_parts,
    definitions_called,
    exact_excerpt,
    excerpt,
)
from context.disk.changes import Change, Lines, changed_ranges, known_ranges
from context.disk.source import Source, Unread
from context.find.mentions import Mention
from context.index.file_text import FileText, file_text
from context.project.snapshot import Snapshot
from context.text.safe import fenced, harmless
from context.text.secrets import redact
from context.window.pieces import Kind
from context.window.seen import ShownFile

_SMALL = 6_000
"""Length in characters up to which a changed file is shown whole; about 1,500 tokens."""
_MOST_OF_WHOLE = 0.7
"""The largest share of the whole file's length at which a shorter form is used instead."""
_MOST_OF_REST = 0.95
"""The largest share of the whole file's length at which only what was not shown before is sent."""
_MOST_LISTED = 3
"""Number of parts of one file that a reason lists one by one."""


class Reason(Enum):
    """Why a file's text is wanted in a window."""

    NAMED = "named in the request"
    PINNED = "pinned"
    CHANGED = "changed"
    SHOWN_BEFORE = "changed since it was last shown"
    OPEN = "open in the editor"


@dataclass(frozen=True, slots=True)
class Form:
    """One form of a file: the exact text, and the reason for it in words."""

    text: str
    why: str
    whole: bool
    parts: frozenset[tuple[int, int]] = frozenset()
    """The line ranges that it shows, if these are not all."""
    roomy: bool = False
    """Whether a following form shows the same lines with fewer signatures."""


@dataclass(frozen=True, slots=True)
class FileView:
    """A file to show, in forms that are made lazily, fullest first.

    If it cannot be shown, ``problem`` says why and there are no forms.
    """

    kind: Kind
    forms: Iterator[Form] = field(default_factory=lambda: iter(()))
    digest: str = ""
    lines: Lines | None = None
    problem: str | None = None
    parts: frozenset[tuple[int, int]] = frozenset()
    """The line ranges that were asked for, if only these are shown, and those that are known from before."""
    completes: bool = False
    """Whether each form, together with what was shown before, gives the model the whole file."""


EXPLICIT = (Reason.NAMED, Reason.PINNED)
"""The reasons by which a file is tried again, even if it did not fit or was shown in part before."""


def file_view(
    path: str,
    wanted: Reason,
    snapshot: Snapshot,
    before: ShownFile | None,
    named: tuple[Mention, ...] = (),
) -> FileView | None:
    """The forms of ``path``, or None if the model has seen its current state already.

    ``named`` are the mentions of the file. If all of them mean parts of it, only these parts are shown.
    """
    change = snapshot.changes.get(path)
    kind = Kind.CHANGED if change is not None or wanted is Reason.SHOWN_BEFORE else Kind.MENTIONED
    source = snapshot.read(path)
    if isinstance(source, Unread):
        if source.gone:
            return _deleted(path, before)
        return FileView(kind, problem=source.why)
    file = file_text(source)
    parts, described = _named_parts(file, named)
    asked = frozenset((part.start, part.stop) for part in parts)
    same = before is not None and before.digest == source.digest
    if before is not None and same and _model_has(before, wanted, asked):
        return None
    sums = file.sums
    masked = f"; masked: {', '.join(file.safe.kinds)}" if file.safe.kinds else ""
    since = None if before is None or before.lines is None or same else changed_ranges(before.lines, sums)
    if parts:
        changed = since if since is not None else (change.ranges(sums) if change is not None else ())
        forms = iter([_parts_alone(file, [*changed, *parts], described, masked, wanted)])
    elif since is not None and before is not None and (before.whole or wanted not in EXPLICIT):
        forms = _since_shown(file, since, masked, wanted, known=before.whole)
    else:
        forms = _named(file, masked, wanted, _definitions(file, snapshot))
        if change is not None:
            definitions = _definitions(file, snapshot)
            forms = _changed(file, change, change.ranges(sums), masked, wanted, definitions)
        if same and before is not None and before.parts:
            forms = chain(_rest(file, masked, wanted, before.parts), forms)
    if same and wanted is Reason.PINNED and not parts:
        # It was shown in part before, so only the whole file adds anything.
        forms = (form for form in forms if form.whole)
    completes = before is not None and before.whole and since is not None
    known = _known_now(before, sums, same=same, told=bool(parts) or wanted not in EXPLICIT)
    return FileView(kind, forms, source.digest, sums, parts=asked | known, completes=completes)


def _known_now(
    before: ShownFile | None, sums: Lines, *, same: bool, told: bool
) -> frozenset[tuple[int, int]]:
    """The line ranges of a file that the model knows from ``before``. ``told`` says that each form shows what
    changed since."""
    if before is None or before.lines is None or not before.parts:
        return frozenset()
    if same:
        return before.parts
    return frozenset(known_ranges(before.lines, sums, before.parts)) if told else frozenset()


def _model_has(before: ShownFile, wanted: Reason, asked: frozenset[tuple[int, int]]) -> bool:
    """Whether the model, which saw this state of a file, has seen the wanted parts of it."""
    if before.whole or wanted not in EXPLICIT:
        return True
    return wanted is Reason.PINNED and bool(asked) and before.has_shown(asked)


def _deleted(path: str, before: ShownFile | None) -> FileView | None:
    if before is not None and before.lines is None:
        return None
    return FileView(Kind.CHANGED, iter([Form(f"## Deleted file: {path}\n", "deleted", whole=True)]))


def _since_shown(
    file: FileText, ranges: list[range], masked: str, wanted: Reason, *, known: bool
) -> Iterator[Form]:
    """The forms of what changed since the file was shown. ``known`` says that it was known whole."""
    note = "overrides what was shown of it before"
    why = f"{wanted.value}; changed" if wanted is Reason.PINNED else "changed"
    path = file.source.path
    whole = _whole(
        f"## Changed file: {path} (whole; {note})", file, f"{why} since it was shown; whole{masked}"
    )
    short = _excerpt(
        file,
        f"## Changed file: {path} (what changed since it was last shown; {note})",
        ranges,
        f"{why} since it was shown: {_parts(ranges)}{masked}",
        outline_too=False,
    )
    if len(short.text) > len(whole.text) * _MOST_OF_WHOLE:
        yield whole
    yield replace(short, whole=known)


def _changed(
    file: FileText,
    change: Change,
    ranges: list[range],
    masked: str,
    wanted: Reason,
    definitions: str,
) -> Iterator[Form]:
    path = file.source.path
    state = f"{change.status} from {change.renamed_from}" if change.renamed_from else str(change.status)
    why = state
    if wanted is Reason.NAMED:
        why = f"{state}; {wanted.value}"
    elif wanted is Reason.PINNED:
        why = f"{wanted.value}; {state}"
    whole = _whole(f"## Changed file: {path} ({state})", file, f"{why}; whole{masked}")
    at_once = wanted in EXPLICIT or change.base is None or len(file.source.text) <= _SMALL
    if at_once:
        yield whole
    if change.base is not None:
        heading = f"## Changed file: {path} ({state}; in short, the changed definitions whole)"
        told = f"{why}: {_parts(ranges)}, the changed definitions whole{masked}"
        short = _excerpt(file, heading, ranges, told, outline_too=True)
        if not at_once and len(short.text) > len(whole.text) * _MOST_OF_WHOLE:
            yield whole
        yield replace(short, roomy=True)
        yield _excerpt(file, heading, ranges, told, outline_too=False)
    heading = f"## Changed file: {path} ({state}; definitions only)"
    yield _form("", heading, definitions, f"{why}; definitions only{masked}")


def _rest(file: FileText, masked: str, wanted: Reason, known: frozenset[tuple[int, int]]) -> Iterator[Form]:
    """The form without the line ranges ``known`` to the model, if it is shorter than the whole file."""
    path = file.source.path
    rest = _form(
        path,
        f"## File: {path} (the parts that were not shown before)",
        _exactly(file, without(known, range(len(file.lines))), gap="shown before"),
        f"{wanted.value}; the parts that were not shown before{masked}",
    )
    if len(rest.text) <= _MOST_OF_REST * len(file.source.text):
        yield replace(rest, whole=True)


def _named(file: FileText, masked: str, wanted: Reason, definitions: str) -> Iterator[Form]:
    path = file.source.path
    yield _whole(f"## File: {path}", file, f"{wanted.value}; whole{masked}")
    heading = f"## File: {path} (definitions only)"
    yield _form("", heading, definitions, f"{wanted.value}; definitions only{masked}")


def without(known: Iterable[tuple[int, int]], lines: range) -> list[range]:
    """The ranges of some ``lines`` that are outside of the ``known`` ones."""
    rest: list[range] = []
    at = lines.start
    for start, stop in sorted(known):
        if at < start and at < lines.stop:
            rest.append(range(at, min(start, lines.stop)))
        at = max(at, stop)
    return [*rest, range(at, lines.stop)] if at < lines.stop else rest


def _named_parts(file: FileText, named: tuple[Mention, ...]) -> tuple[list[range], str]:
    """The line ranges that the mentions mean, and their description; none if one means the whole file."""
    if not named or any(mention.lines is None and mention.symbol is None for mention in named):
        return [], ""
    count = len(file.lines)
    parts: list[range] = []
    described: list[str] = []
    for mention in named:
        if mention.lines is not None and count:
            parts.append(range(min(mention.lines.start, count - 1), min(mention.lines.stop, count)))
            past = f" (it has {count})" if mention.lines.stop > count else ""
            described.append(f"lines {mention.lines.start + 1}-{mention.lines.stop}{past}")
        elif mention.symbol is not None:
            found = definitions_called(mention.symbol, file.outline)
            parts += [range(symbol.start, symbol.end) for symbol in found]
            described += [mention.symbol] if found else []
    more = f" and {len(described) - _MOST_LISTED:,} more" if len(described) > _MOST_LISTED else ""
    return sorted(parts, key=lambda part: part.start), f"{', '.join(described[:_MOST_LISTED])}{more}"


def _parts_alone(file: FileText, parts: list[range], described: str, masked: str, wanted: Reason) -> Form:
    named = "that are pinned" if wanted is Reason.PINNED else "that the request names"
    path = file.source.path
    return _excerpt(
        file,
        f"## File: {path} (in short: the parts {named})",
        sorted(parts, key=lambda part: part.start),
        f"{wanted.value}: {described}{masked}",
        outline_too=False,
    )


def whole_form(file: FileText, why: str) -> Form:
    """The form with the whole file."""
    return _whole(f"## File: {file.source.path}", file, why)


def parts_form(
    file: FileText, parts: list[range], why: str, *, signatures: bool = False, further: bool = False
) -> Form:
    """The form with some line ranges of a file, and all its signatures or those around the ranges.

    ``further`` says that others were shown."""
    path = file.source.path
    described = "in short, with" if signatures else "further parts of it, only" if further else "only"
    text = (
        exact_excerpt(file.safe_lines, file.outline.symbols, parts, signatures=True)
        if signatures
        else _exactly(file, parts)
    )
    return _form(path, f"## File: {path} ({described} the parts that seem to matter)", text, why)


def _exactly(file: FileText, parts: list[range], gap: str = NOT_SHOWN) -> str:
    """Some line ranges of a file, below the signatures around them."""
    around = file.definitions_around(sorted(part.start for part in parts))
    return exact_excerpt(file.safe_lines, around, parts, gap=gap)


def outline_of(source: Source) -> Outline:
    """The file's definitions with their line ranges."""
    return file_text(source).outline


def _definitions(file: FileText, snapshot: Snapshot) -> str:
    """The file's outline from the index, or a new one if the file has just changed."""
    entries, source = snapshot.entries, file.source
    if entries.digest(source.path) == source.digest:
        return entries.outline(source.path)
    return harmless(redact(file.outline.text).text)


def _whole(heading: str, file: FileText, why: str) -> Form:
    return Form(f"{heading}\n\n{fenced(file.source.path, file.safe.text)}", why, whole=True)


def _form(path: str, heading: str, text: str, why: str) -> Form:
    return Form(f"{heading}\n\n{fenced(path, text)}", why, whole=False)


def _excerpt(file: FileText, heading: str, ranges: list[range], why: str, *, outline_too: bool) -> Form:
    """The form with what ``ranges`` touch."""
    text = excerpt(file.safe_lines, file.outline, ranges, outline=outline_too)
    parts = changed_parts(file.outline, ranges, len(file.lines))
    shown = frozenset((part.start, part.stop) for part in parts if part)
    return replace(_form(file.source.path, heading, text, why), parts=shown)


def _parts(ranges: list[range]) -> str:
    return f"{len(ranges)} changed part{'' if len(ranges) == 1 else 's'}"
