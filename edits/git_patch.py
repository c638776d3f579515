"""Writes changed files as a patch that ``git apply`` takes, or as counts of lines.

Source of the format: "Generating patch text with -p" in git-diff(1), and for files that are not text the
section on binary patches in git's ``Documentation/gitformat-*`` and ``apply.c``.

Writes what changed between two texts as the hunks of a unified diff.

Source of the format: the unified format of GNU diff ("Detailed Description of Unified Format").

The files that a choice of hunks changed: their content before the first of them, and after all of them.

Only what the chosen hunks did is in it. What the user or other hunks wrote in between is merged out; where
that cannot be done, the file is marked inexact.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b85encode
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from edits.files.diff import Change, changes
from edits.files.merge import merge3
from edits.files.text import FileError
from edits.ledger.entry import Entry, Op

Contents = Callable[[str], bytes]
"""Gives the content with a digest. Raises FileError where it is lost."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file before and after: its path, and its bytes, None where there was or is no file."""

    old_path: str
    path: str
    before: bytes | None
    after: bytes | None
    mode: int | None = None
    """The permission bits of a file that was deleted."""
    inexact: bool = False
    """Whether changes by others are in it."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed files in the order of their paths, and the paths whose contents the ledger has lost."""

    files: tuple[ChangedFile, ...]
    lost: tuple[str, ...] = ()


def changed_files(entries: Sequence[Entry], chosen: Collection[str], contents: Contents) -> Changes:
    """What the hunks ``chosen`` changed, those that are undone now left out. ``entries`` are all changes in
    the ledger, the oldest first."""
    last = {entry.hunk: entry for entry in entries if entry.hunk in chosen}
    made = {entry.seq for entry in last.values() if entry.op is not Op.UNDO}
    files: dict[str, ChangedFile] = {}
    lost: set[str] = set()
    for entry in entries:
        if entry.hunk not in chosen or (entry.op is not Op.LAND and entry.seq not in made):
            continue
        try:
            before = _content(entry.before, contents)
            file = files.get(entry.path) or ChangedFile(entry.path, entry.path, before, before)
            if entry.seq in made:
                after = _content(entry.after, contents)
                file = _changed(file, before, after, entry)
        except FileError:
            lost.add(entry.path)
            continue
        files.pop(entry.path, None)
        files[file.path] = file
    changed = [file for file in files.values() if file.path not in lost and _differs(file)]
    return Changes(tuple(sorted(changed, key=lambda file: file.path)), tuple(sorted(lost)))


def _differs(file: ChangedFile) -> bool:
    return file.before != file.after or (file.old_path != file.path and file.after is not None)


def _content(digest: str | None, contents: Contents) -> bytes | None:
    return None if digest is None else contents(digest)


def _changed(file: ChangedFile, before: bytes | None, after: bytes | None, entry: Entry) -> ChangedFile:
    """``file`` with one more change made, which turned ``before`` into ``after`` at its time."""
    path = entry.place if after is not None else file.path
    mode = entry.mode if entry.mode is not None else file.mode
    if file.after == before or file.after is None or before is None or after is None:
        return replace(file, path=path, after=after, mode=mode)
    # Every byte is a character of Latin-1, so any content can be merged by lines.
    merged = merge3(*(each.decode("latin-1") for each in (before, file.after, after)))
    if merged.conflicts:
        return replace(file, path=path, after=after, mode=mode, inexact=True)
    return replace(file, path=path, after=merged.text.encode("latin-1"), mode=mode)


def unified_hunks(old: Sequence[str], new: Sequence[str], *, context: int) -> Iterator[str]:
    """The lines of the hunks that turn ``old`` into ``new``, without line ends and without file names.

    Each change is shown with ``context`` lines before and after it; changes whose context would touch
    share a hunk. Nothing is given where the two are equal.
    """
    for group in _groups(changes(old, new), context):
        before = min(context, group[0].start)
        after = min(context, len(old) - group[-1].end)
        start, end = group[0].start - before, group[-1].end + after
        new_start, new_end = group[0].new_start - before, group[-1].new_end + after
        yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@"
        at = start
        for change in group:
            yield from (f" {line}" for line in old[at : change.start])
            yield from (f"-{line}" for line in old[change.start : change.end])
            yield from (f"+{line}" for line in new[change.new_start : change.new_end])
            at = change.end
        yield from (f" {line}" for line in old[at:end])


def _groups(found: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """The changes that share a hunk, in order."""
    group: list[Change] = []
    for change in found:
        if group and change.start - group[-1].end > 2 * context:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _range(start: int, end: int) -> str:
    """The lines ``start`` to ``end`` (from 0, end exclusive) in the notation of a hunk's head."""
    length = end - start
    if length == 1:
        return str(start + 1)
    # An empty range names the line before it.
    return f"{start if length == 0 else start + 1},{length}"


CONTEXT = 3
"""Lines around each change."""
_NO_NEWLINE = "\n\\ No newline at end of file"
_BINARY_LINE = 52
_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}


def git_patch(files: Sequence[ChangedFile]) -> bytes:
    """The patch of all ``files``; empty without any."""
    return b"".join(line + b"\n" for file in files for line in _lines_of(file))


def counts(file: ChangedFile) -> tuple[int, int] | None:
    """The lines that came and went; None for a file that is not text."""
    if _is_binary(file):
        return None
    found = changes(_lines(file.before), _lines(file.after))
    return sum(each.new_end - each.new_start for each in found), sum(each.end - each.start for each in found)


def _lines_of(file: ChangedFile) -> Iterator[bytes]:
    old, new = quoted("a/", file.old_path), quoted("b/", file.path)
    yield f"diff --git {old} {new}".encode()
    mode = "100755" if file.mode is not None and file.mode & 0o111 else "100644"
    if file.before is None:
        yield f"new file mode {mode}".encode()
    elif file.after is None:
        yield f"deleted file mode {mode}".encode()
    elif file.old_path != file.path:
        yield f"rename from {quoted('', file.old_path)}".encode()
        yield f"rename to {quoted('', file.path)}".encode()
    if file.before == file.after:
        return
    binary = _is_binary(file)
    if binary or not (file.before and file.after):
        yield f"index {_blob(file.before)}..{_blob(file.after)}".encode()
    if binary:
        yield b"GIT binary patch"
        yield from _literal(file.after)
        yield from _literal(file.before)
        return
    before, after = _lines(file.before), _lines(file.after)
    hunks = list(unified_hunks(before, after, context=CONTEXT))
    if hunks:
        yield b"--- " + (b"/dev/null" if file.before is None else _headed(old))
        yield b"+++ " + (b"/dev/null" if file.after is None else _headed(new))
        yield from (line.encode("latin-1") for line in hunks)


def _headed(name: str) -> bytes:
    """A name in a head; a tab ends one with a blank in it."""
    return name.encode() + (b"\t" if " " in name and not name.startswith('"') else b"")


def quoted(prefix: str, path: str) -> str:
    """A path as git writes it: in quotes where it has a quote, a backslash or control characters."""
    data = (prefix + path).encode("utf-8", "surrogateescape")
    if all(byte >= 32 and byte not in (34, 92, 127) for byte in data) and _is_utf8(data):
        return prefix + path
    return '"' + "".join(map(_escaped, data)) + '"'


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _escaped(byte: int) -> str:
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _is_binary(file: ChangedFile) -> bool:
    return any(b"\0" in content for content in (file.before, file.after) if content)


def _lines(content: bytes | None) -> list[str]:
    """The lines between ``\\n``, byte for byte as Latin-1; the last says when it has no end."""
    if not content:
        return []
    lines = content.decode("latin-1").split("\n")
    if lines[-1]:
        lines[-1] += _NO_NEWLINE
    else:
        lines.pop()
    return lines


def _blob(content: bytes | None) -> str:
    if content is None:
        return "0" * 40
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _literal(content: bytes | None) -> Iterator[bytes]:
    data = content or b""
    packed = zlib.compress(data)
    yield b"literal %d" % len(data)
    for at in range(0, len(packed), _BINARY_LINE):
        piece = packed[at : at + _BINARY_LINE]
        size = len(piece)
        length = chr(size + 64) if size <= 26 else chr(size + 70)
        # Padded to whole groups of four bytes, as git does.
        yield length.encode() + b85encode(piece + b"\0" * (-size % 4))
    yield b""
