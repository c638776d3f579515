"""A file as an editor has it open, and why one cannot be opened or saved."""

from __future__ import annotations

from dataclasses import dataclass

from edits.files.merge import Merged
from edits.files.text import TextFile

__all__ = ["FileProblem", "Merged", "OpenFile"]


class FileProblem(Exception):
    """A file cannot be opened or saved; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file as it was read.

    ``text`` has ``\\n`` endings. ``version`` is the digest of its bytes, by which a change on disk is
    noticed. ``newline`` is the ending that new lines get.
    """

    path: str
    text: str
    version: str
    encoding: str
    newline: str
    read_only: bool
    source: TextFile
