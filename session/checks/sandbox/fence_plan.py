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


def fence_plan(view: View, limits: Limits, *, project: Path, copy: Path, network: bool) -> dict[str, Any]:
    """The plan for a command in ``copy``, as ``fence.py`` reads it; makes the folders that it may write to.

    Raises NoFenceError, and OSError where a folder cannot be made.
    """
    try:
        version = _version()
        filtered = syscall_filter(network=network, truncate=version >= kernel.TRUNCATES)
    except NoFilterError as problem:
        raise NoFenceError(str(problem)) from problem
    box = copy.parents[1]
    own = [box / name for name in _OWN.values()]
    for folder in own:
        folder.mkdir(parents=True, exist_ok=True)
    hidden = {*view.hidden, *view.temporary, *view.run_time, "/dev"}
    readable = [*_without("/", hidden), *_without(str(project), hidden)]
    for each in (*view.shown, *view.caches):
        readable += _without(each, hidden)
    return {
        "report": str(box / "report"),
        "readable": readable,
        "writable": [str(copy), *map(str, own), *_DEVICES],
        "filter": filtered,
        "memory": limits.memory,
        "disk": limits.disk,
    }


def own_folders(copy: Path) -> dict[str, str]:
    """The variables with which programs write to the sandbox's own folders."""
    return {name: str(copy.parents[1] / folder) for name, folder in _OWN.items()}


def leaks() -> str:
    """What passes the fence, in words."""
    passes = "a command can change the modes and times of your files"
    return passes if _version() >= kernel.SCOPED else f"{passes}, and signal your other programs"


def _version() -> int:
    if sys.platform != "linux":
        raise NoFenceError("a fence needs Linux")
    try:
        return kernel.landlock_version()
    except OSError as problem:
        raise NoFenceError(f"the kernel has no Landlock: {problem.strerror}") from problem


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
