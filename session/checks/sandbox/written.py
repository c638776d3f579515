"""What a command in a sandbox wrote to the project, as files before and after; and what of it is left behind.

Only plain files become edits. Links, sockets, pipes, devices, modes and what belongs to a repository are left
in the sandbox, and said; so are files that somebody saved while the command ran. What git ignores is counted,
and what tools keep for themselves is left without a word: such files are made anew by whoever needs them.

The upper layer of an overlay is read as the kernel writes it: a device 0:0 where a file is gone, an attribute
on a folder that hides the one below ("whiteouts and opaque directories" in the kernel's overlayfs.rst).
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from context.disk.file_list import ignored_by_rules
from context.disk.git import Git, GitUnavailable

MOST_FILES = 300
"""Files that one command may change; of one that changes more, nothing is taken over."""
MOST_TOUCHED = 50_000
"""Files that are looked at, ignored ones too; of a command that touches more, nothing is taken over."""
DEEPEST = 60
"""Folders within folders that are looked into."""
MOST_BYTES = 1_000_000
"""Bytes of the largest file that is taken over."""
REPOSITORIES = frozenset({".git", ".hg", ".svn", ".jj"})
_OF_TOOLS = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "node_modules", ".coverage"}
)
_TOO_DEEP = f"is within more than {DEEPEST} folders"
_OPAQUE = "user.overlay.opaque"
_WHITEOUT = "user.overlay.whiteout"
_COARSE_CLOCK = 5
"""CLOCK_REALTIME_COARSE of clock_gettime(2), by which the kernel dates changes of files."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that a command changed: its bytes before and after, None for no file."""

    path: str
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Written:
    """What a command did to the project. ``left`` says of each path that was not taken over why; ``ignored``
    counts the files that git ignores."""

    files: tuple[WrittenFile, ...] = ()
    left: tuple[str, ...] = ()
    ignored: int = 0


@dataclass(slots=True)
class _Found:
    """The paths that a command touched, before their contents are looked at."""

    changed: dict[str, str] = field(default_factory=dict)
    """Each plain file that may have changed, and where its bytes are."""
    gone: set[str] = field(default_factory=set)
    left: dict[str, str] = field(default_factory=dict)


def now() -> int:
    """The time by which files are dated, in nanoseconds."""
    return time.clock_gettime_ns(_COARSE_CLOCK) if sys.platform == "linux" else time.time_ns()


def next_tick() -> int:
    """The time of a new tick, which is later than that of each file that was changed before. It comes within
    milliseconds."""
    began = now()
    while (later := now()) == began:
        time.sleep(0.0005)
    return later


def written_in_layer(layer: Path, project: Path, began: int) -> Written:
    """What is in an overlay's upper ``layer``. The command began at ``began`` (:func:`next_tick`)."""
    found = _Found()
    layer.chmod(stat.S_IRWXU)
    _look(layer, project, "", found)
    return _settled(found, project, began)


def written_in_copy(copy: Path, project: Path, before: Mapping[str, tuple[int, ...]], began: int) -> Written:
    """What differs in a ``copy`` from how its files were ``before`` (:func:`signature`); links to ignored
    folders of the project are not looked at."""
    found = _Found()
    there = set()
    for path, status in _walk(copy, ""):
        there.add(path)
        if before.get(path) != signature(status):
            _sort(path, copy / path, status, project, found)
    for path in before.keys() - there:
        _gone(project, path, found)
    return _settled(found, project, began)


def signature(status: os.stat_result) -> tuple[int, ...]:
    """What changes with a file's bytes or mode."""
    return status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _look(layer: Path, project: Path, below: str, found: _Found) -> None:
    """Find what is in a folder of the layer."""
    with os.scandir(layer / below) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    if below and _marked(layer / below, _OPAQUE):
        names = {entry.name for entry in listed}
        for path in _files_below(project, below.rstrip("/")):
            if path[len(below) :].partition("/")[0] not in names:
                _gone(project, path, found)
    for entry in listed:
        path, status = below + entry.name, entry.stat(follow_symlinks=False)
        if entry.name in REPOSITORIES:
            found.left[path] = "belongs to the repository"
        elif _is_whiteout(entry.path, status):
            for each in _files_below(project, path):
                _gone(project, each, found)
        elif stat.S_ISDIR(status.st_mode):
            if entry.name in _OF_TOOLS:
                continue
            if path.count("/") >= DEEPEST:
                found.left[path] = _TOO_DEEP
                continue
            if not (project / path).is_dir():
                _gone(project, path, found)
            Path(entry.path).chmod(stat.S_IRWXU)
            _look(layer, project, f"{path}/", found)
        else:
            for each in _files_below(project, path) if (project / path).is_dir() else ():
                _gone(project, each, found)
            _sort(path, Path(entry.path), status, project, found)


def _is_whiteout(path: str, status: os.stat_result) -> bool:
    if stat.S_ISCHR(status.st_mode):
        return status.st_rdev == 0
    return stat.S_ISREG(status.st_mode) and not status.st_size and _marked(path, _WHITEOUT)


def _marked(path: str | Path, name: str) -> bool:
    try:
        return bool(os.getxattr(path, name, follow_symlinks=False))
    except OSError:
        return False


def _walk(folder: Path, below: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files in a copy, without those of repositories and tools."""
    with os.scandir(folder / below) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        path, status = below + entry.name, entry.stat(follow_symlinks=False)
        if entry.name in REPOSITORIES or entry.name in _OF_TOOLS:
            continue
        if stat.S_ISDIR(status.st_mode):
            if path.count("/") < DEEPEST:
                Path(entry.path).chmod(stat.S_IRWXU)
                yield from _walk(folder, f"{path}/")
        else:
            yield path, status


def _files_below(project: Path, path: str) -> Iterator[str]:
    """The files of the project at ``path``, or in the folder there."""
    if (project / path).is_symlink() or not (project / path).is_dir():
        yield path
        return
    for name, folders, files in os.walk(project / path):
        folder = Path(name)
        folders[:] = [each for each in folders if each not in REPOSITORIES]
        for each in (*files, *(each for each in folders if (folder / each).is_symlink())):
            yield str((folder / each).relative_to(project))


def _gone(project: Path, path: str, found: _Found) -> None:
    try:
        mode = os.lstat(project / path).st_mode
    except OSError:
        return
    if stat.S_ISREG(mode):
        found.gone.add(path)
    elif not _is_of_tools(path):
        found.left[path] = "was deleted, and is no plain file"


def _sort(path: str, file: Path, status: os.stat_result, project: Path, found: _Found) -> None:
    """Take note of a file that was written."""
    mode, there = status.st_mode, _status(project / path)
    if stat.S_ISLNK(mode) and there is not None and stat.S_ISLNK(there.st_mode):
        if file.readlink() != (project / path).readlink():
            found.left[path] = "is a link that leads elsewhere now"
    elif not stat.S_ISREG(mode):
        found.left[path] = f"is {_kind(mode)}"
    elif there is not None and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode):
        found.left[path] = f"is {_kind(there.st_mode)} in the project"
    else:
        found.changed[path] = str(file)


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a link"
    if stat.S_ISFIFO(mode):
        return "a pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _status(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _settled(found: _Found, project: Path, began: int) -> Written:
    """The files with their bytes, read now: no command runs any more."""
    touched = [*found.changed, *found.gone]
    if len(touched) > MOST_TOUCHED:
        return Written((), (f"{len(touched):,} files were changed, so none is taken over",))
    ignored = ignored_of(project, touched)
    wanted = [path for path in touched if path not in ignored and not _is_of_tools(path)]
    left = dict(found.left)
    files = []
    for path in sorted(wanted):
        file = _file(project, path, found.changed.get(path), began, left.setdefault)
        if file is not None:
            files.append(file)
    if len(files) > MOST_FILES:
        told = f"{len(files):,} files were changed; of more than {MOST_FILES} none is taken over"
        return Written((), (told,), len(ignored))
    said = [f"{path} {why}" for path, why in sorted(left.items()) if path not in ignored]
    return Written(tuple(files), tuple(said), len(ignored))


def _file(
    project: Path, path: str, source: str | None, began: int, leave: Callable[[str, str], object]
) -> WrittenFile | None:
    there = _status(project / path)
    if there is not None and stat.S_ISDIR(there.st_mode):
        there = None  # its files are gone, and told one by one
    if not path.isprintable():
        leave(path, "has a name that cannot be shown")
        return None
    if there is not None and there.st_ctime_ns >= began:
        leave(path, "was saved by somebody while the command ran: run it again")
        return None
    before = _read(project / path) if there is not None else None
    after = _read(Path(source)) if source is not None else None
    if (there is not None and before is None) or (source is not None and after is None):
        leave(path, f"is larger than {MOST_BYTES:,} bytes, or cannot be read")
        return None
    if source is not None:
        executable = bool(os.lstat(source).st_mode & stat.S_IXUSR)
        if executable != bool(there is not None and there.st_mode & stat.S_IXUSR):
            leave(path, f"was made {'' if executable else 'not '}executable, which no edit does")
    return None if before == after else WrittenFile(path, before, after)


def _read(file: Path) -> bytes | None:
    """The bytes of a plain file; None where it is too large or cannot be read."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = opened.read(MOST_BYTES + 1)
    return data if len(data) <= MOST_BYTES else None


def _is_of_tools(path: str) -> bool:
    return not _OF_TOOLS.isdisjoint(path.split("/"))


def ignored_of(project: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those of ``paths``, which need not be there, that git ignores; without git, by ``.gitignore``."""
    asked = list(paths)
    if not asked:
        return frozenset()
    try:
        git = Git.open(project)
        printed = git.ask("check-ignore", "-z", "--stdin", stdin=os.fsencode("\0".join(asked))) or b""
    except GitUnavailable:
        return ignored_by_rules(project, asked)
    return frozenset(os.fsdecode(printed).split("\0")) - {""}
