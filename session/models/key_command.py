"""Keys from the user's own commands, such as a password manager: ``[keys]`` in ``config.toml``.

[keys]
openai = { command = ["pass", "show", "openai"] }
groq = { command = "op read op://private/groq/key" }
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from session.base.text.tables import TableError
from session.models.system_keyring import ChildError, run_child

SECONDS = 10.0
"""The time limit of a command; some ask the user for a fingerprint or a password first."""

_kept: dict[tuple[str, ...], str] = {}
"""The keys that commands have printed; running one again may ask the user again."""


class CommandError(Exception):
    """A command gave no key; the message shows nothing of its output."""


def read_commands(values: Any) -> dict[str, tuple[str, ...]]:
    """The words of each provider's command. A string is split as a shell would; no shell ever runs it.

    Raises TableError, which shows no value: it may be the key itself.
    """
    if not isinstance(values, Mapping):
        raise TableError("[keys] must be a table")
    return {name: _words(name, row) for name, row in values.items()}


def _words(name: str, row: Any) -> tuple[str, ...]:
    if not isinstance(row, Mapping) or set(row) != {"command"}:
        raise TableError(
            f'[keys] {name} must name a command, as in {name} = {{ command = ["pass", "show", "{name}"] }}; '
            f"a key itself is stored by: spark login {name}"
        )
    command = row["command"]
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        raise TableError(f"[keys] {name}: a quotation mark in the command is not closed") from None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise TableError(f"[keys] {name}: command must be a string, or a list of strings")
    if not words[0].strip():
        raise TableError(f"[keys] {name}: the command names no program")
    try:
        return (str(Path(words[0]).expanduser()), *words[1:])
    except RuntimeError:
        raise TableError(f"[keys] {name}: the command begins with an unknown user's ~") from None


def program(words: tuple[str, ...]) -> str:
    """The command as messages name it: only its program, since an argument may be a secret."""
    return Path(words[0]).name


async def ask_command(words: tuple[str, ...], *, again: bool = False, seconds: float = SECONDS) -> str:
    """The first line that the command prints, stripped; it is kept for the next call.

    ``again`` runs the command once more. Raises CommandError if it fails, is too slow, or prints nothing.
    """
    if again:
        _kept.pop(words, None)
    if words in _kept:
        return _kept[words]
    name = program(words)
    try:
        ended = await run_child(words, seconds=seconds)
    except ChildError as problem:
        raise CommandError(f"the key command {name!r} {problem}") from None
    if ended.code != 0:
        how = f"ended with exit code {ended.code}" if ended.code > 0 else f"was ended by signal {-ended.code}"
        raise CommandError(f"the key command {name!r} {how}; run it by hand to see why")
    try:
        lines = ended.output.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise CommandError(f"the key command {name!r} printed no text") from None
    first = lines[0].strip() if lines else ""
    if not first:
        raise CommandError(f"the key command {name!r} printed nothing on its first line")
    _kept[words] = first
    return first
