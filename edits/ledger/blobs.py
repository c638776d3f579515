"""Contents kept by their hash: compressed, written once, shared by all that hold the same bytes."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from pathlib import Path

from edits.files.atomic import replacing
from edits.files.text import FileError, digest
from edits.hunk import RefusalCode

# Speed matters more than size here: a pre-image is kept before each first write to a file.
_LEVEL = 1


class Blobs:
    """A folder of contents; each file is named by the SHA-256 of what it holds, uncompressed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, sha256: str) -> bool:
        """Is the content with this digest kept?"""
        return self._path(sha256).exists()

    def keep(self, data: bytes) -> str:
        """Make ``data`` durable, and return its digest. Raises OSError when it cannot be written."""
        sha256 = digest(data)
        path = self._path(sha256)
        if path.exists():
            return sha256
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            file.write(zlib.compress(data, _LEVEL))
        return sha256

    def get(self, sha256: str) -> bytes:
        """The content with this digest. Raises FileError when it is not kept, or damaged."""
        try:
            data = zlib.decompress(self._path(sha256).read_bytes())
        except FileNotFoundError as error:
            raise FileError(RefusalCode.IO, "the ledger does not hold this content") from error
        except (OSError, zlib.error) as error:
            raise FileError(RefusalCode.IO, f"the ledger's copy is damaged: {error}") from error
        if digest(data) != sha256:
            raise FileError(RefusalCode.IO, "the ledger's copy is damaged: its hash is wrong")
        return data

    def size(self, sha256: str) -> int:
        """What a content takes on disk, in bytes; 0 when it is not kept."""
        try:
            return self._path(sha256).stat().st_size
        except FileNotFoundError:
            return 0

    def sweep(self, wanted: Collection[str], before: float) -> None:
        """Delete the contents that are not ``wanted`` and were kept before a Unix time."""
        for path in self._folder.glob("??/*"):
            try:
                if path.parent.name + path.name not in wanted and path.stat().st_mtime < before:
                    path.unlink()
            except FileNotFoundError:
                continue

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256[2:]
