"""The process that touches the system keyring, so that one that hangs or asks can be ended.

Run by path with ``python -P``, it imports nothing of ours. Arguments: what to do (``look``, ``read``,
``store``, ``erase``), a service and a user; a secret to store comes on standard input. It prints one
JSON object: ``backend`` (its name) where there is a usable keyring, else ``why`` there is none;
``secret`` for ``read``, null where the keyring has none.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_REAL = 1.0
"""The priority from which keyring's authors call a backend suited; null, failing and plain text are below."""


def main(action: str, service: str, user: str) -> dict[str, Any]:
    """Do it; every way to fail is told in the answer."""
    try:
        import keyring
        from keyring.errors import KeyringError, PasswordDeleteError
    except ImportError:
        return {"why": "the package keyring is not installed"}
    try:
        backend = keyring.get_keyring()
        name = f"{type(backend).__module__}.{type(backend).__name__}"
        told = {"backend": name.removeprefix("keyring.backends.")}
        if float(backend.priority) < _REAL:
            return {"why": "this system has none"}
        if any(_is_locked(each) for each in getattr(backend, "backends", (backend,))):
            return {"why": f"{told['backend']} is locked"}
        if action == "read":
            return {**told, "secret": backend.get_password(service, user)}
        if action == "store":
            backend.set_password(service, user, sys.stdin.read())
        if action == "erase":
            try:
                backend.delete_password(service, user)
            except PasswordDeleteError:
                return {**told, "erased": False}
        return told
    except KeyringError as problem:
        return {"why": f"it failed ({type(problem).__name__})"}
    # A backend is somebody else's plug-in: whatever it raises means that there is no key to be had here.
    except Exception as problem:  # noqa: BLE001
        return {"why": f"it failed ({type(problem).__name__})"}


def _is_locked(backend: Any) -> bool:
    """Whether ``backend`` would ask the person to unlock it; only those that open a window are known."""
    module = type(backend).__module__
    if module == "keyring.backends.SecretService":
        import secretstorage

        with secretstorage.dbus_init() as bus:
            return bool(secretstorage.get_default_collection(bus).is_locked())
    return False


if __name__ == "__main__":
    json.dump(main(*sys.argv[1:4]), sys.stdout)
