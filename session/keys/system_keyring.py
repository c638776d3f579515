"""The system's keyring (Secret Service, Keychain …), through the package ``keyring`` where it is installed.

Every look at it is a short process with a time limit (``keyring_child.py``): a keyring may wait for a
person, and its libraries take a while to load. One that is missing, locked or silent is unusable.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from session.keys.children import ChildError, run_child
from session.text.install_hint import install_command

SERVICE = "spark"
"""The service under which keys are kept; the user's name is the provider's."""
SECONDS = 5.0

_CHILD = Path(__file__).with_name("keyring_child.py")


class KeyringError(Exception):
    """There is no keyring that can be used now; the message says why, in a few words."""


def is_installed() -> bool:
    """Whether the extra is there; loads nothing."""
    return find_spec("keyring") is not None


async def look(*, seconds: float = SECONDS) -> str:
    """The name of the keyring that would be used. Raises KeyringError where there is none."""
    return str((await _ask("look", "", seconds=seconds))["backend"])


async def read(provider: str, *, seconds: float = SECONDS) -> str | None:
    """The key kept for ``provider``; None where there is none. Raises KeyringError."""
    secret = (await _ask("read", provider, seconds=seconds)).get("secret")
    return secret if isinstance(secret, str) else None


async def store(provider: str, secret: str, *, seconds: float = SECONDS) -> str:
    """Keep ``secret``, and return the keyring's name. Raises KeyringError."""
    answer = await _ask("store", provider, given=secret.encode("utf-8"), seconds=seconds)
    if await read(provider, seconds=seconds) != secret:
        raise KeyringError("it does not give back what is stored in it")
    return str(answer["backend"])


async def erase(provider: str, *, seconds: float = SECONDS) -> bool:
    """Forget the key; false where there was none. Raises KeyringError."""
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
        # The text that is no JSON may hold the key.
        raise KeyringError(f"its process failed (exit code {ended.code})") from None
    if not isinstance(answer, dict) or "backend" not in answer:
        raise KeyringError(str(answer.get("why", "it failed")) if isinstance(answer, dict) else "it failed")
    return answer
