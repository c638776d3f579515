"""Asks for a key on the terminal and reports the result, for ``spark login`` and ``spark logout``."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys
from dataclasses import dataclass

from session.base.storage.folders import config_folder
from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue, CatalogueError, Provider
from session.models.credentials import CredentialsError, find_key
from session.models.login import list_keys, read_key, remove_key, store_key, try_key
from session.models.sign_in.plan import Plan
from session.setup.config import ConfigError, FlagError, Flags, Settings, load_settings
from tui.front.exits import CONFIGURATION, FAILED, USAGE, leave
from tui.front.printing import say, say_json

_LONGEST = 16_384
_CLAUDE_NAMES = ("claude", "claude-pro", "claude-max", "claude-code")
_CLAUDE = "Claude plans are closed to other programs; with an API key: spark login anthropic"


class LoginError(Exception):
    """No key was stored; the message says why, and contains no key."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How to sign in with a plan: the account's name, the port of the callback, and whether to open a
    browser."""

    account: str = ""
    port: int = 0
    browser: bool = True


NO_OPTIONS = PlanOptions()


def log_in(
    name: str | None,
    *,
    base_url: str | None = None,
    check: bool = True,
    keyring: bool = True,
    plan: PlanOptions = NO_OPTIONS,
) -> str:
    """Ask for the key of the provider called ``name``, check it and store it; sign in where it has a plan.

    Returns a line that the user has to see, which is printed too, or an empty text. Raises LoginError for a
    key that is invalid, refused, or cannot be stored.
    """
    settings, catalogue, provider = _settings(name, base_url)
    if provider.plan is not None:
        if base_url or not check:
            leave(f"{provider.name} is signed in to: --base-url and --no-check are for keys", USAGE)
        notice = _sign_in(provider, provider.plan, plan, keyring=keyring)
        if notice:
            say(notice)
        _say_what_pays(provider, catalogue, settings)
        return notice
    if plan != NO_OPTIONS:
        leave(f"{provider.name} takes a key: --account, --port and --no-browser are for plans", USAGE)
    if provider.name == "anthropic":
        say("spark: Claude plans are closed to other programs: this asks for an API key", err=True)
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
    return ""


def _sign_in(provider: Provider, plan: Plan, options: PlanOptions, *, keyring: bool) -> str:
    from tui.cli.plan_prompt import SignInError, sign_in

    try:
        return sign_in(
            provider,
            plan,
            config_folder(),
            account=options.account,
            port=options.port,
            keyring=keyring,
            browser=options.browser,
        )
    except (SignInError, CredentialsError) as problem:
        raise LoginError(str(problem)) from None


def _say_what_pays(provider: Provider, catalogue: Catalogue, settings: Settings) -> None:
    """Tell a user who has keys too which of them pays from now on."""
    keys = [each.name for each in map(catalogue.provider, catalogue.key_order) if each.plan is None]
    try:
        found = [name for name in keys if _has_key(catalogue.provider(name), settings)]
    except CredentialsError:
        return
    if found:
        others = " or ".join(f"--provider {name}" for name in found)
        say(f"{provider.name}: the plan goes before your keys; to use one: {others}")


def _has_key(provider: Provider, settings: Settings) -> bool:
    return find_key(provider, config_folder(), os.environ, settings.key_commands) is not None


def log_out(name: str | None, account: str = "") -> None:
    """Remove the stored key, or sign out; exits with 1 where there is none."""
    settings, _, provider = _settings(name, None)
    try:
        if provider.plan is not None:
            from tui.cli.plan_prompt import leave_plan

            if not leave_plan(provider, provider.plan, config_folder(), account):
                leave(f"nobody is signed in to {provider.name}", FAILED)
            return
        if account:
            leave(f"{provider.name} takes a key: --account is for plans", USAGE)
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
    if name is not None and name.lower() in _CLAUDE_NAMES:
        leave(_CLAUDE, CONFIGURATION)
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
