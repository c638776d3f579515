"""The provider's key: from its environment variable, or from a file that only the user can read."""

from __future__ import annotations

import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from session.providers import Provider

FILE_NAME = "credentials.toml"


class CredentialsError(Exception):
    """The credentials file cannot be used; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Key:
    """A secret and where it came from. Its text never shows in a repr, and so in no log."""

    secret: str = field(repr=False)
    source: str


def find_key(provider: Provider, config: Path, environ: Mapping[str, str]) -> Key | None:
    """The key for ``provider``, or None where none is set.

    The environment wins over ``credentials.toml`` in the ``config`` folder, whose rows are
    ``provider = "key"``. Raises CredentialsError for a file that others can read, or that is no
    such table.
    """
    value = environ.get(provider.key_variable, "").strip() if provider.key_variable else ""
    if value:
        return Key(_checked(value, provider.key_variable), provider.key_variable)
    file = config / FILE_NAME
    secret = _from_file(file, provider.name)
    return Key(_checked(secret, str(file)), str(file)) if secret else None


def _checked(secret: str, source: str) -> str:
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise CredentialsError(
            f"the key in {source} holds a character that no key has; "
            "was something else pasted with it? Set it again"
        )
    return secret


def _from_file(file: Path, provider: str) -> str:
    try:
        mode = file.stat().st_mode
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise CredentialsError(f"{file} can be read by others; run: chmod 600 {file}")
        table = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return ""
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # What the parser says may quote the file, and with it a key; neither does its traceback go on.
        raise CredentialsError(f'{file} is not valid TOML; its rows are: {provider} = "sk-..."') from None
    except OSError as problem:
        raise CredentialsError(f"cannot read {file}: {problem.strerror}") from problem
    secret = table.get(provider, "")
    if not isinstance(secret, str):
        raise CredentialsError(f'{file}: {provider} must be a string, as in {provider} = "sk-..."')
    return secret.strip()
