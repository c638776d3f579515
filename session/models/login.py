"""Checks, stores and removes keys, for ``spark login`` and ``spark logout``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from session.base.text.masking import remember
from session.base.text.sanitize import clean_line
from session.models import system_keyring
from session.models.catalogue import Catalogue, Provider
from session.models.credentials import (
    KEYRING,
    CredentialsError,
    Key,
    KeyFile,
    KeyFileError,
    KeyPlace,
    check_form,
    find_key,
)
from session.models.sign_in.accounts import AccountFile
from session.models.sign_in.plan_place import told_accounts
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem
from session.wire.transport.model_list import fetch_models

_SHORTEST = 4
"""Fewest characters of a key."""
_PASTED = re.compile(r"""["']|(?:export )?[A-Z][A-Z0-9_]*=[^=]|Bearer """)


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of checking a key; ``taken`` is None if the provider could not be asked."""

    taken: bool | None
    told: str


def read_key(typed: str) -> str:
    """The key in the text that was typed or piped in. Raises CredentialsError, without showing it."""
    secret = typed.strip()
    if not secret:
        raise CredentialsError("no key was given: paste it and press Enter, or pipe it in")
    remember(secret)
    if _PASTED.match(secret):
        raise CredentialsError("that is more than a key: leave out quotation marks, NAME= and Bearer")
    if len(secret) < _SHORTEST:
        raise CredentialsError(f"that is too short for a key ({len(secret)} characters): copy all of it")
    return check_form(secret, "what was given")


async def try_key(provider: Provider, base_url: str, secret: str) -> Trial:
    """Check ``secret`` by asking the provider for its models."""
    if not base_url:
        return Trial(None, f"not checked: {provider.name} has no address yet")
    endpoint = Endpoint(base_url, secret, provider.headers, provider.key_header)
    try:
        models = await fetch_models(endpoint)
    except LinkError as problem:
        told = clean_line(problem.message)
        if problem.kind is LinkProblem.UNAUTHORIZED:
            return Trial(False, told)
        return Trial(None, f"not checked: {told}")
    many = f"{len(models)} models" if len(models) != 1 else "1 model"
    return Trial(True, f"{endpoint.host} takes it and lists {many}")


async def store_key(config: Path, provider: str, secret: str, *, keyring: bool = True) -> str:
    """Store ``secret`` in the system keyring if one is usable and wanted, else in the file; returns where.

    Raises CredentialsError if neither can store it.
    """
    file = KeyFile(config)
    why = ""
    try:
        file.providers()  # fail before anything is stored if the file cannot be written
        if keyring:
            try:
                name = await system_keyring.store(provider, secret)
            except system_keyring.KeyringError as problem:
                why = f" (system keyring not used: {problem})"
            else:
                return await _pointed(file, provider, name)
        in_keyring = file.points_to_keyring(provider)
        file.put(provider, secret)
        if in_keyring:  # only now: the old key must not be lost if the new one cannot be written
            await _forget(provider)
    except KeyFileError as problem:
        raise CredentialsError(str(problem)) from None
    return f"{file.path}{why}"


async def _pointed(file: KeyFile, provider: str, name: str) -> str:
    if file.points_to_keyring(provider):
        return f"{KEYRING} ({name})"
    try:
        file.put(provider, None)
    except KeyFileError:
        await _forget(provider)  # without a row that points to it, the key would stay there unused
        raise
    return f"{KEYRING} ({name})"


async def _forget(provider: str) -> bool:
    try:
        return await system_keyring.erase(provider)
    except system_keyring.KeyringError:
        return False


async def remove_key(config: Path, provider: str) -> str:
    """Remove the stored key and return where it was; empty if none was stored.

    Raises CredentialsError if it cannot be removed.
    """
    file = KeyFile(config)
    try:
        in_keyring = file.points_to_keyring(provider)
        if in_keyring:
            try:
                await system_keyring.erase(provider)
            except system_keyring.KeyringError as problem:
                raise CredentialsError(f"{KEYRING} cannot be used: {problem}; nothing was removed") from None
        return (KEYRING if in_keyring else str(file.path)) if file.remove(provider) else ""
    except KeyFileError as problem:
        raise CredentialsError(str(problem)) from None


def list_keys(
    catalogue: Catalogue, config: Path, environ: Mapping[str, str], commands: Mapping[str, tuple[str, ...]]
) -> list[tuple[str, str]]:
    """Each provider that has a key, and its source, and each account of a plan; nothing is run. Raises
    CredentialsError."""
    found: list[tuple[str, str]] = []
    for name, provider in catalogue.providers.items():
        if provider.plan is not None:
            found += [(name, told) for told in told_accounts(AccountFile(config, name))]
        elif isinstance(key := find_key(provider, config, environ, commands), Key | KeyPlace):
            found.append((name, key.source))
    return found
