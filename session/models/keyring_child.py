"""The process that accesses the system keyring, so that a keyring that hangs can be stopped.

It is run by path with ``python -P`` and imports nothing of spark. Its arguments are what to do (``look``,
``read``, ``store``, ``erase``), a service and a user; a secret to store comes on standard input. It prints
one JSON object: ``backend`` with the name of a usable keyring, else ``why`` with the reason that there is
none; for ``read`` also ``secret``, null if the keyring has none.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_REAL = 1.0
"""The priority from which on keyring recommends a backend; null, failing and plain text ones are below."""


def main(action: str, service: str, user: str) -> dict[str, Any]:
    """Do it; every failure becomes part of the answer."""
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
    except Exception as problem:  # noqa: BLE001 (a backend is a plug-in and can raise anything)
        return {"why": f"it failed ({type(problem).__name__})"}


def _is_locked(backend: Any) -> bool:
    """Whether ``backend`` would ask the user to unlock it; only those that open a window are known."""
    module = type(backend).__module__
    if module == "keyring.backends.SecretService":
        import secretstorage

        with secretstorage.dbus_init() as bus:
            return bool(secretstorage.get_default_collection(bus).is_locked())
    return False


if __name__ == "__main__":
    json.dump(main(*sys.argv[1:4]), sys.stdout)
