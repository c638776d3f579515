"""A program that runs a command behind a fence: Landlock and a filter of system calls, where namespaces are
refused. Within bubblewrap the same program limits what a command may use.

    python -I -S fence.py PACKAGES PLAN COMMAND [ARGUMENT …]

``PACKAGES`` is the folder that holds spark's packages, and ``PLAN`` the file with what ``fence_plan.py``
makes, in the format of ``marshal``. The program becomes the command. Where a part of the fence cannot be put
up it says why in the file ``report`` of the sandbox's folder, and the command does not run.
"""

from __future__ import annotations

import marshal
import os
import resource
import sys

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

from session.checks.sandbox import kernel

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # what the module signal is made of, without its enums

NOT_STARTED = 127


def main(plan: dict[str, Any], command: list[str]) -> None:
    """Put up the fence and become ``command``. Returns where that fails."""
    # Within bubblewrap the command could write to the report, so there is none: why is told as its output.
    file = plan["report"]
    report = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600) if file else 2
    try:
        _limit(plan["memory"], plan["disk"])
        kernel.leave_keyring()
        kernel.give_up_privileges()
        if plan["readable"]:
            kernel.restrict(plan["readable"], plan["writable"])
        kernel.filter_calls(plan["filter"])
    except OSError as problem:
        os.write(report, (problem.strerror or str(problem)).encode())
        return
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(2, f"{command[0]}: {problem.strerror}\n".encode())


def _limit(memory: int, disk: int) -> None:
    for kind, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, disk),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        told = marshal.load(file)  # noqa: S302 - spark wrote it, and no command can
    main(told, sys.argv[3:])
    sys.exit(NOT_STARTED)
