"""The plan of a fence: what a command may open that runs in a copy, where namespaces are refused."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from session.checks.sandbox import kernel
from session.checks.sandbox.plan import Limits, View
from session.checks.sandbox.syscall_filter import NoFilterError, syscall_filter

PROGRAM = Path(__file__).with_name("fence.py")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OWN = {"TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "GOCACHE": "cache/go"}
"""Variables for folders that programs write to, and the folders of the sandbox that they name."""


class NoFenceError(Exception):
    """No fence can be put up here; the message says why."""


class NoLandlockError(NoFenceError):
    """The kernel has no Landlock."""


def fence_plan(view: View, limits: Limits, *, project: Path, copy: Path, network: bool) -> dict[str, Any]:
    """The plan for a command in ``copy``, as ``fence.py`` reads it. Raises NoFenceError."""
    version = _version()
    filtered = _filter(network=network, truncate=version >= kernel.TRUNCATES)
    box = copy.parents[1]
    hidden = {*view.hidden, *view.temporary, *view.run_time, "/dev"}
    readable = [*_without("/", hidden), *_without(str(project), hidden)]
    for each in (*view.shown, *view.caches):
        readable += _without(each, hidden)
    return {
        "report": str(box / "report"),
        "readable": readable,
        "writable": [*writable(copy), *_DEVICES],
        "filter": filtered,
        "memory": limits.memory,
        "disk": limits.disk,
    }


def inner_plan(view: View, limits: Limits, *, project: Path, copy: Path) -> dict[str, Any]:
    """The plan for a command in ``copy`` within bubblewrap: with Landlock where the kernel has it, and with
    sockets of the internet, which lead no further than the namespace. Raises NoFenceError."""
    try:
        found = fence_plan(view, limits, project=project, copy=copy, network=True)
    except NoLandlockError:
        found = {"readable": [], "writable": [], "memory": limits.memory, "disk": limits.disk}
    return found | {"report": "", "filter": _filter(network=True, truncate=True)}


def own_folders(copy: Path) -> dict[str, str]:
    """The variables with which programs write to the sandbox's own folders."""
    return {name: str(copy.parents[1] / folder) for name, folder in _OWN.items()}


def writable(copy: Path) -> list[str]:
    """The folders that a command in ``copy`` may write to."""
    return [str(copy), *own_folders(copy).values()]


def _filter(*, network: bool, truncate: bool) -> bytes:
    try:
        return syscall_filter(network=network, truncate=truncate)
    except NoFilterError as problem:
        raise NoFenceError(str(problem)) from problem


def leaks() -> str:
    """What passes the fence, in words."""
    passes = "a command can change the modes and times of your files"
    return passes if _version() >= kernel.SCOPED else f"{passes}, and signal your other programs"


def _version() -> int:
    if sys.platform != "linux":
        raise NoLandlockError("Landlock needs Linux")
    try:
        return kernel.landlock_version()
    except OSError as problem:
        raise NoLandlockError(f"the kernel has no Landlock: {problem.strerror}") from problem


def _without(path: str, hidden: Collection[str]) -> Iterator[str]:
    """The largest parts of ``path`` that hold nothing of ``hidden``; links are left out."""
    if path in hidden:
        return
    below = path.rstrip("/") + "/"
    if not any(each.startswith(below) for each in hidden):
        yield path
        return
    try:
        with os.scandir(path) as entries:
            children = [each.path for each in entries if not each.is_symlink()]
    except OSError:
        return
    for child in sorted(children):
        yield from _without(child, hidden)
