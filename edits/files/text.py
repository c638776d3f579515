"""A file as text that can be edited without changing a byte outside the edit.

Lines and their endings are kept apart, so that matching never sees an ending and writing never
changes one. Decoding is strict: a file whose encoding is not certain is refused.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from edits.files import notebook
from edits.hunk import RefusalCode, RefusedBy

_ENDING = re.compile(r"(\r\n|\n|\r)")
# Control bytes that text does not contain (tab, line feed, form feed, return and escape are fine), and
# the C1 range, which Latin-1 does not use: it indicates another encoding.
_UNLIKELY_IN_LATIN_1 = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]|[\xa0-\xff]{3}")
_DECLARED = re.compile(
    rb"(?:^|[\r\n])(?:(?:[ \t\f]*#|<\?xml\b|[^\r\n]*?(?:-\*-|\bvim?:))[^\r\n]*?coding\s*[:=]\s*[\"']?"
    rb"|@charset\s+\")([-\w.]+)"
)
"""The encoding that a file names in its first two lines: PEP 263, XML, Vim and CSS say it in these forms."""
_FIRST_TWO_LINES = re.compile(rb"[^\r\n]{0,400}(?:\r\n|\n|\r|$)[^\r\n]{0,400}")
_ASCII = bytes(range(9, 14)) + bytes(range(32, 127))


_LARGEST_REMEMBERED = 1 << 20
_recent: tuple[tuple[bytes, str], ...] = ()


class FileError(Exception):
    """A file that cannot be read or written; ``code``, ``message`` and ``by`` make a refusal."""

    def __init__(self, code: RefusalCode, message: str, by: RefusedBy = RefusedBy.EDIT) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.by = by


@dataclass(frozen=True, slots=True)
class TextFile:
    """A decoded file: ``lines`` without endings, and each line's ending (``""`` for the last line only)."""

    text: str
    """The whole text with its endings, without the byte order mark."""
    lines: tuple[str, ...]
    endings: tuple[str, ...]
    encoding: str
    """``utf-8``, ``utf-16-le``, ``utf-16-be``, ``latin-1`` or what the file itself names."""
    bom: bytes
    sha256: str
    """Hex digest of the file's bytes; empty for a file that does not exist."""
    notebook: str = ""
    """The JSON of a notebook, of which ``text`` has the cells."""

    def encode(self, text: str) -> bytes:
        """The bytes of ``text`` in this file's encoding. Raises FileError for a character it lacks."""
        if self.notebook:
            try:
                text = notebook.written(self.notebook, text)
            except ValueError as error:
                raise FileError(RefusalCode.MALFORMED, str(error)) from error
        return encode(text, self.encoding, self.bom)

    @property
    def newline(self) -> str:
        """The ending of the file's first line, or ``""`` if there is none."""
        return self.endings[0] if self.endings else ""

    def offset(self, line: int) -> int:
        """The index in ``text`` of the first character of line ``line``, from 0."""
        endings = line if self.plain else sum(map(len, self.endings[:line]))
        # Joining several thousand lines is faster than adding up their lengths.
        return len("".join(self.lines[:line])) + endings

    @property
    def plain(self) -> bool:
        """Whether every line, except perhaps the last, ends in ``\\n``."""
        return "\r" not in self.text


def digest(data: bytes) -> str:
    """The hex SHA-256 by which the ledger identifies a content.

    A landing needs the digests of the same few contents repeatedly, and comparing is much faster than
    hashing, so the last ones are remembered.
    """
    global _recent
    for known, sha256 in _recent:
        if known == data:
            return sha256
    sha256 = hashlib.sha256(data).hexdigest()
    if len(data) <= _LARGEST_REMEMBERED:
        # One assignment: another thread sees the old tuple or the new one.
        _recent = ((data, sha256), *_recent[:3])
    return sha256


def split(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines of ``text`` and their endings: ``\\n``, ``\\r\\n`` and a lone ``\\r`` end a line."""
    if "\r" not in text:
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
            return tuple(lines), ("\n",) * len(lines)
        return tuple(lines), ("\n",) * (len(lines) - 1) + ("",)
    parts = _ENDING.split(text)
    if parts[-1] == "":
        parts.pop()
    else:
        parts.append("")
    return tuple(parts[0::2]), tuple(parts[1::2])


def whole_lines(text: str) -> list[str]:
    """The lines of ``text``, each with its ending."""
    lines, endings = split(text)
    return [line + ending for line, ending in zip(lines, endings, strict=True)]


def decode(data: bytes, name: str) -> TextFile:
    """Decode a file's bytes. Raises FileError (``binary``), with ``name`` in its message, if unsure."""
    text, encoding, bom = _decoded(data, name)
    raw = ""
    if notebook.is_notebook(name) and (cells := notebook.shown(text or notebook.NEW)) is not None:
        raw, text = text or notebook.NEW, cells
    lines, endings = split(text)
    return TextFile(text, lines, endings, encoding, bom, digest(data), raw)


def encode(text: str, encoding: str, bom: bytes) -> bytes:
    """The bytes of ``text``. Raises FileError for a character that the encoding lacks."""
    try:
        return bom + text.encode(encoding)
    except UnicodeEncodeError as error:
        character = ord(error.object[error.start])
        code = RefusalCode.MALFORMED if 0xD800 <= character < 0xE000 else RefusalCode.IO
        message = f"the new text contains U+{character:04X}, which the file's encoding ({encoding}) lacks"
        raise FileError(code, message) from error


def _with_zeros(data: bytes) -> str:
    """What a file with zero bytes is: binary, or UTF-16 without its mark, where every second byte is zero."""
    for at, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = data[at::2], data[1 - at :: 2]
        if len(data) % 2 == 0 and 10 * zeros.count(0) > 9 * len(zeros) and 0 not in others:
            return f"{encoding} without a byte order mark, which is not certain: save it as UTF-8"
    return "binary"


def _decoded(data: bytes, name: str) -> tuple[str, str, bytes]:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise FileError(RefusalCode.BINARY, f"{name} is UTF-32, which is not supported")
    for mark, encoding in (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ):
        if data.startswith(mark):
            try:
                text = data[len(mark) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise FileError(
                    RefusalCode.BINARY, f"{name} is not valid {encoding}: {error.reason}"
                ) from error
            if "\0" in text:
                raise FileError(RefusalCode.BINARY, f"{name} is binary")
            return text, encoding, mark
    if b"\0" in data:
        raise FileError(RefusalCode.BINARY, f"{name} is {_with_zeros(data)}")
    declared = _declared(data)
    if declared and (data.isascii() or not _is_utf_8(data)):
        return data.decode(declared), declared, b""
    try:
        return data.decode("utf-8"), "utf-8", b""
    except UnicodeDecodeError as error:
        if _UNLIKELY_IN_LATIN_1.search(data):
            raise FileError(
                RefusalCode.BINARY,
                f"{name} is not UTF-8 (byte {error.start}), and its encoding is not certain: save it as"
                " UTF-8, or name its encoding in a comment of its first two lines (coding: NAME)",
            ) from error
        return data.decode("latin-1"), "latin-1", b""


def _declared(data: bytes) -> str:
    """The encoding that a file names, if it has the letters of ASCII and gives the same bytes back; else
    empty."""
    said = _DECLARED.search(first.group() if (first := _FIRST_TWO_LINES.match(data)) else b"")
    name = said[1].decode("ascii", "replace") if said else ""
    try:
        encoding = codecs.lookup(name).name
        same = data.decode(encoding).encode(encoding) == data and _ASCII.decode(encoding).encode() == _ASCII
    except (LookupError, ValueError, UnicodeError):
        return ""
    return encoding if same else ""


def _is_utf_8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def joined(lines: Sequence[str], endings: Sequence[str]) -> str:
    """The text of ``lines`` with their ``endings``."""
    return "".join([line + ending for line, ending in zip(lines, endings, strict=True)])
