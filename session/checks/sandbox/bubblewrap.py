"""Walls by bubblewrap, where namespaces are refused to spark but not to ``bwrap``: a program that user 0 owns
and runs for everybody, or one that the machine's AppArmor profiles name, as on Ubuntu.

Within them runs ``fence.py``, so that limits hold, and Landlock where the kernel has it. Source: bwrap(1).
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from context.disk.programs import find_program
from session.checks.sandbox.fence_plan import NoFenceError
from session.checks.sandbox.plan import View

_LONGEST_TRY = 10.0
"""Seconds for a command that does nothing."""


def bubblewrap(
    view: View,
    *,
    project: Path,
    copy: Path,
    writable: Iterable[str],
    network: bool,
    environ: Mapping[str, str],
) -> list[str]:
    """The words before a command that run it within bubblewrap. It sees ``view`` and ``project`` and writes
    to ``writable``. Raises NoFenceError where there is no bubblewrap, or it does not work here."""
    program = find_program("bwrap", project, environ)
    if program is None:
        raise NoFenceError("bubblewrap is not installed")
    line = [program, *arguments(view, project=project, copy=copy, writable=writable, network=network), "--"]
    if why := _refusal(tuple(line)):
        raise NoFenceError(f"bubblewrap does not work: {why}")
    return line


def arguments(view: View, *, project: Path, copy: Path, writable: Iterable[str], network: bool) -> list[str]:
    """The arguments of ``bwrap``. What comes later is mounted over what comes before."""
    found = ["--unshare-all", *(["--share-net"] if network else []), "--die-with-parent"]
    found += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for path in (*view.temporary, *view.run_time):
        if Path(path).is_dir() and not Path(path).is_symlink():
            found += ["--tmpfs", path]
    for path in (*view.shown, *view.caches, str(project)):
        found += ["--ro-bind", path, path]
    for path in view.hidden:
        found += ["--tmpfs", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]
    box = str(copy.parents[1])
    found += ["--ro-bind", box, box]
    for path in writable:
        found += ["--bind", path, path]
    return [*found, "--chdir", str(copy)]


@cache
def _refusal(line: tuple[str, ...]) -> str:
    """Why ``line`` runs no command here; empty where it does."""
    try:
        tried = subprocess.run(
            [*line, "true"], capture_output=True, check=False, timeout=_LONGEST_TRY, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    said = tried.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return "" if tried.returncode == 0 else said or f"exit code {tried.returncode}"
