"""Walls by Seatbelt on macOS: a profile for ``sandbox-exec``. No test has run it on a Mac yet.

Source: the language of the profiles in /System/Library/Sandbox/Profiles, in which the last rule that fits
counts, and the profiles with which Codex and Bazel run commands.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from session.checks.sandbox.fence_plan import NoFenceError
from session.checks.sandbox.plan import Limits, View

PROGRAM = Path("/usr/bin/sandbox-exec")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/dtracehelper", "/dev/tty")
_BASE = """\
(version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem)
(allow pseudo-tty)
(allow file-ioctl (regex #"^/dev/tty"))
(allow mach-lookup
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.system.logger"))
(allow file-read*)"""
_NETWORK = """\
(allow system-socket)
(allow network-bind (local ip))
(allow network-inbound (local ip))
(allow network-outbound (remote ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd"))
(allow mach-lookup (global-name "com.apple.trustd.agent"))"""
_LIMITED = 'ulimit -c 0; ulimit -f "$1"; shift; exec "$@"'


def seatbelt(
    view: View, limits: Limits, *, project: Path, writable: Iterable[str], network: bool
) -> list[str]:
    """The words before a command that run it behind Seatbelt. Raises NoFenceError where there is none."""
    if not PROGRAM.is_file():
        raise NoFenceError("Seatbelt needs macOS")
    text = profile(view, project=project, writable=writable, network=network)
    return [str(PROGRAM), "-p", text, "/bin/sh", "-c", _LIMITED, "sh", str(limits.disk // 512)]


def profile(view: View, *, project: Path, writable: Iterable[str], network: bool) -> str:
    """The profile: everything but keys and others' temporary files can be read, and nothing but ``writable``
    and devices without effects can be written. Without ``network`` there are no sockets but pairs."""
    lines = [
        _BASE,
        _rule("deny file-read-data file-write*", "subpath", _resolved(view.temporary + view.run_time)),
        _rule("allow file-read*", "subpath", [*view.shown, str(project)]),
        _rule("deny file-read* file-write*", "subpath", _resolved(view.hidden)),
        _rule("allow file-read* file-write*", "subpath", list(writable)),
        _rule("allow file-write-data", "literal", _DEVICES),
    ]
    return "\n".join([*lines, _NETWORK] if network else lines)


def _resolved(paths: Iterable[str]) -> list[str]:
    """``paths`` as the kernel names them, without links: ``/tmp`` is ``/private/tmp``."""
    return [str(Path(path).resolve()) for path in paths]


def _rule(what: str, kind: str, paths: Iterable[str]) -> str:
    each = "".join(f"\n  ({kind} {_quoted(path)})" for path in paths)
    return f"({what}{each})" if each else ""


def _quoted(path: str) -> str:
    """``path`` as a text of the profile: quotes and backslashes escaped."""
    return json.dumps(path, ensure_ascii=False)
