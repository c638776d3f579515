"""Writes changed files as a patch that ``git apply`` takes, or as counts of lines.

Source of the format: "Generating patch text with -p" in git-diff(1), and for files that are not text the
section on binary patches in git's ``Documentation/gitformat-*`` and ``apply.c``.
"""

from __future__ import annotations

import hashlib
import zlib
from base64 import b85encode
from collections.abc import Iterator, Sequence

from edits.changed_files import ChangedFile
from edits.files.diff import changes
from edits.unified_diff import unified_hunks

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
