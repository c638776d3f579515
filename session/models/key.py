"""A key, and the slow places that keys are fetched from: the user's command, and the system keyring.

The user's commands, such as a password manager's, stand in ``config.toml``::

    [keys]
    openai = { command = ["pass", "show", "openai"] }
    groq = { command = "op read op://private/groq/key" }
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from session.base.text.masking import remember
from session.base.text.tables import TableError
from session.models import system_keyring
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


class CredentialsError(Exception):
    """A key cannot be read from where it should be; the message says what to do and never shows the key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and its source. The secret is kept out of the repr, and so out of logs.

    ``until`` is when it ends, in seconds since 1970; None for a key that holds until it is withdrawn.
    """

    secret: str = field(repr=False)
    source: str
    until: float | None = None

    def __post_init__(self) -> None:
        remember(self.secret)


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """A slow source of a key: ``command``, or the system keyring without one."""

    provider: str
    source: str
    command: tuple[str, ...] = field(default=(), repr=False)

    async def fetch(self, *, refused: str | None = None) -> Key:
        """The key; ``refused`` is the last one, where the server took it no more. Raises CredentialsError."""
        if self.command:
            try:
                secret = await ask_command(self.command, again=refused is not None)
            except CommandError as problem:
                raise CredentialsError(str(problem)) from None
            return Key(check_form(secret, self.source), self.source)
        try:
            kept = await system_keyring.read(self.provider)
        except system_keyring.KeyringError as problem:
            raise CredentialsError(
                f"the key of {self.provider} is in the system keyring, which cannot be used: {problem}"
            ) from None
        if not kept:
            raise CredentialsError(
                f"the system keyring has no key for {self.provider} (any more): spark login {self.provider}"
            )
        return Key(check_form(kept, self.source), self.source)


def check_form(secret: str, source: str) -> str:
    """Return ``secret``. Raises CredentialsError, without showing it, if it cannot be a key."""
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialsError(
            f"the key in {source} contains a character that no key has; "
            "was something else pasted with it? Set it again"
        )
    return secret
