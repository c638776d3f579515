"""Faults of the disk and of the process, at each call and each step, for tests of what is kept."""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CODES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""A full disk, a full quota, a read-only file system, a broken disk."""


CHANGES = (
    "write",
    "pwrite",
    "rename",
    "replace",
    "link",
    "symlink",
    "unlink",
    "mkdir",
    "rmdir",
    "ftruncate",
    "fsync",
    "fchmod",
)
"""The system calls between which a kill can leave something else on the disk."""

Picture = dict[str, tuple[int, int, bytes]]
"""What a folder holds: of each path its mode, the number of a file with more names (else 0), its bytes."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a kill would leave of a folder, right before the call ``name`` or after the step of that name."""

    name: str
    picture: Picture


def picture(place: Path) -> Picture:
    """What ``place`` holds now."""
    found: Picture = {}
    top = f"{place}/"
    for folder, folders, files in os.walk(place):
        for path in (f"{folder}/{name}" for name in (*folders, *files)):
            status = os.lstat(path)
            data, number = b"", 0
            if stat.S_ISLNK(status.st_mode):
                data = os.fsencode(Path(path).readlink())
            elif stat.S_ISREG(status.st_mode):
                number = status.st_ino if status.st_nlink > 1 else 0
                data = Path(path).read_bytes()
            found[path[len(top) :]] = (status.st_mode, number, data)
    return found


def restore(place: Path, picture: Picture) -> None:
    """Make ``place`` what it was when the picture was taken."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    names: dict[int, Path] = {}
    for name in sorted(picture):  # a folder comes before what is in it
        mode, number, data = picture[name]
        path = place / name
        if stat.S_ISDIR(mode):
            path.mkdir()
        elif stat.S_ISLNK(mode):
            path.symlink_to(os.fsdecode(data))
        elif number in names:
            path.hardlink_to(names[number])
        else:
            path.write_bytes(data)
            path.chmod(stat.S_IMODE(mode))
            names.update({number: path} if number else {})


def moments(place: Path, act: Callable[[Callable[[str], None]], object], most: int = 10_000) -> list[Moment]:
    """Every state in which a kill can leave ``place`` while ``act`` runs, from the first to the last.

    What a process has written is there after its death, so that a picture before each system call that
    changes something, and at each step that ``act`` is given to call, is what SIGKILL at that place leaves.
    A line that was appended is there by half, too, as a kill within its write could leave it. After the
    first ``most`` states none is kept but the last.
    """
    found: list[Moment] = []

    def look(name: str) -> None:
        if len(found) >= most and name != "the end":
            return
        now = picture(place)
        if found and now == found[-1].picture:
            return
        found.extend(_torn(found[-1].picture, now) if found else ())
        found.append(Moment(name, now))

    def looking(call: str) -> Callable[..., object]:
        real = getattr(os, call)

        def looks(*args: object, **options: object) -> object:
            look(f"before {call}")
            return real(*args, **options)

        return looks

    with pytest.MonkeyPatch.context() as patched:
        for call in CHANGES:
            patched.setattr(os, call, looking(call))
        act(look)
    look("the end")
    return found


def _torn(before: Picture, now: Picture) -> Iterator[Moment]:
    """The state between two in which a file that grew has half of what was appended."""
    for name, (mode, number, data) in now.items():
        old = before.get(name, (0, 0, b""))[2]
        half = (len(data) - len(old)) // 2
        if half and data.startswith(old) and name in before:
            yield Moment(f"half of {name}", {**before, name: (mode, number, data[: len(old) + half])})


LONGEST = 60
"""Seconds after which a process hangs, and is ended."""


def fatal_step(fatal: int | None) -> Callable[[str], None]:
    """Counts the steps that it is told of, and kills this process at step ``fatal``, from 1."""
    steps = itertools.count(1)

    def step(_name: str) -> None:
        if next(steps) == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    return step


def killed_at(fatal: int, act: Callable[[Callable[[str], None]], object]) -> bool:
    """Call ``act`` in a process that kills itself at step ``fatal``; whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            act(fatal_step(fatal))
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def in_processes(*acts: Callable[[], object]) -> list[Any]:
    """What each of ``acts`` returned (a plain value) in a process of its own; all of them run at once."""
    running: list[tuple[int, int]] = []
    for act in acts:
        reads, writes = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(LONGEST)
            try:
                os.write(writes, json.dumps(act()).encode())
            finally:
                os._exit(0)
        os.close(writes)
        running.append((child, reads))
    found = []
    for child, reads in running:
        with os.fdopen(reads) as said:
            found.append(said.read())
        os.waitpid(child, 0)
    return [json.loads(each) for each in found]


def killed_after(seconds: float, act: Callable[[], object]) -> bool:
    """Call ``act`` in a process that is killed after so many seconds; whether it came to that."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@contextmanager
def failing(call: str, number: int, code: int) -> Iterator[list[int]]:
    """The ``number``th system call named ``call`` fails with ``code``; gives how many there were."""
    count = [0]
    real = getattr(os, call)

    def fails(*args: object, **options: object) -> object:
        count[0] += 1
        if count[0] == number:
            raise OSError(code, os.strerror(code))
        return real(*args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, call, fails)
        yield count
