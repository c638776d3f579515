from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.models import system_keyring
from session.models.credentials import CredentialsError
from session.models.login import store_key
from session.models.system_keyring import KeyringError, erase, look, read, store
from tests.session.models.keys.keyrings import use_keyring

SECRET = "sk-ring-0123456789"


async def test_a_keyring_keeps_reads_and_forgets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    kept = use_keyring(monkeypatch, tmp_path)
    assert await look() == "keyrings_of_the_test.Kept"
    assert await read("openai") is None
    assert await store("openai", SECRET) == "keyrings_of_the_test.Kept"
    assert json.loads(kept.read_text()) == {"spark/openai": SECRET}
    assert await read("openai") == SECRET and await read("groq") is None
    assert await erase("openai") is True
    assert await erase("openai") is False
    assert await read("openai") is None


async def test_a_keyring_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    use_keyring(monkeypatch, tmp_path, "Hanging")
    for doing in (read("openai", seconds=0.5), store("openai", SECRET, seconds=0.5)):
        with pytest.raises(KeyringError, match=r"did not end within 0\.5 s"):
            await doing
    assert await look() == "keyrings_of_the_test.Hanging"


async def test_a_keyring_that_asks_on_a_terminal_finds_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_keyring(monkeypatch, tmp_path, "Asking")
    with pytest.raises(KeyringError, match="failed"):
        await read("openai")


@pytest.mark.parametrize(
    ("name", "why"),
    [("Locked", "KeyringLocked"), ("Broken", "exit code 7"), ("Missing", "failed"), ("Plain", "has none")],
)
async def test_an_unusable_keyring_says_why_and_nothing_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, why: str
) -> None:
    use_keyring(monkeypatch, tmp_path, name)
    with pytest.raises(KeyringError, match=why) as caught:
        await read("openai")
    assert "sk-0" not in str(caught.value) and "\n" not in str(caught.value)


async def test_a_keyring_that_loses_the_key_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_keyring(monkeypatch, tmp_path, "Forgetful")
    with pytest.raises(KeyringError, match="does not give back"):
        await store("openai", SECRET)


async def test_a_system_without_a_keyring_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    with pytest.raises(KeyringError, match="this system has none"):
        await look()
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    with pytest.raises(KeyringError, match="this system has none"):
        await read("openai")


async def test_without_the_extra_no_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_keyring, "is_installed", lambda: False)
    monkeypatch.setattr("sys.executable", "/nonexistent")
    with pytest.raises(KeyringError, match="is not installed"):
        await read("openai")


async def test_a_new_key_that_cannot_be_written_leaves_the_old_one_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_keyring(monkeypatch, tmp_path, "Kept")
    await store("groq", "the-old-key")
    config = tmp_path / "config"
    config.mkdir()
    row = "groq.keyring = true\n"  # valid, and in a form that spark does not edit
    (config / "credentials.toml").write_text(row)
    (config / "credentials.toml").chmod(0o600)
    with pytest.raises(CredentialsError, match="edit it by hand"):
        await store_key(config, "groq", "the-new-key", keyring=False)
    assert await read("groq") == "the-old-key"
    assert "system keyring" in await store_key(config, "groq", "the-new-key")
    assert await read("groq") == "the-new-key"
    assert (config / "credentials.toml").read_text() == row
