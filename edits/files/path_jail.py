"""The files that edits may touch: those inside the project, links followed, and never git's own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from edits.files.text import FileError
from edits.hunk import RefusalCode


@dataclass(frozen=True, slots=True)
class Target:
    """A file that an edit names."""

    path: str
    """Relative to the root, for messages: links are followed, but for one that is the last part."""
    name: str
    """Relative to the root, with all links followed: what a :class:`~edits.files.tree.Tree` takes."""
    linked: bool
    """Whether the last part of the path is itself a symbolic link."""
    typed: str
    """Relative to the root, with no link followed."""


def resolve(root: Path, path: str) -> Target:
    """The file that ``path`` names. Raises FileError (``outside_project``, ``malformed``).

    ``root`` must have no links in it. Absolute paths inside the root, ``./`` and backslashes are
    understood; a path that leaves the root, directly or through a link, is refused, as is ``.git``.
    """
    if not path.strip() or "\0" in path or any(ord(character) < 32 for character in path):
        raise FileError(RefusalCode.MALFORMED, f"{path!r} is not a file name")
    given = path
    if "\\" in path and not (root / path).exists():
        path = path.replace("\\", "/")
    if path.endswith("/"):
        raise FileError(RefusalCode.MALFORMED, f"{given} names a folder, not a file")
    try:
        joined = root / path
        folder = Path(os.path.realpath(joined.parent))
        named = folder / joined.name
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        raise FileError(RefusalCode.MALFORMED, f"{given!r} is not a usable path: {error}") from error
    linked = joined.name not in ("", ".", "..") and named.is_symlink()
    real = Path(os.path.realpath(named)) if linked else named
    if joined.name in ("", ".", "..") or real == root:
        raise FileError(RefusalCode.MALFORMED, f"{given} names a folder, not a file")
    for place in (named, real):
        if not place.is_relative_to(root):
            raise FileError(RefusalCode.OUTSIDE_PROJECT, f"{given} is outside the project")
        if any(part.casefold() == ".git" for part in place.relative_to(root).parts):
            raise FileError(RefusalCode.OUTSIDE_PROJECT, f"{given} belongs to git, which edits leave alone")
    typed = Path(os.path.normpath(joined))
    return Target(
        path=named.relative_to(root).as_posix(),
        name=real.relative_to(root).as_posix(),
        linked=linked,
        typed=(typed if typed.is_relative_to(root) else named).relative_to(root).as_posix(),
    )
