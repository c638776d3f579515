from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from session.models.catalogue import Provider
from session.models.credentials import CredentialsError, Key, find_key
from session.wire.transport.endpoint import Endpoint

SECRET = "sk-proj-0123456789abcdef"
OPENAI = Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY")
KEYLESS = Provider("partner", "", "")


def keep(config: Path, text: str | bytes, mode: int = 0o600) -> Path:
    file = config / "credentials.toml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    file.chmod(mode)
    return file


def test_no_key_anywhere_is_none(tmp_path: Path) -> None:
    assert find_key(OPENAI, tmp_path, {}) is None


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    keep(tmp_path, 'openai = "sk-file"\n')
    assert find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": "sk-env"}) == Key("sk-env", "OPENAI_API_KEY")
    assert find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": "  "}) == Key(
        "sk-file", str(tmp_path / "credentials.toml")
    )


def test_the_file_is_not_looked_at_when_the_environment_has_the_key(tmp_path: Path) -> None:
    keep(tmp_path, "broken [", 0o644)
    assert find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": SECRET}) == Key(SECRET, "OPENAI_API_KEY")


@pytest.mark.parametrize("given", [f" {SECRET}\n", f'"{SECRET}"', f"' {SECRET}'\r\n"])
def test_white_space_and_quotes_around_a_key_are_dropped(tmp_path: Path, given: str) -> None:
    found = find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": given})
    assert isinstance(found, Key) and found.secret == SECRET
    keep(tmp_path, f'openai = "  {SECRET} "\n')
    found = find_key(OPENAI, tmp_path, {})
    assert isinstance(found, Key) and found.secret == SECRET


def test_a_provider_without_a_variable_takes_its_row_of_the_file(tmp_path: Path) -> None:
    assert find_key(KEYLESS, tmp_path, {"": "sk-odd"}) is None
    keep(tmp_path, 'partner = "sk-exercise"\n')
    found = find_key(KEYLESS, tmp_path, {})
    assert isinstance(found, Key) and found.secret == "sk-exercise"


@pytest.mark.parametrize("mode", [0o604, 0o620, 0o640, 0o644, 0o660, 0o666, 0o601])
def test_a_file_that_others_can_reach_is_refused_with_the_command_that_helps(
    tmp_path: Path, mode: int
) -> None:
    file = keep(tmp_path, f'openai = "{SECRET}"\n', mode)
    with pytest.raises(CredentialsError) as caught:
        find_key(OPENAI, tmp_path, {})
    assert f"chmod 600 {file}" in str(caught.value)


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_private_file_is_read(tmp_path: Path, mode: int) -> None:
    keep(tmp_path, f'openai = "{SECRET}"\n', mode)
    assert find_key(OPENAI, tmp_path, {}) is not None


@pytest.mark.parametrize(
    "content",
    [
        f"openai = {SECRET}\n",
        f"{SECRET}\n",
        f'openai = "{SECRET}\n',
        f'openai = "{SECRET}\xff"'.encode("latin-1"),
    ],
)
def test_a_broken_file_is_named_and_its_content_is_not(tmp_path: Path, content: str | bytes) -> None:
    file = keep(tmp_path, content)
    with pytest.raises(CredentialsError) as caught:
        find_key(OPENAI, tmp_path, {})
    assert str(file) in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert "0123456789" not in shown


def test_a_file_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "credentials.toml").mkdir(mode=0o700)
    with pytest.raises(CredentialsError, match="cannot read"):
        find_key(OPENAI, tmp_path, {})


def test_a_row_that_is_no_string_is_refused_without_its_value(tmp_path: Path) -> None:
    keep(tmp_path, "[openai]\nkey = 'sk-secret'\n")
    with pytest.raises(CredentialsError, match="openai must be a string") as caught:
        find_key(OPENAI, tmp_path, {})
    assert "sk-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "odd", ["sk-a b", "sk-\u200b1", "sk-é", "sk-a\tb", "sk-\x1b[0m", "sk-a\nb", "“sk-1”"]
)
def test_odd_characters_are_refused_without_showing_the_key(tmp_path: Path, odd: str) -> None:
    with pytest.raises(CredentialsError, match="the key in OPENAI_API_KEY contains a character") as caught:
        find_key(OPENAI, tmp_path, {"OPENAI_API_KEY": odd})
    assert odd not in str(caught.value)


def test_the_secret_shows_in_no_repr() -> None:
    for holder in (Key(SECRET, "OPENAI_API_KEY"), Endpoint("https://api.openai.com/v1", SECRET)):
        assert SECRET not in repr(holder)
        assert SECRET not in str(holder)
        assert SECRET not in f"{holder}"
