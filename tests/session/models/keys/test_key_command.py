from __future__ import annotations

import asyncio
import os
import shlex
import sys
import time
import traceback
from pathlib import Path

import pytest

from session.base.text.tables import TableError
from session.models.key import CommandError, ask_command, read_commands
from session.setup.config import ConfigError, Flags, load_settings

SECRET = "sk-command-0123456789"


def script(folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "tool"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return (str(file),)


async def test_the_first_line_of_the_output_is_the_key(tmp_path: Path) -> None:
    words = script(tmp_path, f"printf '  {SECRET} \\nuser: me\\n'")
    assert await ask_command(words) == SECRET


async def test_a_key_command_runs_once_and_again_when_asked_to(tmp_path: Path) -> None:
    words = script(tmp_path, f'echo run >> {tmp_path}/runs; echo "key-$(wc -l < {tmp_path}/runs)"')
    assert [await ask_command(words), await ask_command(words)] == ["key-1", "key-1"]
    assert await ask_command(words, again=True) == "key-2"
    assert await ask_command(words) == "key-2"


async def test_a_failed_key_command_runs_again(tmp_path: Path) -> None:
    words = script(tmp_path, f"test -e {tmp_path}/unlocked && echo {SECRET}")
    with pytest.raises(CommandError):
        await ask_command(words)
    (tmp_path / "unlocked").touch()
    assert await ask_command(words) == SECRET


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"echo {SECRET}; echo {SECRET} >&2; exit 3", "ended with exit code 3"),
        (f"echo {SECRET}; kill -9 $$", "was ended by signal 9"),
        ("true", "printed nothing"),
        (f"echo; echo {SECRET}", "printed nothing on its first line"),
        (f"printf '\\377{SECRET}'", "printed no text"),
    ],
)
async def test_a_failing_key_command_is_explained_without_its_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    with pytest.raises(CommandError, match=why) as caught:
        await ask_command(script(tmp_path, text))
    shown = "".join(traceback.format_exception(caught.value)) + "".join(capfd.readouterr())
    assert "'tool'" in str(caught.value) and SECRET not in shown


@pytest.mark.parametrize(("word", "why"), [("no-such-program", "was not found"), ("/", "cannot be run")])
async def test_a_program_that_cannot_be_run_is_named(word: str, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        await ask_command((word,))


def gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


async def test_a_key_command_that_takes_too_long_is_ended_with_its_processes(tmp_path: Path) -> None:
    words = script(tmp_path, f"sleep 600 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(CommandError, match=r"did not end within 2 s"):
        await ask_command(words, seconds=2)
    child = int((tmp_path / "child").read_text())
    end = time.monotonic() + 10
    while not gone(child) and time.monotonic() < end:
        await asyncio.sleep(0.01)
    assert gone(child)


async def test_a_cancelled_key_command_is_ended(tmp_path: Path) -> None:
    words = script(tmp_path, f"echo $$ > {tmp_path}/child; exec sleep 600")
    asking = asyncio.create_task(ask_command(words))
    while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text().strip():
        await asyncio.sleep(0.01)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert gone(int((tmp_path / "child").read_text()))


async def test_a_key_command_has_no_input_terminal_shell_or_project_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asks = (
        "import os, sys; print(repr(sys.stdin.read()), os.getsid(0) == os.getpid(), os.getcwd(), sys.argv[1])"
    )
    told = await ask_command((sys.executable, "-c", asks, "$HOME; `id`"))
    assert told == f"'' True {Path.home()} $HOME; `id`"


async def test_a_helper_that_outlives_the_key_command_is_not_waited_for(tmp_path: Path) -> None:
    # As gpg does with its agent; this one keeps our pipe open too.
    words = script(tmp_path, f"sleep 60 & echo $! > {tmp_path}/child; echo {SECRET}")
    assert await ask_command(words, seconds=30) == SECRET
    os.kill(int((tmp_path / "child").read_text()), 9)


def test_a_command_is_a_list_or_a_line_with_quotes() -> None:
    line = 'pass show "my keys/openai"'
    table = {"openai": {"command": ["pass", "show", "a b"]}, "groq": {"command": line}}
    assert read_commands(table) == {"openai": ("pass", "show", "a b"), "groq": tuple(shlex.split(line))}
    assert read_commands({"x": {"command": "~/bin/key"}}) == {"x": (str(Path.home() / "bin/key"),)}


@pytest.mark.parametrize(
    "row",
    [
        SECRET,
        {"command": ""},
        {"command": []},
        {"command": [1]},
        {"command": 'a "b'},
        {"key": SECRET},
        {},
        [" "],
    ],
)
def test_a_row_that_is_no_command_is_refused_without_showing_it(
    tmp_path: Path, own_folders: Path, row: object
) -> None:
    with pytest.raises(TableError, match=r"\[keys\] openai") as caught:
        read_commands({"openai": row})
    assert SECRET not in str(caught.value)


def test_only_the_users_own_file_may_name_a_command(tmp_path: Path) -> None:
    config, root = tmp_path / "config", tmp_path / "project"
    config.mkdir()
    root.mkdir()
    row = 'openai = { command = "touch here" }\n'
    (config / "config.toml").write_text(f'[trust]\nfolders = ["{root}"]\n[keys]\n{row}')
    settings, _ = load_settings(root, config, {}, Flags())
    assert settings.key_commands == {"openai": ("touch", "here")}
    assert "touch" not in repr(settings)
    (root / ".spark.toml").write_text(f"[keys]\n{row}")
    with pytest.raises(ConfigError, match="'keys' cannot be set in a project's file"):
        load_settings(root, config, {}, Flags())
