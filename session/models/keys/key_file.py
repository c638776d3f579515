"""``credentials.toml``: one row per provider, readable only by its user.

A row holds the key or says that the system keyring has it, so that no start asks a keyring for nothing:

    openai = "sk-..."
    groq = { keyring = true }
"""

from __future__ import annotations

import json
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from session.base.storage.private_files import changed_alone, open_to_read, replace_private

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
