"""One git process: what it may take, print and wait for is bounded, for a repository can ask for anything.

A small tree can name ten thousand million files, an index can name the same long folder a million times,
and a named pipe or a device can stand where git expects a file. Where git takes long, this looks at what
it may be waiting for or lost in.

Git opens the files of rules in a work tree, and the repository's data, wherever it comes by, and waits for a
writer where one is a named pipe. No clone can bring a pipe, but an unpacked archive or another program can.

A tree object names others by their hashes, so that ten folders, each ten times in the next, stand for ten
thousand million files in a few hundred bytes (gitdatamodel: "tree"). Git lists them all.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from pathlib import Path
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


_RULES = (".gitignore", ".gitattributes")
_SECONDS = 5.0
"""How long is searched at most, for each of the two kinds."""
_FOLDER = b"40000"
_NAMES_AT_ONCE = 1_000
"""Number of folders of a commit that are read at once."""


def find_pipe(root: Path, data: Iterable[Path]) -> str | None:
    """The first file of rules in ``root``, or in a folder above it, or file below the folders ``data``, that
    is a named pipe or a link to one."""
    return _rules_pipe(root) or _data_pipe(data)


def _rules_pipe(root: Path) -> str | None:
    for above in root.parents:
        if (found := _pipe_in(str(above))) is not None:
            return found
    latest = monotonic() + _SECONDS
    for folder, folders, files in os.walk(root):
        if ".git" in folders:
            folders.remove(".git")
        if not set(_RULES).isdisjoint(files) and (found := _pipe_in(folder)) is not None:
            return found
        if monotonic() > latest:
            return None
    return None


def _pipe_in(folder: str) -> str | None:
    for name in _RULES:
        path = os.path.join(folder, name)  # noqa: PTH118 - Path is slow in a walk over a large tree
        try:
            if stat.S_ISFIFO(os.lstat(path).st_mode):
                return path
        except OSError:
            continue
    return None


def _data_pipe(folders: Iterable[Path]) -> str | None:
    latest = monotonic() + _SECONDS
    waiting = [str(folder) for folder in folders]
    while waiting and monotonic() < latest:
        try:
            with os.scandir(waiting.pop()) as listing:
                for entry in listing:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    elif not entry.is_file(follow_symlinks=False) and stat.S_ISFIFO(entry.stat().st_mode):
                        return entry.path
        except OSError:
            continue  # it vanished, or may not be read: git cannot wait there either
    return None


def names_at_least(
    top: str, read: Callable[[list[str]], Mapping[str, bytes]], enough: int, latest: float
) -> int:
    """How many files the tree object ``top`` stands for at least. Counting ends when there are more than
    ``enough``, or at ``latest`` by :func:`time.monotonic`: what was not read by then counts as empty.

    ``read`` gives the contents of tree objects; those that it leaves out count as empty too. Folders that
    are named more than once are read first, since nothing else makes few of them stand for many files.
    """
    files: dict[str, int] = {}
    folders: dict[str, list[str]] = {}
    once, again = {top: None}, dict[str, None]()
    while (waiting := again or once) and monotonic() < latest:
        batch = list(islice(waiting, _NAMES_AT_ONCE))
        for name in batch:
            del waiting[name]
        found = read(batch)
        for name in batch:
            files[name], folders[name] = _entries(found.get(name, b""), len(name) // 2)
        for below in (below for name in batch for below in folders[name]):
            if below in once:
                del once[below]
                again[below] = None
            elif below not in files and below not in again:
                once[below] = None
        if waiting is again and not again and (total := _total(top, files, folders)) > enough:
            return total
    return _total(top, files, folders)


def _total(top: str, files: Mapping[str, int], folders: Mapping[str, list[str]]) -> int:
    """The files below ``top``. No folder is inside itself, since its name is the hash of what it names."""
    known: dict[str, int] = {}
    waiting = [top]
    while waiting:
        name = waiting[-1]
        missing = [below for below in folders.get(name, ()) if below not in known]
        if missing:
            waiting += missing
        else:
            known[waiting.pop()] = files.get(name, 0) + sum(known[below] for below in folders.get(name, ()))
    return known[top]


def _entries(content: bytes, size: int) -> tuple[int, list[str]]:
    """The number of files in the content of a tree object, and the names of its folders' objects, of ``size``
    bytes each: entries are a mode, a space, a name, a null byte and the object."""
    files, folders = 0, []
    at = 0
    while (end := content.find(b"\0", at)) >= 0:
        mode = content[at:end].partition(b" ")[0]
        at = end + 1 + size
        if mode.lstrip(b"0") == _FOLDER:
            folders.append(content[end + 1 : at].hex())
        else:
            files += 1
    return files, folders
