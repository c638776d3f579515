"""Keys from a command of the user's, such as a password manager: ``[keys]`` in ``config.toml``.

[keys]
openai = { command = ["pass", "show", "openai"] }
groq = { command = "op read op://private/groq/key" }
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from session.keys.children import ChildError, run_child

SECONDS = 10.0
"""How long a command may take: some ask the person for a finger or a password in a window of their own."""

_kept: dict[tuple[str, ...], str] = {}
"""What commands gave in this process: asking twice may mean asking the person twice."""


class CommandError(Exception):
    """The ``[keys]`` table, or one of its commands, cannot be used; the message shows no output."""


def read_commands(table: Any) -> dict[str, tuple[str, ...]]:
    """The command's words by provider. A string is split as a shell would; no shell ever runs it."""
    if not isinstance(table, dict):
        raise CommandError("[keys] must be a table")
    return {name: _words(name, row) for name, row in table.items()}


def _words(name: str, row: Any) -> tuple[str, ...]:
    # The value itself is never shown: somebody may have put the key there.
    if not isinstance(row, dict) or set(row) != {"command"}:
        raise CommandError(
            f'[keys] {name} must name a command, as in {name} = {{ command = ["pass", "show", "{name}"] }}; '
            f"a key itself is stored by: spark login {name}"
        )
    command = row["command"]
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError:
        raise CommandError(f"[keys] {name}: a quotation mark in the command has no other half") from None
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        raise CommandError(f"[keys] {name}: command must be a string, or a list of strings")
    if not words[0].strip():
        raise CommandError(f"[keys] {name}: the command names no program")
    try:
        return (str(Path(words[0]).expanduser()), *words[1:])
    except RuntimeError:
        raise CommandError(f"[keys] {name}: the command begins with an unknown user's ~") from None


def program(words: tuple[str, ...]) -> str:
    """The command in a message: its program alone, since an argument may be telling."""
    return Path(words[0]).name


async def ask_command(words: tuple[str, ...], *, again: bool = False, seconds: float = SECONDS) -> str:
    """The first line that the command prints, without the white space around it; kept for the next call.

    ``again`` runs it once more. Raises CommandError where it fails, is too slow, or prints nothing.
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
