"""Memory that the processes of a sandbox share: mappings, files in memory, and segments of System V.

The kernel does not say whose it is, so it is looked for only while the machine's shared memory has grown by
more than the limit. Sources: proc(5), memfd_create(2), shmget(2). It imports what ``namespaces.py`` may
import.
"""

from __future__ import annotations

import os

from session.checks.sandbox import kernel

_SEGMENT_BYTES = 14
"""The column of /proc/sysvipc/shm with the bytes of a segment that are in memory."""


def on_machine(processes: int) -> int:
    """The bytes of shared memory on the whole machine; ``processes`` is a descriptor of /proc."""
    return _kilobytes(_read(processes, "meminfo"), b"Shmem:")


def used(processes: int, members: list[int], grown: int) -> int:
    """The bytes that the processes ``members`` share, some perhaps counted twice. Where one has mounts of its
    own, which cannot be seen from here, it is all that the machine's shared memory has ``grown`` by."""
    total, files, mounts = _mounted() + _segments(processes), dict[tuple[int, int], int](), set[str]()
    for member in members:
        with kernel.Suppressed(OSError, ValueError):
            mounts.add(os.readlink(f"{member}/ns/mnt", dir_fd=processes))
            total += _kilobytes(_read(processes, f"{member}/status"), b"RssShmem:")
            files.update(_files(processes, member))
    return grown if len(mounts) > 1 else total + sum(files.values())


def _files(processes: int, member: int) -> dict[tuple[int, int], int]:
    """The files without a name that a process holds in memory, with their bytes."""
    found = {}
    folder = os.open(f"{member}/fd", os.O_RDONLY | os.O_DIRECTORY, dir_fd=processes)
    try:
        for name in os.listdir(folder):
            with kernel.Suppressed(OSError):
                if os.readlink(name, dir_fd=folder).endswith(" (deleted)"):
                    status = os.stat(name, dir_fd=folder)
                    found[status.st_dev, status.st_ino] = status.st_blocks * 512
    finally:
        os.close(folder)
    return found


def _mounted() -> int:
    """The bytes in the sandbox's /dev/shm."""
    status = os.statvfs("/dev/shm")
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def _segments(processes: int) -> int:
    with kernel.Suppressed(OSError, ValueError, IndexError):
        lines = _read(processes, "sysvipc/shm", 1 << 20).splitlines()[1:]
        return sum(int(line.split()[_SEGMENT_BYTES]) for line in lines)
    return 0


def _kilobytes(text: bytes, name: bytes) -> int:
    """The value of the line ``name`` in bytes; 0 where there is none."""
    for line in text.splitlines():
        if line.startswith(name):
            return int(line.split()[1]) << 10
    return 0


def _read(processes: int, path: str, most: int = 8_192) -> bytes:
    descriptor = os.open(path, os.O_RDONLY, dir_fd=processes)
    try:
        return os.read(descriptor, most)
    finally:
        os.close(descriptor)
