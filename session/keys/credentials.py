"""The provider's key, from the first place that has one: its environment variable, a command of the
user's, or a row of ``credentials.toml``, which holds the key or says that the system keyring does.

Only the environment and the file are looked at while spark starts. A command or a keyring may take
seconds, and wait for a person: such a key is fetched when the connection first dials.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from session.keys import system_keyring
from session.keys.key_command import CommandError, ask_command, program
from session.keys.key_file import FILE_NAME, KeyFile, KeyFileError
from session.models.catalogue import Provider
from session.text.masking import remember

__all__ = ["FILE_NAME", "CredentialsError", "Key", "KeyPlace", "KeySupply", "check_form", "find_key"]

KEYRING = "the system keyring"
NO_COMMANDS: Mapping[str, tuple[str, ...]] = {}


class CredentialsError(Exception):
    """A key cannot be had where it should be; the message says what to do, and shows none of it."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and where it came from. Its text never shows in a repr, and so in no log."""

    secret: str = field(repr=False)
    source: str

    def __post_init__(self) -> None:
        remember(self.secret)


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """Where a key can be fetched, at a cost: ``command`` is run, or without one the keyring is asked."""

    provider: str
    source: str
    command: tuple[str, ...] = field(default=(), repr=False)

    async def fetch(self, *, again: bool = False) -> Key:
        """The key; ``again`` where the one given before is no longer good. Raises CredentialsError."""
        if self.command:
            try:
                secret = await ask_command(self.command, again=again)
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


def find_key(
    provider: Provider,
    config: Path,
    environ: Mapping[str, str],
    commands: Mapping[str, tuple[str, ...]] = NO_COMMANDS,
) -> Key | KeyPlace | None:
    """The key for ``provider``, the place to fetch it from, or None where none is set.

    ``commands`` are those of ``config.toml``. Runs nothing, and looks no further than it must: with
    the key in the environment no file is opened. Raises CredentialsError for a file that others can
    read or that cannot be understood, and for a key that is none.
    """
    value = environ.get(provider.key_variable, "").strip() if provider.key_variable else ""
    if value:
        return Key(check_form(value, provider.key_variable), provider.key_variable)
    command = commands.get(provider.name)
    if command:
        return KeyPlace(provider.name, f"the command {program(command)}", command)
    file = KeyFile(config)
    try:
        if file.points_to_keyring(provider.name):
            return KeyPlace(provider.name, KEYRING)
        secret = file.read(provider.name)
    except KeyFileError as problem:
        raise CredentialsError(str(problem)) from None
    return Key(check_form(secret, str(file.path)), str(file.path)) if secret else None


def check_form(secret: str, source: str) -> str:
    """``secret``; raises CredentialsError, which does not show it, if no key looks like that."""
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialsError(
            f"the key in {source} holds a character that no key has; "
            "was something else pasted with it? Set it again"
        )
    return secret


@dataclass(slots=True)
class KeySupply:
    """One provider's key for as long as a session runs: fetched once, and again when it has expired."""

    provider: Provider
    config: Path
    environ: Mapping[str, str] = field(repr=False)
    commands: Mapping[str, tuple[str, ...]] = field(repr=False)
    _given: str | None = field(default=None, repr=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def at_hand(self) -> Key | KeyPlace | None:
        """What :func:`find_key` finds now; a key that needs no fetching counts as given out."""
        found = find_key(self.provider, self.config, self.environ, self.commands)
        if isinstance(found, Key):
            self._given = found.secret
        return found

    async def first(self) -> str | None:
        """The key, fetched if it has to be; None where there is none. Raises CredentialsError."""
        return await self._ask(again=False)

    async def refresh(self) -> str | None:
        """A newer key than the one given out last, or None where its place has no other.

        The command is run again, the file and the keyring are read again; a variable of the
        environment cannot change any more. Raises CredentialsError.
        """
        before = self._given
        secret = await self._ask(again=True)
        return None if secret == before else secret

    async def _ask(self, *, again: bool) -> str | None:
        # Two connections may dial at once; the person is asked once.
        async with self._asking:
            if self._given is not None and not again:
                return self._given
            found = await asyncio.to_thread(find_key, self.provider, self.config, self.environ, self.commands)
            if isinstance(found, KeyPlace):
                found = await found.fetch(again=again)
            self._given = found.secret if found is not None else None
            return self._given
