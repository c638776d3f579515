"""One git process: what it may take, print and wait for is bounded, for a repository can ask for anything.

A small tree can name ten thousand million files, an index can name the same long folder a million times, and
a named pipe or a device can stand where git expects a file.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import sys
from collections.abc import Callable
from time import monotonic

MOST_OUTPUT = 500_000_000
"""The most bytes that a command may print. The list of the largest known repositories has a tenth of it."""
MOST_MEMORY = 2_000_000_000
"""The most bytes of memory of its own that git may take (Linux only), without what it maps of files."""
_AT_ONCE = 1_000_000


class TooMuchError(Exception):
    """The command was ended, since it printed more than :data:`MOST_OUTPUT`."""


def limit_memory(process: subprocess.Popen[bytes]) -> None:
    """Hold a process that has just started to :data:`MOST_MEMORY`."""
    if sys.platform == "linux":
        import resource

        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):  # ended, or held to less
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))


def communicate(
    process: subprocess.Popen[bytes],
    stdin: bytes,
    *,
    seconds: float,
    patience: float,
    look: Callable[[], None],
) -> tuple[bytes, bytes]:
    """Give ``stdin`` to the process, wait for its end, and return what it printed.

    ``look`` is called once, after ``patience`` seconds, and may raise. Raises TimeoutError after ``seconds``,
    and TooMuchError.
    """
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    begun = monotonic()
    looked = False
    out, err = bytearray(), bytearray()
    kept = {process.stdout.fileno(): out, process.stderr.fileno(): err}
    given = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for descriptor in kept:
            selector.register(descriptor, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while selector.get_map():
            for key, events in selector.select(0.1 if looked else patience):
                if events & selectors.EVENT_WRITE:
                    given = _give(process, given)
                    if not given:
                        selector.unregister(process.stdin)
                        _close(process)
                elif data := os.read(key.fd, _AT_ONCE):
                    kept[key.fd] += data
                else:
                    selector.unregister(key.fd)
            if len(out) + len(err) > MOST_OUTPUT:
                raise TooMuchError
            if not looked and monotonic() - begun >= patience:
                looked = True
                look()
            if looked and monotonic() - begun >= seconds:
                raise TimeoutError
    process.wait(max(0.1, seconds))
    return bytes(out), bytes(err)


def _give(process: subprocess.Popen[bytes], given: memoryview) -> memoryview:
    """Write a part of ``given``, and return what is left of it."""
    assert process.stdin is not None
    try:
        return given[os.write(process.stdin.fileno(), given[:_AT_ONCE]) :]
    except BlockingIOError:
        return given
    except BrokenPipeError:
        return memoryview(b"")  # it has ended, and its exit status says why


def _close(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
