"""Stores what the user types in a project: the unsent draft, and the prompts of all sessions."""

from __future__ import annotations

import json
from pathlib import Path

from session.storage.line_files import StoreError, append_line
from session.storage.private_files import replace_private
from session.text.sanitize import clean


class Draft:
    """The unsent text of the composer, which survives every end of spark."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "draft.txt"

    def read(self) -> str:
        """The stored draft, or an empty text. Control characters in it are made visible.

        Raises StoreError if it cannot be read.
        """
        try:
            text = self._file.read_bytes().decode("utf-8", errors="replace")
            return "\r".join(clean(part) for part in text.split("\r"))
        except FileNotFoundError:
            return ""
        except OSError as problem:
            raise StoreError(f"cannot read the draft {self._file}: {problem.strerror}") from problem

    def write(self, text: str) -> None:
        """Store ``text`` in place of the old draft; an empty text removes it. Raises StoreError."""
        try:
            if not text:
                self._file.unlink(missing_ok=True)
                return
            replace_private(self._file, text.encode("utf-8", errors="replace"))
        except OSError as problem:
            raise StoreError(f"cannot store the draft in {self._file}: {problem.strerror}") from problem


class PromptHistory:
    """The prompts of all sessions of a project, for the composer's history: one JSON string a line."""

    LONGEST = 500
    """Most prompts that are read; older ones stay in the file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "prompts.jsonl"

    def read(self) -> list[str]:
        """The last prompts, oldest first, without repetitions in a row. Raises StoreError."""
        try:
            lines = self._file.read_bytes().splitlines()[-self.LONGEST :]
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise StoreError(f"cannot read the prompts in {self._file}: {problem.strerror}") from problem
        prompts: list[str] = []
        for line in lines:
            try:
                prompt = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(prompt, str) and prompts[-1:] != [prompt]:
                prompts.append(prompt)
        return prompts

    def add(self, prompt: str) -> None:
        """Append ``prompt``. Raises StoreError if it cannot be written."""
        append_line(self._file, json.dumps(prompt).encode("ascii"))
