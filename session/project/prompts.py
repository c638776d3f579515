"""What the user typed in a project: the draft that was not sent yet, and the prompts of all sessions."""

from __future__ import annotations

import json
from pathlib import Path

from session.storage.line_files import StoreError, append_line
from session.storage.private_files import replace_private
from session.text.sanitize import clean


class Draft:
    """The unsent text of the composer, kept through every end."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "draft.txt"

    def read(self) -> str:
        """The kept draft, or an empty text; what a terminal would act on in it is made visible."""
        try:
            text = self._file.read_bytes().decode("utf-8", errors="replace")
            return "\r".join(clean(part) for part in text.split("\r"))
        except FileNotFoundError:
            return ""
        except OSError as problem:
            raise StoreError(f"cannot read the draft {self._file}: {problem.strerror}") from problem

    def write(self, text: str) -> None:
        """Keep ``text`` in place of the old draft; an empty text removes it."""
        try:
            if not text:
                self._file.unlink(missing_ok=True)
                return
            replace_private(self._file, text.encode("utf-8", errors="replace"))
        except OSError as problem:
            raise StoreError(f"cannot keep the draft in {self._file}: {problem.strerror}") from problem


class PromptHistory:
    """The prompts of all sessions of a project, for the composer's history: one JSON string a line."""

    LONGEST = 500
    """Prompts that are read back; older ones stay in the file."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "prompts.jsonl"

    def read(self) -> list[str]:
        """The last prompts, oldest first; one given twice in a row is there once."""
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
        """Append ``prompt``; raises StoreError when the disk does not take it."""
        append_line(self._file, json.dumps(prompt).encode("ascii"))
