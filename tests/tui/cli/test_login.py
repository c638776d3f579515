"""``spark login`` and ``spark logout`` as processes, against a partner that checks keys."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import Partner
from tests.conftest import RunSpark
from tests.session.local_servers import OLLAMA, aside, serving
from tests.session.models.keys.keyrings import use_keyring

SECRET = "sk-login-0123456789abcdef"


@pytest.fixture
def checking() -> Iterator[str]:
    """The address of a partner that takes one key."""
    with aside(Partner(key=SECRET)) as partner:
        yield partner.url


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


def file_of(home: Path) -> Path:
    return home / "config" / "spark" / "credentials.toml"


def test_a_checked_key_goes_to_the_private_file(
    run_spark: RunSpark, own_folders: Path, checking: str
) -> None:
    ran = run_spark("login", "groq", "--base-url", checking, given=f"{SECRET}\n")
    assert (ran.code, ran.err) == (0, "")
    assert "takes it and lists 2 models" in ran.out and "credentials.toml (system keyring not used" in ran.out
    file = file_of(own_folders)
    assert file.read_text() == f'groq = "{SECRET}"\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert SECRET not in ran.out
    listed = run_spark("login", "--list")
    assert listed.out.split() == ["groq", str(file)]


def test_a_key_that_is_not_taken_is_not_stored(run_spark: RunSpark, own_folders: Path, checking: str) -> None:
    ran = run_spark("login", "--base-url", checking, given="sk-wrong-0123456789")
    assert (ran.code, ran.out) == (3, "")
    assert "did not accept the API key" in ran.err and "was not stored" in ran.err
    assert not file_of(own_folders).exists() and "sk-wrong" not in ran.err
    forced = run_spark("login", "--no-check", "--base-url", checking, given="sk-wrong-0123456789")
    assert forced.code == 0 and "sk-wrong" in file_of(own_folders).read_text()


def test_a_provider_that_cannot_be_asked_is_no_obstacle(run_spark: RunSpark, own_folders: Path) -> None:
    ran = run_spark("login", "xai", "--base-url", "http://127.0.0.1:9/v1", given=SECRET)
    assert ran.code == 0 and "not checked: Nothing listens" in ran.out
    assert SECRET in file_of(own_folders).read_text()
    ran = run_spark("login", "azure", given=SECRET)
    assert ran.code == 0 and "not checked: azure has no address yet" in ran.out


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("", "no key was given: paste it"),
        ("\n\n", "no key was given"),
        ('"sk-0123456789"', "leave out quotation marks"),
        ("OPENAI_API_KEY=sk-0123456789", "leave out quotation marks"),
        ("Bearer sk-0123456789", "leave out quotation marks"),
        ("sk-01234 56789", "contains a character"),
        ("sk", "copy all of it"),
        (b"\xff\xfe", "not text"),
    ],
)
def test_what_is_no_key_is_refused_without_showing_it(
    run_spark: RunSpark, own_folders: Path, given: str | bytes, why: str
) -> None:
    ran = run_spark("login", "--no-check", given=given)
    assert (ran.code, ran.out) == (3, "") and why in ran.err and ran.err.count("\n") == 1
    assert "0123" not in ran.err and not file_of(own_folders).exists()


def test_an_unknown_provider_is_refused(run_spark: RunSpark) -> None:
    for command in ("login", "logout"):
        ran = run_spark(command, "nobody", given=SECRET)
        assert ran.code == 2 and "unknown provider 'nobody'" in ran.err


def test_a_working_keyring_takes_the_key_and_gives_it_up(
    run_spark: RunSpark, own_folders: Path, checking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(monkeypatch, tmp_path)
    ran = run_spark("login", "--base-url", checking, given=SECRET)
    assert ran.code == 0 and "in the system keyring" in ran.out
    assert json.loads(kept.read_text()) == {"spark/openai": SECRET}
    assert file_of(own_folders).read_text() == "openai = { keyring = true }\n"
    asked = run_spark("models", "--base-url", checking)
    assert asked.code == 0 and "+ spark-practice-text" in asked.out
    doctor = run_spark("doctor", "--json", "--base-url", checking, "--model", "spark-practice")
    found = {line["step"]: line for line in map(json.loads, doctor.out.splitlines())}
    assert found["key"]["found"] == "from the system keyring" and found["keyring"]["well"] is True
    out = run_spark("logout")
    assert out.code == 0 and "removed from the system keyring" in out.out
    assert json.loads(kept.read_text()) == {} and file_of(own_folders).read_text() == ""
    assert run_spark("logout").code == 1


def test_a_keyring_that_hangs_leaves_the_file(
    run_spark: RunSpark, own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keyring(monkeypatch, tmp_path, "Hanging")
    ran = run_spark("login", "--no-check", given=SECRET)
    assert ran.code == 0 and "did not end within 5 s" in ran.out
    assert file_of(own_folders).read_text() == f'openai = "{SECRET}"\n'


def test_the_file_may_be_wished_for(
    run_spark: RunSpark, own_folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = use_keyring(monkeypatch, tmp_path)
    assert run_spark("login", "--no-check", given=SECRET).code == 0
    assert run_spark("login", "--no-check", "--file", given="sk-newer-0123456789").code == 0
    assert json.loads(kept.read_text()) == {}
    assert file_of(own_folders).read_text() == 'openai = "sk-newer-0123456789"\n'


def test_a_source_that_goes_before_the_stored_key_is_named(run_spark: RunSpark, own_folders: Path) -> None:
    ran = run_spark("login", "--no-check", given=SECRET, env={"OPENAI_API_KEY": "sk-env-0123456789"})
    assert (ran.code, ran.err) == (0, "spark: OPENAI_API_KEY goes before it\n")
    ran = run_spark("logout", env={"OPENAI_API_KEY": "sk-env-0123456789"})
    assert (ran.code, ran.err) == (0, "spark: OPENAI_API_KEY still gives one\n")
    assert run_spark("login", "--list").err.startswith("spark: no provider has a key")


def test_a_file_that_others_can_read_is_not_written(run_spark: RunSpark, own_folders: Path) -> None:
    file = file_of(own_folders)
    file.parent.mkdir(parents=True)
    file.write_text("")
    file.chmod(0o644)
    ran = run_spark("login", "--no-check", given=SECRET)
    assert ran.code == 3 and "chmod 600" in ran.err and file.read_text() == ""


def test_servers_on_this_machine_are_named_where_a_key_is_missing(
    run_spark: RunSpark, own_folders: Path, project: Path
) -> None:
    with aside(serving(OLLAMA)) as server:
        config = own_folders / "config" / "spark" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'[providers.ollama]\nbase_url = "{server.url}"\n')
        ran = run_spark("exec", "hi", cwd=project)
        assert (ran.code, ran.out, ran.err.count("\n")) == (3, "", 1)
        said = f"Ollama 0.12.6 answers on {server.port}: --provider ollama --model qwen3:8b"
        assert said in ran.err
        listed = run_spark("models", "--found", "--json", cwd=project)
        rows = [row for row in map(json.loads, listed.out.splitlines()) if row["provider"] == "ollama"]
        assert [row["model"] for row in rows] == ["qwen3:8b", "llama3.2"]
        doctor = run_spark("doctor", cwd=project)
        assert f"Ollama 0.12.6 on port {server.port}: qwen3:8b, llama3.2" in doctor.out
