"""The file tree that a command in a sandbox sees; built by the first process of the sandbox.

Everything is there and read-only, with these exceptions. The project and the listed caches are overlays
(Linux' overlayfs): what is written goes to a folder of the sandbox. The home folder, and where sockets cannot
be found by name what is no part of the system, are overlays that take nothing, so that no pipe or socket in
them leads outside. Temporary folders are the sandbox's own. Folders with keys, the run-time folders of other
programs and every socket that some program listens on are hidden. ``/dev`` holds only devices without
effects, and ``/proc`` only the sandbox's processes. Runs in the sandbox's own mount namespace, so nothing of
this is seen outside.
"""

from __future__ import annotations

import os
import stat

from session.checks.sandbox import kernel

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    from typing import Any

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_KERNEL_CONTROLS = ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi")
"""The parts of /proc through which user 0 can change the machine."""
_EMPTY = "empty"
"""The folder of the box that is the other layer of what takes nothing."""
_LISTENING = "00010000"
"""The flag of a listening socket in /proc/net/unix."""


def bound_sockets() -> tuple[list[str], bool]:
    """The paths of the sockets that programs on this machine listen on, and whether there are sockets under
    other names than those that they were bound by: relative ones, and renamed ones."""
    paths = []
    unplaced = False
    with open("/proc/net/unix", encoding="utf-8", errors="surrogateescape") as lines:
        next(lines, "")  # the names of the columns
        for line in lines:
            columns = line.split(None, 7)
            name = columns[7].rstrip("\n") if len(columns) == 8 else "@"
            if columns[3:4] == [_LISTENING] and name.startswith("/"):
                paths.append(name)
            placed = name.startswith("@") or (name.startswith("/") and os.path.lexists(name))
            unplaced = unplaced or not placed
    return paths, unplaced


def build(plan: dict[str, Any], sockets: list[str], *, unplaced: bool) -> None:
    """Build the tree for ``plan``. ``sockets`` are covered; where there are ``unplaced`` ones, folders
    elsewhere are overlays too. Raises OSError if the kernel refuses a part of it that is needed."""
    kernel.mount("", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    project = plan["project"]
    box = plan["box"]
    # A layer may not lie in another, and the box may lie in the home folder: another file system does not.
    kernel.mount("tmpfs", _folder_path(box, _EMPTY), "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "size=4k")
    home: dict[str, int] = {}
    for number, folder in enumerate((*(plan["elsewhere"] if unplaced else ()), plan["home"])):
        if folder and folder not in home:
            home |= _homes(folder, box, f"home{number}-")
    overlays = {project: _overlay(project, box, "project")}
    for number, cache in enumerate(plan["caches"]):
        with kernel.Suppressed(OSError):  # a cache that cannot be an overlay stays read-only
            overlays[cache] = _overlay(cache, box, f"cache{number}")
    shown = {path: os.open(path, os.O_PATH) for path in plan["shown"] if os.path.isdir(path)}
    temporary = _folder(os.path.join(box, "tmp"))
    devices = _devices(box)
    kernel.set_mount("/", set_flags=kernel.READ_ONLY, recursive=True)
    for path, descriptor in home.items():
        _show(descriptor, path)
        kernel.set_mount(path, set_flags=kernel.READ_ONLY | kernel.NO_SUID | kernel.NO_DEVICES)
    for path in plan["run_time"]:
        _cover(path)
    for path in plan["temporary"]:
        if os.path.isdir(path) and not os.path.islink(path):
            _bind(temporary, path)
            kernel.set_mount(path, clear_flags=kernel.READ_ONLY)
    _bind(devices, "/dev")
    kernel.set_mount("/dev/shm", clear_flags=kernel.READ_ONLY)
    for path, descriptor in shown.items():
        _show(descriptor, path)
    for path, descriptor in overlays.items():
        _show(descriptor, path)
        kernel.set_mount(path, clear_flags=kernel.READ_ONLY, set_flags=kernel.NO_SUID | kernel.NO_DEVICES)
    for path in plan["gone"]:
        with kernel.Suppressed(FileNotFoundError, NotADirectoryError):
            os.unlink(os.path.join(project, path))
    # Covers come last: the project or a cache may hold keys, and another mount would show them again.
    for path in (*plan["hidden"], *sockets):
        _cover(path)
    _own_processes()
    for descriptor in (*home.values(), *shown.values(), *overlays.values(), temporary, devices):
        os.close(descriptor)


def _homes(home: str, box: str, name: str) -> dict[str, int]:
    """Overlays of a folder and of what is mounted below it. A socket or pipe that is seen through an
    overlay is another one than that of the programs outside, under whatever name they made it: nothing
    listens there. A file system that cannot be under an overlay is shown as it is."""
    found = {}
    for number, path in enumerate((home, *_mounted_below(home))):
        try:
            found[path] = _closed_overlay(path, box, f"{name}{number}")
        except OSError:
            if number == 0:
                return {}  # then all of it is read-only, as it is mounted
            with kernel.Suppressed(OSError):
                found[path] = os.open(path, os.O_PATH)
    return found


def _mounted_below(folder: str) -> list[str]:
    """Where file systems are mounted below ``folder``, the outer ones first (proc(5), mountinfo)."""
    found = set()
    with open("/proc/self/mountinfo", "rb") as lines:
        for line in lines:
            path = os.fsdecode(_unescaped(line.split()[4]))
            if path.startswith(f"{folder}/") and os.path.isdir(path):
                found.add(path)
    return sorted(found)


def _unescaped(path: bytes) -> bytes:
    """``path`` of mountinfo: blanks, tabs, ends of lines and backslashes are octal there."""
    for code in (b"\\040", b"\\011", b"\\012", b"\\134"):
        path = path.replace(code, bytes([int(code[1:], 8)]))
    return path


def size(folder: int, enough: int) -> int:
    """The bytes on disk below the folder open as ``folder``; stops counting at ``enough``."""
    total = 0
    for _, folders, files, descriptor in os.fwalk(".", dir_fd=folder, onerror=lambda _: None):
        for name in (*files, *folders):
            with kernel.Suppressed(OSError):
                total += os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_blocks * 512
        if total > enough:
            break
    return total


def count(folder: int, enough: int) -> int:
    """The files and folders below the folder open as ``folder``; stops counting at ``enough``."""
    total = 0
    for _, folders, files, _ in os.fwalk(".", dir_fd=folder, onerror=lambda _: None):
        total += len(files) + len(folders)
        if total > enough:
            break
    return total


def _overlay(lower: str, box: str, name: str) -> int:
    """Mount an overlay of ``lower`` in the sandbox's folder, and return a descriptor of it."""
    upper, work, merged = (os.path.join(box, name, part) for part in ("upper", "work", "merged"))
    for folder in (upper, work, merged):
        os.makedirs(folder, exist_ok=True)
    layers = {"lowerdir": lower, "upperdir": upper, "workdir": work}
    options = ",".join(f"{key}={_escaped(path)}" for key, path in layers.items())
    kernel.mount("overlay", merged, "overlay", options=f"{options},userxattr")
    return os.open(merged, os.O_PATH)


def _closed_overlay(lower: str, box: str, name: str) -> int:
    """Like :func:`_overlay`, for a folder that takes nothing, which is made in a tenth of the time."""
    empty, merged = os.path.join(box, _EMPTY), os.path.join(box, name)
    os.makedirs(merged, exist_ok=True)
    layers = f"lowerdir={_escaped(lower)}:{_escaped(empty)}"
    kernel.mount("overlay", merged, "overlay", options=f"{layers},userxattr")
    return os.open(merged, os.O_PATH)


def _escaped(path: str) -> str:
    """``path`` as overlayfs reads it: commas and backslashes escaped, and colons, which divide layers."""
    return "".join(f"\\{character}" if character in "\\,:" else character for character in path)


def _devices(box: str) -> int:
    """Make the sandbox's /dev, and return a descriptor of it."""
    folder = os.path.join(box, "dev")
    os.makedirs(folder, exist_ok=True)
    kernel.mount("tmpfs", folder, "tmpfs", kernel.NO_SUID, "mode=755,size=64k")
    for name in _DEVICES:
        if os.path.exists(f"/dev/{name}"):
            os.close(os.open(f"{folder}/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
            kernel.mount(f"/dev/{name}", f"{folder}/{name}", flags=kernel.BIND)
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        os.symlink(f"/proc/self/fd{target}", f"{folder}/{name}")
    os.mkdir(f"{folder}/shm")
    kernel.mount("tmpfs", f"{folder}/shm", "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=1777,size=50%")
    os.mkdir(f"{folder}/pts")
    kernel.mount("devpts", f"{folder}/pts", "devpts", kernel.NO_SUID, "newinstance,ptmxmode=0666,mode=620")
    os.symlink("pts/ptmx", f"{folder}/ptmx")
    return os.open(folder, os.O_PATH)


def _folder_path(*parts: str) -> str:
    path = os.path.join(*parts)
    os.makedirs(path, exist_ok=True)
    return path


def _folder(path: str) -> int:
    return os.open(_folder_path(path), os.O_PATH)


def _own_processes() -> None:
    flags = kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC
    kernel.mount("proc", "/proc", "proc", flags)
    for name in _KERNEL_CONTROLS:
        path = f"/proc/{name}"
        if os.path.exists(path):
            kernel.mount(path, path, flags=kernel.BIND | kernel.RECURSIVE)
            kernel.set_mount(path, set_flags=kernel.READ_ONLY, recursive=True)


def _cover(path: str) -> None:
    """Hide what is at ``path``: a folder is empty then, and anything else reads as empty."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return
    if stat.S_ISDIR(mode):
        kernel.mount("tmpfs", path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, "mode=755,size=64k")
    elif not stat.S_ISLNK(mode):
        kernel.mount("/dev/null", path, flags=kernel.BIND)


def _show(descriptor: int, path: str) -> None:
    """Mount the folder open as ``descriptor`` at ``path``, where a cover may have hidden it."""
    os.makedirs(path, exist_ok=True)
    _bind(descriptor, path)


def _bind(descriptor: int, path: str) -> None:
    kernel.mount(f"/proc/self/fd/{descriptor}", path, flags=kernel.BIND | kernel.RECURSIVE)
