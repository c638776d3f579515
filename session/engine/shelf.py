"""The pulled models: one folder of GGUF files in spark's cache, each with a note of where it came from."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from session.engine.settings import LocalError
from session.storage.folders import cache_folder, private_folder

SUFFIX = ".gguf"
PART = ".part"
NOTE = ".json"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a file came from: the hub's repository, the file's name there, its size and its checksum."""

    repository: str
    file: str
    size: int
    sha256: str
    etag: str


@dataclass(frozen=True, slots=True)
class Shelved:
    """One pulled model; ``size`` in bytes. ``whole`` is false for a pull that was interrupted."""

    name: str
    file: Path
    size: int
    whole: bool
    origin: Origin | None


class Shelf:
    """The folder of pulled models."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.folder = cache_folder(environ) / "models"

    def make(self) -> Path:
        """The folder, made where it is missing. Raises OSError."""
        return private_folder(self.folder)

    def models(self) -> list[Shelved]:
        """What is there, by name; interrupted pulls among it."""
        if not self.folder.is_dir():
            return []
        found = []
        for file in sorted(self.folder.iterdir()):
            whole = file.suffix == SUFFIX
            if whole or file.name.endswith(SUFFIX + PART):
                name = file.name.removesuffix(PART).removesuffix(SUFFIX)
                found.append(Shelved(name, file, file.stat().st_size, whole, self.origin(name)))
        return found

    def find(self, name: str) -> Path | None:
        """The whole file called ``name``, with or without its ending."""
        if Path(name).name != name:
            return None
        file = self.folder / (name if name.endswith(SUFFIX) else name + SUFFIX)
        return file if file.is_file() else None

    def note(self, name: str) -> Path:
        """The note beside the model ``name``."""
        return self.folder / (name + NOTE)

    def origin(self, name: str) -> Origin | None:
        """Where the model ``name`` came from; None without a note that can be read."""
        try:
            return Origin(**json.loads(self.note(name).read_text("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def keep_origin(self, name: str, origin: Origin) -> None:
        """Write the note. Raises OSError."""
        self.note(name).write_text(json.dumps(asdict(origin)), "utf-8")

    def remove(self, name: str) -> int:
        """Delete the model ``name``, its unfinished pull too; returns the bytes set free.

        Raises LocalError when there is none, OSError where it cannot be deleted.
        """
        name = name.removesuffix(SUFFIX)
        gone = [each for each in self.models() if each.name == name]
        if not gone:
            raise LocalError(f"no pulled model is called {name!r}{self.said()}")
        for each in gone:
            each.file.unlink()
        self.note(name).unlink(missing_ok=True)
        return sum(each.size for each in gone)

    def said(self) -> str:
        """The names that are there, as the end of a message."""
        names = [each.name for each in self.models() if each.whole]
        return f"; pulled are {', '.join(names)}" if names else "; none is pulled yet: spark local pull NAME"
