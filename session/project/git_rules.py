"""What git says of files that are not in the work tree: the ends of a new one's lines, and what is left out.

Asked of git itself, and only where a file is new or missing. Without git or a repository there are no rules.
Source: gitattributes(5) for ``text``, ``eol`` and ``core.autocrlf``; git-ls-files(1) for the mark of entries
that a sparse checkout leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context.disk.git import Git

CRLF, LF = "\r\n", "\n"


def line_ending(attributes: Mapping[str, str], autocrlf: str, eol: str) -> str | None:
    """The line ending that git gives a file in the work tree; None where it leaves it as it is.

    ``attributes`` holds ``text`` and ``eol`` of the file as ``git check-attr`` prints them; ``autocrlf`` and
    ``eol`` are the values of ``core.autocrlf`` and ``core.eol``, empty where they are not set.
    """
    text, named = attributes.get("text", "unspecified"), attributes.get("eol", "unspecified")
    if text == "unset":
        return None
    if named in ("crlf", "lf"):
        return CRLF if named == "crlf" else LF
    autocrlf = autocrlf.lower()
    if autocrlf in ("true", "yes", "on", "1"):
        return CRLF
    if text in ("set", "auto"):
        return CRLF if autocrlf != "input" and eol.lower() == "crlf" else LF
    return LF if autocrlf == "input" else None


class GitRules:
    """The rules of the project at ``root``. Called in the edit thread."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _git(self) -> Git | None:
        from context.disk.git import Git, GitUnavailable

        try:
            return Git.open(self._root)
        except GitUnavailable:
            return None

    def newline(self, path: str) -> str | None:
        """The line ending of a new file; None where nothing is said."""
        printed = self._asked(lambda git: git.run("check-attr", "-z", "text", "eol", "--", path))
        fields = printed.decode("utf-8", "replace").split("\0")
        attributes = dict(zip(fields[1::3], fields[2::3], strict=False))
        return line_ending(attributes, self._setting("core.autocrlf"), self._setting("core.eol"))

    def left_out(self, path: str) -> str:
        """Why a file that git knows is not in the work tree; empty for others."""
        listed = self._asked(lambda git: git.run("ls-files", "-t", "-z", "--", path))
        if not listed.startswith(b"S "):
            return ""
        folder = path.rpartition("/")[0] or path
        return (
            f"{path} is in git, but a sparse checkout leaves it out of this folder; "
            f"`git sparse-checkout add '{folder}'` brings it"
        )

    def _setting(self, name: str) -> str:
        return (
            self._asked(lambda git: git.ask("config", "--get", name) or b"")
            .decode("utf-8", "replace")
            .strip()
        )

    def _asked(self, ask: Callable[[Git], bytes]) -> bytes:
        """The answer of git; nothing where it gives none."""
        from context.disk.git import GitUnavailable

        if self._git is None:
            return b""
        try:
            return ask(self._git)
        except GitUnavailable:
            return b""
