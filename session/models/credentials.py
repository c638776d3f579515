"""Finds a provider's key in the first place that has one: its environment variable, the user's key command,
or a row of ``credentials.toml``, which holds the key or says that the system keyring has it. Where a plan is
signed in to, its account is the only place.

While spark starts, only the environment and the file are read. A command or a keyring may take seconds and
ask the user something, so such a key is fetched when the connection first dials.

``credentials.toml`` has one row per provider and is readable only by its user. A row says that the system
keyring has the key, so that no start asks a keyring for nothing:

    openai = "sk-..."
    groq = { keyring = true }
"""

from __future__ import annotations

import asyncio
import json
import re
import stat
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from session.base.storage.private_files import changed_alone, open_to_read, replace_private
from session.models.catalogue import Provider
from session.models.key import CredentialsError, Key, KeyPlace, check_form, program
from session.models.sign_in.plan import accounts_file

FILE_NAME = "credentials.toml"
IN_KEYRING = "{ keyring = true }"
_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|\{[^}]*\})"""


class KeyFileError(Exception):
    """The file cannot be used; the message says what to do and shows nothing of its content."""


class KeyFile:
    """The file in the ``config`` folder. Every method raises KeyFileError if the file cannot be used."""

    def __init__(self, config: Path) -> None:
        self.path = config / FILE_NAME

    def read(self, provider: str) -> str:
        """The key in ``provider``'s row; empty if there is no row or the keyring has the key."""
        row = self._row(provider)
        return row.strip() if isinstance(row, str) else ""

    def points_to_keyring(self, provider: str) -> bool:
        """Whether the row says that the keyring has the key."""
        return isinstance(self._row(provider), dict)

    def providers(self) -> tuple[str, ...]:
        """The providers that have a row."""
        return tuple(self._table(""))

    def put(self, provider: str, secret: str | None) -> None:
        """Write the row: the key itself, or with None a note that the keyring has it."""
        self._change(provider, IN_KEYRING if secret is None else json.dumps(secret))

    def remove(self, provider: str) -> bool:
        """Remove the row; false if there was none."""
        if provider not in self._table(provider):
            return False
        self._change(provider, None)
        return True

    def _row(self, provider: str) -> str | dict[str, Any]:
        row = self._table(provider).get(provider, "")
        if isinstance(row, str):
            return row
        if row == {"keyring": True}:
            return {"keyring": True}
        raise KeyFileError(
            f'{self.path}: {provider} must be a string, as in {provider} = "sk-...", or {IN_KEYRING}'
        )

    def _table(self, provider: str) -> dict[str, Any]:
        return self._parse(self._text(provider), provider)

    def _text(self, provider: str) -> str:
        try:
            mode = self.path.stat().st_mode
            if mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise KeyFileError(f"{self.path} can be read by others; run: chmod 600 {self.path}")
            with open_to_read(self.path) as opened:
                return opened.read().decode("utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise self._broken(provider) from None
        except OSError as problem:
            raise KeyFileError(f"cannot read {self.path}: {problem.strerror}") from problem

    def _parse(self, text: str, provider: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError):
            # The parser's message and traceback may quote the file, and with it a key.
            raise self._broken(provider) from None

    def _broken(self, provider: str) -> KeyFileError:
        return KeyFileError(f'{self.path} is not valid TOML; its rows are: {provider or "openai"} = "sk-..."')

    def _change(self, provider: str, value: str | None) -> None:
        """Set or remove one row, and leave everything else as it is, comments included."""
        try:
            with changed_alone(self.path.parent):
                before = self._text(provider)
                expected = self._parse(before, provider)
                expected.pop(provider, None)
                if value is not None:
                    expected[provider] = tomllib.loads(f"row = {value}")["row"]
                after = _with_row(before, provider, value)
                if not _holds(after, expected):
                    told = f"{self.path}: the row {provider} is written in a way that cannot be changed here"
                    raise KeyFileError(f"{told}; edit it by hand")
                # Keep a symbolic link, as into a folder of dotfiles.
                replace_private(self.path.resolve(), after.encode("utf-8"))
        except OSError as problem:
            raise KeyFileError(f"cannot write {self.path}: {problem.strerror}") from problem


def _holds(text: str, table: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == table
    except tomllib.TOMLDecodeError:
        return False


def _with_row(text: str, provider: str, value: str | None) -> str:
    """``text`` with ``provider``'s row set, or removed for None; a comment on the row is kept."""
    name = re.escape(provider)
    row = re.compile(
        rf"""^[ \t]*(?:{name}|"{name}"|'{name}')[ \t]*=[ \t]*{_VALUE}(?P<tail>[^\n]*)\n?""", re.MULTILINE
    )
    if value is None:
        return row.sub("", text, count=1)
    key = provider if re.fullmatch(r"[A-Za-z0-9_-]+", provider) else json.dumps(provider)
    found = row.search(text)
    if found is not None:
        return f"{text[: found.start()]}{key} = {value}{found['tail']}\n{text[found.end() :]}"
    # Before the first table; after it, the row would belong to that table.
    table = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    head, rest = (text[: table.start()], text[table.start() :]) if table else (text, "")
    return f"{head}{'' if not head or head.endswith(chr(10)) else chr(10)}{key} = {value}\n{rest}"


__all__ = ["FILE_NAME", "CredentialsError", "Key", "KeyPlace", "KeySupply", "check_form", "find_key"]

KEYRING = "the system keyring"
NO_COMMANDS: Mapping[str, tuple[str, ...]] = {}


def find_key(
    provider: Provider,
    config: Path,
    environ: Mapping[str, str],
    commands: Mapping[str, tuple[str, ...]] = NO_COMMANDS,
    account: str = "",
) -> Key | KeyPlace | None:
    """The key for ``provider``, the place to fetch it from, or None where none is set.

    ``commands`` are those of ``config.toml``. Nothing is run, and the file is not opened when the environment
    has the key. ``account`` names one of a plan's accounts; without it, it is the one signed in to last.
    Raises CredentialsError for a file that others can read or that is damaged, for a value that cannot be a
    key, and for an account that there is none of.
    """
    if provider.plan is not None:
        if not account and not accounts_file(config, provider.name).exists():
            return None  # as at most starts
        from session.models.sign_in.plan_place import find_place

        return find_place(provider.name, provider.plan, config, account)
    value = environ.get(provider.key_variable, "").strip() if provider.key_variable else ""
    if value:
        if value[0] in "'\"" and value[-1] == value[0]:  # an env file of Docker keeps them
            value = value[1:-1].strip()
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


@dataclass(slots=True)
class KeySupply:
    """One provider's key during a session: fetched once, and again when it has expired."""

    provider: Provider
    config: Path
    environ: Mapping[str, str] = field(repr=False)
    commands: Mapping[str, tuple[str, ...]] = field(repr=False)
    account: str = ""
    """The account of a plan, where the user named one."""
    _given: str | None = field(default=None, repr=False)
    _until: float | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    def at_hand(self) -> Key | KeyPlace | None:
        """The result of :func:`find_key`; a key that needs no fetching counts as handed out."""
        found = self._find()
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

    def _find(self) -> Key | KeyPlace | None:
        return find_key(self.provider, self.config, self.environ, self.commands, self.account)

    async def _ask(self, *, again: bool) -> str | None:
        # Two connections may dial at once, but the user should be asked once.
        async with self._asking:
            ended = self._until is not None and time.time() > self._until
            if self._given is not None and not again and not ended:
                return self._given
            # Where this fails, the refused one is not given once more.
            refused, self._given = self._given or "" if again else None, None
            found = await asyncio.to_thread(self._find)
            if isinstance(found, KeyPlace):
                found = await found.fetch(refused=refused)
            self._given = found.secret if found is not None else None
            self._until = found.until if found is not None else None
            return self._given
