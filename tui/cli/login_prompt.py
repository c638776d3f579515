"""Asks for a key on the terminal and reports the result, for ``spark login`` and ``spark logout``."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys

from session.base.storage.folders import config_folder
from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue, CatalogueError, Provider
from session.models.credentials import CredentialsError, find_key
from session.models.login import list_keys, read_key, remove_key, store_key, try_key
from session.setup.config import ConfigError, FlagError, Flags, Settings, load_settings
from tui.front.exits import CONFIGURATION, FAILED, USAGE, leave
from tui.front.printing import say, say_json

_LONGEST = 16_384


class LoginError(Exception):
    """No key was stored; the message says why, and contains no key."""


def log_in(
    name: str | None, *, base_url: str | None = None, check: bool = True, keyring: bool = True
) -> None:
    """Ask for the key of the provider called ``name``, check it and store it. Raises LoginError for a key
    that is invalid, refused, or cannot be stored."""
    settings, _, provider = _settings(name, base_url)
    try:
        secret = read_key(_ask(provider.name))
        if check:
            trial = asyncio.run(try_key(provider, settings.base_url, secret))
            if trial.taken is False:
                raise LoginError(f"{trial.told}; the key was not stored (--no-check stores it)")
            say(f"{provider.name}: {trial.told}")
        where = asyncio.run(store_key(config_folder(), provider.name, secret, keyring=keyring))
    except CredentialsError as problem:
        raise LoginError(str(problem)) from None
    say(f"{provider.name}: the key is stored in {where}")
    _say_what_goes_before(provider, settings, "it")


def log_out(name: str | None) -> None:
    """Remove the stored key; exits with 1 where there is none."""
    settings, _, provider = _settings(name, None)
    try:
        where = asyncio.run(remove_key(config_folder(), provider.name))
    except CredentialsError as problem:
        leave(str(problem), CONFIGURATION)
    if not where:
        leave(f"no key of {provider.name} is stored", FAILED)
    say(f"{provider.name}: the key was removed from {where}")
    _say_what_goes_before(provider, settings, "")


def list_logins(*, as_json: bool) -> None:
    """Print every provider that has a key, and the source of the key."""
    settings, catalogue, _ = _settings(None, None)
    try:
        rows = list_keys(catalogue, config_folder(), os.environ, settings.key_commands)
    except CredentialsError as problem:
        leave(str(problem), CONFIGURATION)
    for name, source in rows:
        if as_json:
            say_json({"provider": name, "source": source})
        else:
            say(f"{clean_line(name):<12} {clean_line(source)}")
    if not rows:
        say("spark: no provider has a key; spark login PROVIDER stores one", err=True)


def _settings(name: str | None, base_url: str | None) -> tuple[Settings, Catalogue, Provider]:
    config = config_folder()
    try:
        # Only the user's own settings count: no project decides where a key goes.
        settings, catalogue = load_settings(
            config, config, os.environ, Flags(provider=name, base_url=base_url)
        )
        return settings, catalogue, catalogue.provider(settings.provider)
    except FlagError as problem:
        leave(str(problem), USAGE)
    except (ConfigError, CatalogueError) as problem:
        leave(str(problem), CONFIGURATION)


def _ask(provider: str) -> str:
    if sys.stdin.isatty():
        try:
            return getpass.getpass(f"Key for {provider} (it is not shown): ")
        except EOFError:
            return ""
    try:
        return sys.stdin.buffer.readline(_LONGEST).decode("utf-8")
    except UnicodeDecodeError:
        raise CredentialsError("standard input is not text") from None


def _say_what_goes_before(provider: Provider, settings: Settings, stored: str) -> None:
    """Warn of a source with priority over the stored key."""
    try:
        found = find_key(provider, config_folder(), os.environ, settings.key_commands)
    except CredentialsError:
        return
    if found is None or (stored and not _goes_before(found.source, provider, settings)):
        return
    before = f"goes before {stored}" if stored else "still gives one"
    say(f"spark: {found.source} {before}", err=True)


def _goes_before(source: str, provider: Provider, settings: Settings) -> bool:
    return source == provider.key_variable or provider.name in settings.key_commands
