"""The store of pulled models: GGUF files in spark's cache folder, each with a note of its origin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from session.base.storage.folders import cache_folder, private_folder
from session.models.engine.settings import LocalError

SUFFIX = ".gguf"
PART = ".part"
NOTE = ".json"


@dataclass(frozen=True, slots=True)
class Origin:
    """A file's origin: the hub's repository, its name there, its size and its checksum."""

    repository: str
    file: str
    size: int
    sha256: str
    etag: str


@dataclass(frozen=True, slots=True)
class StoredModel:
    """One pulled model; ``size`` in bytes. ``whole`` is false for an interrupted pull."""

    name: str
    file: Path
    size: int
    whole: bool
    origin: Origin | None


class ModelStore:
    """The folder of pulled models."""

    def __init__(self, environ: Mapping[str, str] = os.environ) -> None:
        self.folder = cache_folder(environ) / "models"

    def make(self) -> Path:
        """Return the folder, and create it if it is missing. Raises OSError."""
        return private_folder(self.folder)

    def models(self) -> list[StoredModel]:
        """All models by name, including interrupted pulls."""
        if not self.folder.is_dir():
            return []
        found = []
        for file in sorted(self.folder.iterdir()):
            whole = file.suffix == SUFFIX
            if whole or file.name.endswith(SUFFIX + PART):
                name = file.name.removesuffix(PART).removesuffix(SUFFIX)
                found.append(StoredModel(name, file, file.stat().st_size, whole, self.origin(name)))
        return found

    def find(self, name: str) -> Path | None:
        """The complete file called ``name``, with or without its suffix."""
        if Path(name).name != name:
            return None
        file = self.folder / (name if name.endswith(SUFFIX) else name + SUFFIX)
        return file if file.is_file() else None

    def note(self, name: str) -> Path:
        """The file with the origin of the model ``name``."""
        return self.folder / (name + NOTE)

    def origin(self, name: str) -> Origin | None:
        """The origin of the model ``name``; None without a readable note."""
        try:
            return Origin(**json.loads(self.note(name).read_text("utf-8")))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def keep_origin(self, name: str, origin: Origin) -> None:
        """Write the origin. Raises OSError."""
        self.note(name).write_text(json.dumps(asdict(origin)), "utf-8")

    def remove(self, name: str) -> int:
        """Delete the model ``name`` and any unfinished pull of it; returns the bytes freed.

        Raises LocalError if there is none, OSError if it cannot be deleted.
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
        """The names of the models, as the end of a message."""
        names = [each.name for each in self.models() if each.whole]
        return (
            f"; pulled models: {', '.join(names)}"
            if names
            else "; no model is pulled yet: spark local pull NAME"
        )
