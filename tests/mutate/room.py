"""Where a room's code and its tests are."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("edits", "context", "session", "tui", "themes")


@dataclass(frozen=True, slots=True)
class Room:
    """The files whose code is changed and the folders or files whose tests are to notice, all absolute."""

    sources: tuple[Path, ...]
    tests: tuple[Path, ...]


class NoSuchRoomError(Exception):
    """A name is no room, or its tests are not where they should be."""


def find(names: list[str], tests: list[str]) -> Room:
    """The room of the given names, each a folder or a file without its ending, such as ``edits/placing``.

    Without ``tests`` they are those under ``tests`` with the same relative path. Together
    ``edits/landing edits/change`` are one room of two files, whose tests are those that one of the names has.

    Raises:
        NoSuchRoomError: a name has no Python files, or no name has tests.
    """
    sources: list[Path] = []
    beside: list[Path] = []
    for name in names:
        relative = Path(name.removesuffix(".py"))
        folder, file = ROOT / relative, ROOT / relative.with_suffix(".py")
        found = sorted(folder.rglob("*.py")) if folder.is_dir() else [file]
        if not found or not all(path.is_file() for path in found):
            raise NoSuchRoomError(f"{name} is neither a folder with Python files nor a Python file")
        sources += [path for path in found if "sample" not in path.parts]
        mirrored = (
            ROOT / "tests" / relative,
            ROOT / "tests" / relative.with_name(f"test_{relative.name}.py"),
        )
        beside += [path for path in mirrored if path.exists()]
    chosen = [ROOT / path for path in tests] or beside
    missing = [str(path) for path in chosen if not path.exists()]
    if missing or not chosen:
        raise NoSuchRoomError(
            f"no tests at {', '.join(missing) or 'the same path under tests'}: give --tests"
        )
    return Room(tuple(dict.fromkeys(sources)), tuple(dict.fromkeys(chosen)))


def relative(path: Path) -> str:
    """A file's path as it is printed, from the project's folder on."""
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    """The name under which a source file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def fingerprint(room: Room) -> str:
    """A hash of all that decides which test executes which line."""
    digest = hashlib.sha256(sys.version.encode())
    folders = [*(ROOT / name for name in PACKAGES), *(path for path in room.tests if path.is_dir())]
    files = {path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml")}
    files |= {*(ROOT / "tests").glob("*.py"), *(ROOT / "tests").glob("*/*.py"), *room.tests}
    for path in sorted(files):
        if path.is_file():
            digest.update(f"\0{path}\0".encode() + path.read_bytes())
    digest.update("\0".join(map(str, (*room.sources, *room.tests))).encode())
    return digest.hexdigest()[:24]
