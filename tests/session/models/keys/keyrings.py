"""System keyrings of the tests' own: real backends of the package ``keyring``, one of them kept in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

BACKENDS = """
import getpass, json, os, pathlib, time
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError

FILE = pathlib.Path(os.environ["KEYRING_OF_THE_TEST"])


class Kept(KeyringBackend):
    priority = 5

    def rows(self):
        return json.loads(FILE.read_text()) if FILE.exists() else {}

    def get_password(self, service, username):
        return self.rows().get(f"{service}/{username}")

    def set_password(self, service, username, password):
        FILE.write_text(json.dumps({**self.rows(), f"{service}/{username}": password}))

    def delete_password(self, service, username):
        rows = self.rows()
        if rows.pop(f"{service}/{username}", None) is None:
            raise PasswordDeleteError("not found")
        FILE.write_text(json.dumps(rows))


class Hanging(Kept):
    def get_password(self, *given):
        time.sleep(600)

    set_password = delete_password = get_password


class Asking(Kept):
    def get_password(self, service, username):
        return getpass.getpass("Unlock the keyring: ")


class Locked(Kept):
    def get_password(self, service, username):
        raise KeyringLocked("the secret sk-0 is locked")

    def set_password(self, service, username, password):
        raise KeyringLocked("locked")


class Forgetful(Kept):
    def set_password(self, service, username, password):
        pass


class Plain(Kept):
    priority = 0.5


class Broken(Kept):
    def get_password(self, service, username):
        os._exit(7)
"""


def use_keyring(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str = "Kept") -> Path:
    """Have the package ``keyring`` use one of the backends above; gives the file that keeps its rows."""
    (folder / "keyrings_of_the_test.py").write_text(BACKENDS)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=":")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", f"keyrings_of_the_test.{name}")
    monkeypatch.setenv("KEYRING_OF_THE_TEST", str(folder / "keyring.json"))
    return folder / "keyring.json"
