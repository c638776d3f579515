from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from session.models.credentials import KeyFile, KeyFileError

SECRET = "sk-file-0123456789"
WITH_COMMENTS = """\
# my keys

groq = "gsk-1"   # the one for work
'odd name' = 'x'
openai="sk-old"  # private
xai = { keyring = true } # in the ring

[other]
openai = "not this one"
"""


def kept(config: Path, text: str) -> KeyFile:
    config.mkdir(exist_ok=True)
    (config / "credentials.toml").write_text(text)
    (config / "credentials.toml").chmod(0o600)
    return KeyFile(config)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_first_key_makes_a_private_file_in_a_private_folder(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = KeyFile(tmp_path / "config" / "spark")
        file.put("openai", SECRET)
    finally:
        os.umask(before)
    assert file.read("openai") == SECRET
    assert (mode(file.path), mode(file.path.parent)) == (0o600, 0o700)
    assert [each.name for each in file.path.parent.iterdir()] == ["credentials.toml"]


def test_a_row_is_changed_and_all_else_stays(tmp_path: Path) -> None:
    file = kept(tmp_path, WITH_COMMENTS)
    file.put("openai", SECRET)
    assert file.path.read_text() == WITH_COMMENTS.replace(
        'openai="sk-old"  # private', f'openai = "{SECRET}"  # private'
    )
    file.put("groq", None)
    assert file.points_to_keyring("groq") and file.read("groq") == ""
    assert file.remove("openai") and not file.remove("openai")
    expected = WITH_COMMENTS.replace('openai="sk-old"  # private\n', "").replace(
        '"gsk-1"', "{ keyring = true }"
    )
    assert file.path.read_text() == expected
    assert mode(file.path) == 0o600


def test_a_new_row_goes_before_the_first_table(tmp_path: Path) -> None:
    file = kept(tmp_path, "a = 'b'\n[other]\nx = 1")
    file.put("my provider", 'quo"te\\d')
    assert file.read("my provider") == 'quo"te\\d'
    assert file.providers() == ("a", "my provider", "other")
    file = kept(tmp_path, "# only words")
    file.put("openai", SECRET)
    assert file.path.read_text() == f'# only words\nopenai = "{SECRET}"\n'


def test_a_row_written_in_an_odd_way_is_left_alone(tmp_path: Path) -> None:
    text = f'openai = """\n{SECRET}"""\n'
    file = kept(tmp_path, text)
    with pytest.raises(KeyFileError, match="by hand") as caught:
        file.put("openai", "sk-new")
    assert SECRET not in str(caught.value)
    assert file.path.read_text() == text


def test_a_file_that_others_can_read_or_that_is_broken_is_not_written(tmp_path: Path) -> None:
    file = kept(tmp_path, f'openai = "{SECRET}"\n')
    file.path.chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        file.put("groq", "gsk")
    file = kept(tmp_path, f"openai = {SECRET}\n")
    with pytest.raises(KeyFileError, match="not valid TOML") as caught:
        file.put("groq", "gsk")
    assert SECRET not in str(caught.value) and "gsk" not in file.path.read_text()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = kept(tmp_path / "dotfiles", 'a = "b"\n').path
    config = tmp_path / "config"
    config.mkdir()
    (config / "credentials.toml").symlink_to(real)
    KeyFile(config).put("openai", SECRET)
    assert (config / "credentials.toml").is_symlink()
    assert real.read_text() == f'a = "b"\nopenai = "{SECRET}"\n' and mode(real) == 0o600


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(KeyFileError, match="cannot write"):
            KeyFile(tmp_path).put("openai", SECRET)
    finally:
        tmp_path.chmod(0o700)


def test_a_config_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("")
    with pytest.raises(KeyFileError, match="cannot"):
        KeyFile(tmp_path / "config").put("openai", SECRET)


def test_logins_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    put = "import sys, pathlib; from session.models.credentials import KeyFile\nfor n in range(20):\n"
    put += " KeyFile(pathlib.Path(sys.argv[1])).put(f'{sys.argv[2]}{n}', 'sk-1')"
    running = [subprocess.Popen([sys.executable, "-c", put, str(tmp_path), name]) for name in "abc"]
    assert [each.wait(60) for each in running] == [0, 0, 0]
    assert len(KeyFile(tmp_path).providers()) == 60
