"""Finds the git repository of a folder by reading a few small files. No program is run for it.

Git's own search reads the repository's configuration on the way, and takes any folder that has ``HEAD``,
``objects`` and ``refs`` for a bare repository. Such a folder can come with a clone, so only ``.git`` counts
here: a folder, or a file that names one (gitrepository-layout(5)).
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

_HEAD = re.compile(rb"(ref:\s*refs/[^\0\n]+|[0-9a-f]{40}([0-9a-f]{24})?)\s*")
_LARGEST_POINTER = 8_192
"""Largest size in bytes of ``HEAD``, ``commondir`` or a ``.git`` file; each has one line."""
_LARGEST_ALTERNATES = 65_536
"""Largest size in bytes of a list of other folders with objects."""
_MOST_ALTERNATES = 100
_LINKED = (
    *("objects", "objects/pack", "objects/info", "refs", "refs/heads", "refs/tags", "refs/remotes"),
    *("reftable", "packed-refs", "shallow"),
)
_DEEPEST = 4
"""Folders above a linked one in which a repository is looked for."""


class GitUnavailable(Exception):
    """Git cannot answer here: it is not installed, there is no repository, or the command failed.

    ``expected`` is true when the folder simply is not in a repository, ``slow`` when git was waited for in
    vain, ``silent`` when it said no without a word, as it does for a name that is not there.
    """

    def __init__(self, message: str, *, expected: bool = False) -> None:
        super().__init__(message)
        self.expected = expected
        self.slow = False
        self.silent = False


@dataclass(frozen=True, slots=True)
class Repository:
    """Where a folder's repository is. All paths are absolute."""

    top: Path
    """The root of the work tree: the folder with ``.git``."""
    prefix: str
    """The path of the folder inside the work tree: empty, or with a ``/`` at its end."""
    git_dir: Path
    """Holds HEAD and the index of this work tree."""
    common_dir: Path
    """Holds refs and objects; other than ``git_dir`` in a linked work tree only."""
    data: tuple[Path, ...]
    """The folders with all that git reads of the repository."""


def find_repository(root: Path) -> Repository:
    """Find the repository that the folder ``root`` is in. Raises GitUnavailable."""
    root = root.resolve()
    try:
        about = root.stat()
    except OSError as problem:
        raise GitUnavailable(f"{root} cannot be opened: {problem.strerror}") from problem
    if not stat.S_ISDIR(about.st_mode):
        raise GitUnavailable(f"{root} is not a folder")
    for top in (root, *root.parents):
        if _device(top) != about.st_dev:
            break  # Like git, do not look for a repository on another file system.
        git_dir = _git_dir(top / ".git")
        if git_dir is None:
            if top == root and os.path.lexists(top / ".git"):
                raise GitUnavailable(f"there is no repository in {top / '.git'}: it is damaged")
            continue
        if root.is_relative_to(git_dir):
            break
        if git_dir.stat().st_uid not in (0, os.geteuid(), about.st_uid):
            raise GitUnavailable(f"the repository in {top} belongs to another user")
        prefix = "" if root == top else f"{root.relative_to(top).as_posix()}/"
        common = _common_dir(git_dir)
        objects = [*map(Path, dict.fromkeys(map(os.path.realpath, _object_folders(common / "objects"))))]
        return Repository(top, prefix, git_dir, common, (git_dir, common, common / "refs", *objects))
    raise GitUnavailable("the folder is not in a git work tree", expected=True)


def owner_elsewhere(repository: Repository, work_tree: str | None, *, bare: bool) -> Path | None:
    """Another folder that the repository of a work tree belongs to, or None. ``work_tree`` is its
    ``core.worktree``; ``bare`` is false if it says that it is not a bare one.

    An archive can hold a ``.git`` file, a ``commondir`` or links that lead to any repository of the user,
    whose names and old texts would then be those of this project.
    """
    top, git_dir, common = repository.top, repository.git_dir, repository.common_dir
    own = (top, git_dir, common)
    if not git_dir.is_relative_to(top):
        named = _named_work_tree(git_dir, work_tree)
        if named is None and git_dir.name == ".git":
            named = git_dir.parent
        if named is None and bare:
            return git_dir
        if named is not None and named != top and named.is_dir():
            return named
    if common != git_dir and common not in (git_dir.parent.parent, top) and not common.is_relative_to(top):
        return common
    links = [common / name for name in _LINKED] + [git_dir / "index"]
    for real in (Path(os.path.realpath(link)) for link in links):
        if not any(real.is_relative_to(folder) for folder in own):
            owner = next((folder for folder in real.parents[:_DEEPEST] if _is_repository(folder)), None)
            if owner is not None and not _is_of_repo(owner, top):
                return owner
    return None


def _is_repository(folder: Path) -> bool:
    return folder.name == ".git" or (os.path.lexists(folder / "HEAD") and os.path.lexists(folder / "objects"))


def _is_of_repo(folder: Path, top: Path) -> bool:
    """Whether a folder is where ``repo``, Android's tool, keeps the data of the work trees around it."""
    return any(folder.is_relative_to(above / ".repo") for above in top.parents)


def _named_work_tree(git_dir: Path, work_tree: str | None) -> Path | None:
    """The work tree that a git directory says it has."""
    back = read_regular(git_dir / "gitdir", _LARGEST_POINTER)
    if back is not None and b"\0" not in back:  # a linked work tree
        return Path(os.path.realpath(git_dir / os.fsdecode(back.rstrip(b"\r\n")))).parent
    if work_tree is not None and "\0" not in work_tree:  # a submodule
        return Path(os.path.realpath(git_dir / work_tree))
    return None


def _object_folders(objects: Path) -> list[Path]:
    """The folder of the repository's objects, and the others that it and they name (gitrepository-layout(5)).

    Raises GitUnavailable if such a list is no file of a sensible size: git would read a device without end.
    """
    folders = [objects]
    for folder in folders:
        file = folder / "info" / "alternates"
        listed = read_regular(file, _LARGEST_ALTERNATES)
        if listed is None:
            if os.path.lexists(file):
                raise GitUnavailable(f"{file} is no file that can be read, or is too large")
            continue
        for line in listed.splitlines():
            if line.startswith(b'"') or b"\0" in line:
                raise GitUnavailable(f"{file} names a folder in a way that spark does not read")
            other = Path(os.path.normpath(folder / os.fsdecode(line)))
            if line and not line.startswith(b"#") and other not in folders:
                folders.append(other)
        if len(folders) > _MOST_ALTERNATES:
            raise GitUnavailable(f"{objects / 'info' / 'alternates'} leads to too many folders")
    return folders


def read_head(git_dir: Path) -> bytes | None:
    """The content of ``HEAD``, or None if it is not valid."""
    head = git_dir / "HEAD"
    if head.is_symlink():  # Written by very old versions of git.
        target = os.fsencode(head.readlink())
        return b"ref: %b\n" % target if target.startswith(b"refs/") and b"\n" not in target else None
    data = read_regular(head, _LARGEST_POINTER)
    return data if data is not None and _HEAD.fullmatch(data) else None


def read_regular(file: Path, largest: int, *, begins: bool = False) -> bytes | None:
    """The content of a regular file of at most ``largest`` bytes; None for anything else. With ``begins`` the
    first bytes of a larger one too.

    The file is opened without waiting, so a named pipe in its place cannot hang.
    """
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        data = opened.read(largest + (not begins))
    return data if len(data) <= largest else None


def _git_dir(entry: Path) -> Path | None:
    """The git directory that a ``.git`` entry is or points to, or None."""
    if not entry.is_dir():
        named = read_regular(entry, _LARGEST_POINTER)
        if named is None or not named.startswith(b"gitdir: ") or b"\0" in named:
            return None
        entry = entry.parent / os.fsdecode(named.removeprefix(b"gitdir: ").rstrip(b"\r\n"))
    git_dir = Path(os.path.realpath(entry))
    if read_head(git_dir) is None:
        return None
    common = _common_dir(git_dir)
    return git_dir if (common / "objects").is_dir() and (common / "refs").is_dir() else None


def _common_dir(git_dir: Path) -> Path:
    named = read_regular(git_dir / "commondir", _LARGEST_POINTER)
    if named is None or b"\0" in named:
        return git_dir
    return Path(os.path.realpath(git_dir / os.fsdecode(named.rstrip(b"\r\n"))))


def _device(folder: Path) -> int | None:
    try:
        return folder.stat().st_dev
    except OSError:
        return None
