"""The system's keyring (Secret Service, Keychain and others), through the package ``keyring`` if installed.

Each access is a short process with a time limit (``keyring_child.py``), because a keyring may wait for the
user and its libraries are slow to load. A keyring that is missing, locked or silent is not used.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from session.base.text.install_hint import install_command
from session.models.keys.children import ChildError, run_child

SERVICE = "spark"
"""The service under which keys are stored, with the provider as the user name."""
SECONDS = 5.0

_CHILD = Path(__file__).with_name("keyring_child.py")


class KeyringError(Exception):
    """No keyring can be used now; the message says why in a few words."""


def is_installed() -> bool:
    """Whether the package is installed; imports nothing."""
    return find_spec("keyring") is not None


async def look(*, seconds: float = SECONDS) -> str:
    """The name of the keyring that would be used. Raises KeyringError if there is none."""
    return str((await _ask("look", "", seconds=seconds))["backend"])


async def read(provider: str, *, seconds: float = SECONDS) -> str | None:
    """The key stored for ``provider``; None if there is none. Raises KeyringError."""
    secret = (await _ask("read", provider, seconds=seconds)).get("secret")
    return secret if isinstance(secret, str) else None


async def store(provider: str, secret: str, *, seconds: float = SECONDS) -> str:
    """Store ``secret`` and return the keyring's name. Raises KeyringError."""
    answer = await _ask("store", provider, given=secret.encode("utf-8"), seconds=seconds)
    if await read(provider, seconds=seconds) != secret:
        raise KeyringError("it does not give back what is stored in it")
    return str(answer["backend"])


async def erase(provider: str, *, seconds: float = SECONDS) -> bool:
    """Delete the key; false if there was none. Raises KeyringError."""
    return "erased" not in await _ask("erase", provider, seconds=seconds)


async def _ask(action: str, provider: str, *, seconds: float, given: bytes = b"") -> dict[str, Any]:
    if not is_installed():
        raise KeyringError(f"the package keyring is not installed ({install_command('keyring')})")
    command = [sys.executable, "-P", str(_CHILD), action, SERVICE, provider]
    try:
        ended = await run_child(command, seconds=seconds, given=given)
    except ChildError as problem:
        raise KeyringError(f"it {problem}") from None
    try:
        answer = json.loads(ended.output)
    except (ValueError, RecursionError):
        # The invalid output may contain the key.
        raise KeyringError(f"its process failed (exit code {ended.code})") from None
    if not isinstance(answer, dict) or "backend" not in answer:
        raise KeyringError(str(answer.get("why", "it failed")) if isinstance(answer, dict) else "it failed")
    return answer
