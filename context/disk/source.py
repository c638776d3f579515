"""Reads a project's files as text: never outside the project, never a device, never binary.

Old notes are read in their encodings: UTF-16 without a mark, UTF-32, the single bytes of the West.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from context.code.notebook import LARGEST_NOTEBOOK, cells_text, is_notebook
from context.text.lines import split_lines

_MARKED = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UNLIKELY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d]|[\xa0-\xff]{3}")
"""Bytes that Windows-1252 does not have in text, and letters with accents in a row, as no Western word has
them: another encoding looks so."""
_SAMPLE = 8_192


def text_in_old_encoding(data: bytes) -> str | None:
    """The text of ``data``, which is not UTF-8, where its bytes say what encoding it is in; else None.

    ISO-8859-1 is read as Windows-1252, which has the same letters.
    """
    encoding = next((name for mark, name in _MARKED if data.startswith(mark)), None) or _unmarked(data)
    if encoding is None:
        return None
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _unmarked(data: bytes) -> str | None:
    if b"\0" not in data:
        return None if _UNLIKELY.search(data) else "cp1252"
    # In UTF-16 most characters of a Western text have a zero as one of their two bytes, always the same one.
    some = data[:_SAMPLE]
    high, low = some[1::2].count(0), some[::2].count(0)
    if len(data) % 2 or max(high, low) < len(some) // 4:
        return None
    return "utf-16-le" if not low else "utf-16-be" if not high else None


INSTRUCTIONS_FILE = "AGENTS.md"
OTHER_INSTRUCTIONS = ("CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md", ".cursorrules")
"""What other programs read in its place: the first of them that there is counts where it is not."""
INSTRUCTION_FILES = (INSTRUCTIONS_FILE, *OTHER_INSTRUCTIONS)
RULES_FOLDER = ".cursor/rules"
"""The folder of rules that count where none of these files is there."""


def is_instructions(path: str) -> bool:
    """Whether a file of this path may instruct the model, once the user agrees."""
    named = path.rpartition("/")[2]
    return (
        named in INSTRUCTION_FILES
        or path in OTHER_INSTRUCTIONS
        or (path.startswith(f"{RULES_FOLDER}/") and path.endswith(".mdc"))
    )


"""The file in which a project instructs models."""
LARGEST = 1_000_000
"""Size in bytes above which files are not read, outlined or shown."""

_LEAST = 64_000
"""Number of bytes that are read at once at least, since some files report a size of 0 and have content."""

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# With O_PATH a folder that can be searched but not listed can be passed through.
_ROOT = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER = _ROOT | os.O_NOFOLLOW

_DECLARED = re.compile(
    rb"(?:^|[\r\n])(?:(?:[ \t\f]*#|<\?xml\b|[^\r\n]*?(?:-\*-|\bvim?:))[^\r\n]*?coding\s*[:=]\s*[\"']?"
    rb"|@charset\s+\")([-\w.]+)"
)
"""The encoding that a file names in its first two lines: PEP 263, XML, Vim and CSS say it in these forms."""
_FIRST_TWO_LINES = re.compile(rb"[^\r\n]{0,400}(?:\r\n|\n|\r|$)[^\r\n]{0,400}")

_NO_NAMES = frozenset({"", ".", ".."})
LINK = "a symbolic link"
"""The reason why a link gives no text."""


def instructions_of(folder: str, has: Callable[[str], bool]) -> str:
    """The file of instructions that counts in ``folder`` (empty for the project's), of those that it ``has``:
    AGENTS.md, else the first of the others; empty where there is none."""
    names = (f"{folder}/{name}".lstrip("/") for name in INSTRUCTION_FILES)
    return next(filter(has, names), "")


@dataclass(frozen=True, slots=True)
class Source:
    """A file's text when it was read, with ``\\n`` line ends and without a byte order mark.

    ``digest`` is the SHA-256 of the bytes on disk, in hex.
    """

    path: str
    text: str
    digest: str

    @property
    def lines(self) -> list[str]:
        """The lines, without their ends."""
        return split_lines(self.text)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that gives no text, and why, in words for the user. ``gone`` says that it does not exist."""

    path: str
    why: str
    gone: bool = False


def is_inside(path: str) -> bool:
    """Whether ``path``, which git told, lies below the project's folder, and not in the repository's own.

    Git writes no other paths into its index and its trees, but reads them without a question.
    """
    return not any(part in _NO_NAMES or part.lower() == ".git" for part in path.split("/"))


NESTED = "a folder with a repository of its own"
"""Why a submodule, or another repository in the project, is not read but where one of its files is named."""


def read(root: Path, path: str) -> Source | Unread:
    """The text of ``path`` (relative to ``root``), or why there is none. Never raises OSError.

    Links are not followed, nor folders that have become links: their target is either in the project under
    its own name, or outside of it. The file is opened without waiting, so that a named pipe cannot hang.
    """
    try:
        handle = _opened(root, path)
    except OSError as problem:
        return _unopened(path, problem)
    try:
        about = os.fstat(handle)
        if stat.S_ISDIR(about.st_mode):
            return Unread(path, NESTED)
        if not stat.S_ISREG(about.st_mode):
            return Unread(path, "not a regular file")
        if about.st_size > largest(path):
            return Unread(path, too_large(about.st_size, path))
        data = _bytes(handle, about.st_size, largest(path))
    except OSError as problem:
        return _unopened(path, problem)
    finally:
        os.close(handle)
    if len(data) > largest(path):
        return Unread(path, too_large(len(data), path))
    return decode(path, data)


def _opened(root: Path, path: str) -> int:
    """A descriptor of the file. Each folder on the way is opened from the one above it."""
    *folders, name = parts = path.split("/")
    if any(part in _NO_NAMES for part in parts):
        raise OSError(errno.EINVAL, "not a path in the project")
    above = None
    try:
        for folder in [str(root), *folders] if folders else ():
            inner = os.open(folder, _ROOT if above is None else _FOLDER, dir_fd=above)
            if above is not None:
                os.close(above)
            above = inner
        return os.open(name if folders else f"{root}/{name}", _FILE, dir_fd=above)
    finally:
        if above is not None:
            os.close(above)


def _bytes(handle: int, expected: int, most: int) -> bytes:
    """Reads the file, but little more than ``most`` bytes."""
    pieces = []
    left = most + 1
    while left:
        wanted = min(left, max(expected, _LEAST) + 1)
        piece = os.read(handle, wanted)
        pieces.append(piece)
        left -= len(piece)
        if len(piece) < wanted:
            break
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def decode(path: str, data: bytes) -> Source | Unread:
    """``data`` as the text of ``path``: UTF-8, UTF-16 with a byte order mark, or what the file itself names.
    Instructions, which are only read, may be in any encoding that their bytes give. Of a notebook, the text
    has the cells."""
    try:
        text = _decoded(data)
    except ValueError as problem:
        old = text_in_old_encoding(data) if is_instructions(path) else None
        if old is None:
            return Unread(path, str(problem))
        text = old
    # Looking for one character is many times faster than replacing none.
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    if is_notebook(path):
        text = cells_text(text) or text
        if len(text) > LARGEST:
            return Unread(path, too_large(len(text)))
    return Source(path, text, hashlib.sha256(data).hexdigest())


def _decoded(data: bytes) -> str:
    """Raises ValueError, which says why ``data`` is no text."""
    if data.startswith(codecs.BOM_UTF32_LE):  # it begins with the mark of UTF-16
        raise ValueError("UTF-32 text")
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif b"\0" in data[:8192]:
        raise ValueError("a binary file")
    else:
        encoding = "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return _in_named_encoding(data)


def _in_named_encoding(data: bytes) -> str:
    """``data`` in the encoding that it names itself. Raises ValueError if it names none that fits."""
    said = _DECLARED.search(first.group() if (first := _FIRST_TWO_LINES.match(data)) else b"")
    if said is not None:
        with contextlib.suppress(LookupError, ValueError):
            name = said[1].decode("ascii")
            if said[1].decode(name) == name:
                return data.decode(name)
    raise ValueError("not UTF-8 text")


def largest(path: str) -> int:
    """The size in bytes above which a file is not read."""
    return LARGEST_NOTEBOOK if is_notebook(path) else LARGEST


def too_large(size: int, path: str = "") -> str:
    """The reason why a file of ``size`` bytes is left out."""
    return f"too large ({size / 1e6:.1f} MB; files over {largest(path) // 1_000_000} MB are not read)"


def name_problem(path: str) -> str | None:
    """Why a file of this name cannot be shown to a model, or None: the model could not name it back."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    if not path.isprintable():
        return "its name holds control characters"
    return "its name holds a code fence" if "````" in path else None


def shown_name(path: str) -> str:
    """``path`` as printable text, whatever bytes the name has."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def _unopened(path: str, problem: OSError) -> Unread:
    if problem.errno in (errno.ENOENT, errno.ENOTDIR):
        return Unread(path, "it vanished while it was read", gone=True)
    if problem.errno == errno.ELOOP:
        return Unread(path, LINK)
    if problem.errno in (errno.EACCES, errno.EPERM):
        return Unread(path, "permission denied")
    return Unread(path, f"cannot be read: {problem.strerror or problem}")
