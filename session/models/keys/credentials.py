"""Finds a provider's key in the first place that has one: its environment variable, the user's key command,
or a row of ``credentials.toml``, which holds the key or says that the system keyring has it.

While spark starts, only the environment and the file are read. A command or a keyring may take seconds and
ask the user something, so such a key is fetched when the connection first dials.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from session.base.text.masking import remember
from session.models.catalogue import Provider
from session.models.keys import system_keyring
from session.models.keys.key_command import CommandError, ask_command, program
from session.models.keys.key_file import FILE_NAME, KeyFile, KeyFileError

__all__ = ["FILE_NAME", "CredentialsError", "Key", "KeyPlace", "KeySupply", "check_form", "find_key"]

KEYRING = "the system keyring"
NO_COMMANDS: Mapping[str, tuple[str, ...]] = {}


class CredentialsError(Exception):
    """A key cannot be read from where it should be; the message says what to do and never shows the key."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and its source. The secret is kept out of the repr, and so out of logs."""

    secret: str = field(repr=False)
    source: str

    def __post_init__(self) -> None:
        remember(self.secret)


@dataclass(frozen=True, slots=True)
class KeyPlace:
    """A slow source of a key: ``command``, or the system keyring without one."""

    provider: str
    source: str
    command: tuple[str, ...] = field(default=(), repr=False)

    async def fetch(self, *, again: bool = False) -> Key:
        """The key; ``again`` asks anew after the last one was rejected. Raises CredentialsError."""
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

    ``commands`` are those of ``config.toml``. Nothing is run, and the file is not opened when the environment
    has the key. Raises CredentialsError for a file that others can read or that is damaged, and for a value
    that cannot be a key.
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
    """Return ``secret``. Raises CredentialsError, without showing it, if it cannot be a key."""
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialsError(
            f"the key in {source} contains a character that no key has; "
            "was something else pasted with it? Set it again"
        )
    return secret


@dataclass(slots=True)
class KeySupply:
    """One provider's key during a session: fetched once, and again when it has expired."""

    provider: Provider
    config: Path
    environ: Mapping[str, str] = field(repr=False)
    commands: Mapping[str, tuple[str, ...]] = field(repr=False)
    _given: str | None = field(default=None, repr=False)
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def at_hand(self) -> Key | KeyPlace | None:
        """The result of :func:`find_key`; a key that needs no fetching counts as handed out."""
        found = find_key(self.provider, self.config, self.environ, self.commands)
        if isinstance(found, Key):
            self._given = found.secret
        return found

    async def first(self) -> str | None:
        """The key, fetched if necessary; None if there is none. Raises CredentialsError."""
        return await self._ask(again=False)

    async def refresh(self) -> str | None:
        """A newer key than the last one handed out, or None if its source has no other.

        The command runs again, the file and the keyring are read again; an environment variable cannot change
        during a session. Raises CredentialsError.
        """
        before = self._given
        secret = await self._ask(again=True)
        return None if secret == before else secret

    async def _ask(self, *, again: bool) -> str | None:
        # Two connections may dial at once, but the user should be asked once.
        async with self._asking:
            if self._given is not None and not again:
                return self._given
            found = await asyncio.to_thread(find_key, self.provider, self.config, self.environ, self.commands)
            if isinstance(found, KeyPlace):
                found = await found.fetch(again=again)
            self._given = found.secret if found is not None else None
            return self._given
