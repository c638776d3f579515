"""Contents of files, kept under their hash: compressed, and each of them only once."""

from __future__ import annotations

import zlib
from collections.abc import Collection
from pathlib import Path

from edits.files.replacing import make_folder, replacing
from edits.files.text import FileError, digest
from edits.hunk import RefusalCode

# Speed matters more than size: a content is kept before the first write to each file.
_LEVEL = 1


class Blobs:
    """A folder of contents. Each file's name is the SHA-256 of its uncompressed content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def has(self, sha256: str) -> bool:
        """Whether the content with this digest is kept."""
        return self._path(sha256).exists()

    def keep(self, data: bytes) -> str:
        """Make ``data`` durable and return its digest. Raises OSError if it cannot be written."""
        sha256 = digest(data)
        path = self._path(sha256)
        if self._is_whole(sha256):
            return sha256
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(zlib.compress(data, _LEVEL))
        return sha256

    def _is_whole(self, sha256: str) -> bool:
        try:
            self.get(sha256)
        except FileError:
            return False
        return True

    def get(self, sha256: str) -> bytes:
        """The content with this digest. Raises FileError if it is not kept, or is damaged."""
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
        """The bytes that a content takes on disk; 0 if it is not kept."""
        try:
            return self._path(sha256).stat().st_size
        except FileNotFoundError:
            return 0

    def sweep(self, wanted: Collection[str], before: float) -> None:
        """Delete the contents that are not ``wanted`` and are older than a Unix time."""
        for path in self._folder.glob("??/*"):
            try:
                if path.parent.name + path.name not in wanted and path.stat().st_mtime < before:
                    path.unlink()
            except FileNotFoundError:
                continue

    def _path(self, sha256: str) -> Path:
        return self._folder / sha256[:2] / sha256[2:]
