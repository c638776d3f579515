"""Files that no edit of a model may touch, whatever the project is and whatever the user agrees to.

They are spark's own files, git's, and those that let somebody into the user's accounts. The user's own
edits in the editor pane are not limited by this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from edits.files.aliases import Aliases, HardLinks
from edits.files.path_jail import spelling
from edits.guards.risky_files import home_files, refused, refused_at_home

_Identity = tuple[int, int]
_KEY_FOLDERS = (".ssh", ".gnupg", ".aws", ".kube", ".config/gcloud", ".config/gh")


class OffLimits:
    """``own`` are spark's own folders, ``home`` is the user's home folder.

    One thread at a time may call it.
    """

    def __init__(self, own: Iterable[Path] = (), home: Path | None = None) -> None:
        self._own = tuple(own)
        self._home = home
        folders = (*self._own, *(home / name for name in _KEY_FOLDERS)) if home is not None else self._own
        self._links = tuple(map(HardLinks, folders))

    def reason(self, file: Aliases) -> str | None:
        """Why edits leave ``file`` alone, or None if they do not. It is judged by all its names."""
        own = [(_identity(folder), folder) for folder in self._own]
        home = None if self._home is None else _identity(self._home)
        for name in file.names:
            path = file.root / name
            above = [(folder, _identity(folder)) for folder in (path, *path.parents)]
            what = (
                refused(name)
                or ("spark's own" if any(_is_within(path, above, *folder) for folder in own) else None)
                or ("a git repository's own" if _is_of_git(path, file.root) else None)
                or _at_home(path, above, home)
            )
            if what is not None:
                said = file.shown if name == file.shown else f"{file.shown} ({name})"
                return f"{said} is {what}; edits leave it alone"
        other = None if file.status is None else self._elsewhere(file, file.status)
        return f"{file.shown} is {other}; edits leave it alone" if other is not None else None

    def _elsewhere(self, file: Aliases, status: os.stat_result) -> str | None:
        """What a file is that is also a protected file outside the project, by a link in either direction."""
        for name, what in home_files(held=False) if self._home is not None else ():
            if _identity(f"{self._home}/{name}") == (status.st_dev, status.st_ino):
                return f"~/{name}, {what}"
        if status.st_nlink > 1 and any(links.names(status) for links in self._links):
            return "a hard link to a file of spark or one with keys"
        return None


def _at_home(
    path: Path, above: Sequence[tuple[Path, _Identity | None]], home: _Identity | None
) -> str | None:
    for folder, identity in above[1:] if home is not None else ():
        if identity == home:
            return refused_at_home(path.relative_to(folder).as_posix())
    return None


def _is_within(
    path: Path, above: Sequence[tuple[Path, _Identity | None]], wanted: _Identity | None, folder: Path
) -> bool:
    """Whether ``path`` is below ``folder``: by what the folders are, and by name while they do not exist."""
    if wanted is not None:
        return any(identity == wanted for _, identity in above)
    ours, theirs = ([spelling(part) for part in one.parts] for one in (path, folder))
    return ours[: len(theirs)] == theirs


def _identity(path: Path | str) -> _Identity | None:
    """The device and inode of what ``path`` leads to; None if that is nothing."""
    try:
        status = os.stat(path)  # noqa: PTH116 - many paths are looked at for each edit
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_of_git(path: Path, root: Path) -> bool:
    """Whether a file is in a git directory, whatever that is called, or would make its folder one.

    Git takes any folder for its own that has ``HEAD``, ``objects`` and ``refs``, or ``HEAD`` and
    ``commondir`` (gitrepository-layout(5)). A work tree may itself be in a git directory.
    """
    below = spelling(path.name)
    for folder in path.parents:
        if _has(folder, "HEAD", below) and (
            _has(folder, "commondir", below)
            or (_has(folder, "objects", below) and _has(folder, "refs", below))
        ):
            return True
        if root.is_relative_to(folder) and _has(folder, ".git", ""):
            return False
        below = spelling(folder.name)
    return False


def _has(folder: Path, name: str, below: str) -> bool:
    """Whether ``folder`` has a file ``name``, or would have one with ``below`` in it."""
    return spelling(name) == below or os.path.lexists(f"{folder}/{name}")
