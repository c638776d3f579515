"""The table of the commands that are typed in place of a prompt, such as ``/undo h3``, and reading them."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_ALSO = {"exit": "quit", "clear": "new", "sessions": "resume"}
"""Aliases of commands, as other programs name them."""
_WORD = re.compile(r"/([a-z][a-z-]*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Slash:
    """A command: its name, its argument and its help."""

    name: str
    argument: str
    help: str
    completes: str = ""
    """What Tab completes the argument to: ``files``, or a set that ``values.py`` knows."""
    words: tuple[str, ...] = ()
    """Fixed words that the argument may also be."""
    own: bool = False
    """Whether it is for the process that has the session."""

    @property
    def shown(self) -> str:
        """The command as people write it."""
        return f"/{self.name} {self.argument}".rstrip()


@cache
def slashes() -> tuple[Slash, ...]:
    """All commands, in the order of the help."""
    table = tomllib.loads(Path(__file__).with_name("table.toml").read_text("utf-8"))
    return tuple(
        Slash(
            row["name"],
            row["argument"],
            row["help"],
            row.get("completes", ""),
            tuple(row.get("words", ())),
            row.get("own", False),
        )
        for row in table["command"]
    )


def split_slash(text: str) -> tuple[str, str] | None:
    """Split a command into its name and its argument; None for a prompt. The command may be unknown.
    ``!COMMAND`` is short for ``/run COMMAND``. To send a prompt that looks like a command, begin it with a
    space."""
    if text.strip() == "/":
        return "help", ""
    if text.startswith("!"):
        return "run", text[1:].strip()
    found = _WORD.fullmatch(text.rstrip())
    return (_ALSO.get(found[1], found[1]), (found[2] or "").strip()) if found else None


def hint(draft: str) -> str:
    """The usage and help of the command that ``draft`` begins, or the names it could become; of a command for
    the shell what Enter does; empty where
    ``draft`` is no command."""
    if draft.startswith("!"):
        return "Enter runs it in a shell here · Esc stops it"
    name, space, _ = draft.partition(" ")
    if not name.startswith("/") or "/" in name[1:] or "\n" in draft:
        return ""
    fit = [slash for slash in slashes() if slash.name == name[1:]]
    if not fit and not space:
        fit = [slash for slash in slashes() if slash.name.startswith(name[1:])]
    if len(fit) == 1:
        return f"{fit[0].shown}: {fit[0].help}"
    return " ".join(f"/{slash.name}" for slash in fit)
