"""Files that no edit of a model may touch, whatever the project is and whatever the user agrees to.

They are spark's own files, git's, and those that let somebody into the user's accounts. The user's own
edits in the editor pane are not limited by this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from edits.files.aliases import Aliases, spelling
from edits.files.hard_links import HardLinks
from edits.guards.risky_files import home_files, refused, refused_at_home

_MARKS = ("HEAD", "objects", "refs", "commondir")
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
        for name in file.names:
            path = file.root / name
            what = (
                refused(name)
                or ("spark's own" if any(_is_within(path, folder) for folder in self._own) else None)
                or ("a git repository's own" if _is_of_git(path, file.root) else None)
                or self._at_home(path)
            )
            if what is not None:
                said = file.shown if name == file.shown else f"{file.shown} ({name})"
                return f"{said} is {what}; edits leave it alone"
        other = self._elsewhere(file)
        return f"{file.shown} is {other}; edits leave it alone" if other is not None else None

    def _at_home(self, path: Path) -> str | None:
        home = None if self._home is None else _identity(self._home)
        for above in path.parents if home is not None else ():
            if _identity(above) == home:
                return refused_at_home(path.relative_to(above).as_posix())
        return None

    def _elsewhere(self, file: Aliases) -> str | None:
        """What a file is that is also a protected file outside the project, by a link in either direction."""
        if file.status is None:
            return None
        ours = (file.status.st_dev, file.status.st_ino)
        if self._home is not None:
            for name, what in home_files(held=False):
                if _identity(self._home / name) == ours:
                    return f"~/{name}, {what}"
        if file.status.st_nlink > len(file.names) and any(links.names(file.status) for links in self._links):
            return "a hard link to a file of spark or one with keys"
        return None


def _is_within(path: Path, folder: Path) -> bool:
    """Whether ``path`` is below ``folder``: by what the folders are, and by name while they do not exist."""
    wanted = _identity(folder)
    if wanted is not None:
        return any(_identity(above) == wanted for above in (path, *path.parents))
    ours, theirs = ([spelling(part) for part in one.parts] for one in (path, folder))
    return ours[: len(theirs)] == theirs


def _identity(path: Path) -> tuple[int, int] | None:
    """The device and inode of what ``path`` leads to; None if that is nothing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _is_of_git(path: Path, root: Path) -> bool:
    """Whether a file is in a git directory, whatever that is called, or would make its folder one.

    Git takes any folder for its own that has ``HEAD``, ``objects`` and ``refs``, or ``HEAD`` and
    ``commondir`` (gitrepository-layout(5)). A work tree may itself be in a git directory.
    """
    below = path.name
    for folder in path.parents:
        has = {mark for mark in _MARKS if spelling(mark) == spelling(below) or os.path.lexists(folder / mark)}
        if has >= {"HEAD", "objects", "refs"} or has >= {"HEAD", "commondir"}:
            return True
        if root.is_relative_to(folder) and os.path.lexists(folder / ".git"):
            return False
        below = folder.name
    return False
