"""Stores a copied text in a file, for terminals without a clipboard."""

from __future__ import annotations

from pathlib import Path

from session.base.storage.line_files import StoreError
from session.base.storage.private_files import replace_private


class CopiedText:
    """The text that was copied last; an earlier one is replaced."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "copied.txt"

    def write(self, text: str) -> Path:
        """Store ``text`` and return its file. Raises StoreError."""
        try:
            replace_private(self._file, text.encode("utf-8", errors="replace"))
        except OSError as problem:
            raise StoreError(f"cannot store the copied text in {self._file}: {problem.strerror}") from problem
        return self._file
