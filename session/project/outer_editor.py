"""An editor outside of spark that has files of the project open, perhaps with unsaved text.

What it has and what is on disk are made one before a hunk lands and after: the hunk is placed in what the
user sees, and what the user typed meanwhile stays.
"""

from __future__ import annotations

from typing import Protocol

from edits.files.merge import merge3
from session.project.open_files import FileProblem, OpenFile, ProjectFiles


class OuterEditor(Protocol):
    """The editor's side. Both methods are called in the edit thread, and wait."""

    def read(self, path: str) -> str | None:
        """The text that the editor has of ``path``; None where it does not tell."""
        ...

    def write(self, path: str, text: str) -> None:
        """Give the editor the text of ``path``, which it also saves."""
        ...


class OuterTexts:
    """Keeps the files of the project and the texts of an outer editor the same, in the edit thread."""

    def __init__(self, editor: OuterEditor, files: ProjectFiles) -> None:
        self._editor = editor
        self._files = files
        self._agreed: dict[str, str] = {}
        """The text of each file that was the same on both sides when last looked at."""

    def before(self, path: str) -> None:
        """Save what is typed and not saved in ``path``, where the file does not contradict it."""
        opened = self._open(path)
        typed = self._typed(opened)
        if opened is None or typed is None:
            return
        if typed != opened.text:
            merged = merge3(self._agreed.get(opened.path, opened.text), typed, opened.text)
            if merged.conflicts or not self._save(opened, merged.text):
                return
            typed = merged.text
        self._agreed[opened.path] = typed

    def after(self, path: str) -> None:
        """Show the editor what ``path`` says now. Where what was typed meanwhile contradicts it, nothing is
        done: the editor then has unsaved text in a file that changed on disk, and asks its user."""
        opened = self._open(path)
        typed = self._typed(opened)
        if opened is None or typed is None or opened.path not in self._agreed:
            return
        text = opened.text
        if typed != text:
            merged = merge3(self._agreed[opened.path], typed, text)
            if merged.conflicts:
                return
            text = merged.text
            self._editor.write(opened.path, text)
        self._agreed[opened.path] = text

    def _open(self, path: str) -> OpenFile | None:
        try:
            return self._files.open(path)
        except FileProblem:
            return None

    def _typed(self, opened: OpenFile | None) -> str | None:
        text = self._editor.read(opened.path) if opened is not None else None
        return None if text is None else text.replace("\r\n", "\n")

    def _save(self, opened: OpenFile, text: str) -> bool:
        try:
            self._files.save_here(opened, text)
        except FileProblem:
            return False
        return True
