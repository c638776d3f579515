"""The user's own editor: how it is told the file and the line, and what is said where it fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tui.screen.terminal.lending import EditorProblem, edit_outside, editor_command

PLUS = ["vi", "vim", "nvim", "kak", "nano", "micro", "joe", "emacs", "emacsclient"]
COLON = ["hx", "helix"]


def editor(folder: Path, name: str) -> str:
    """An editor called ``name`` that writes its arguments into the file it is given, without its folder."""
    program = folder / name
    program.write_text(
        "#!/bin/sh\n"
        "for file do :; done\n"
        "path=$file said=\n"
        'while [ ! -e "$path" ]; do path=${path%:*}; done\n'
        'while [ $# -gt 1 ]; do said="$said$1|"; shift; done\n'
        'text=$(cat "$path")\n'
        'printf %s "$said${file##*/}|$text" > "$path"\n'
    )
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("name", PLUS)
async def test_an_editor_is_told_the_line_before_the_file(tmp_path: Path, name: str) -> None:
    assert await edit_outside([editor(tmp_path, name)], "src/a.py", "text", 40) == "+40|a.py|text"


@pytest.mark.parametrize("name", COLON)
async def test_helix_is_told_the_line_behind_the_file(tmp_path: Path, name: str) -> None:
    """As ``hx --help`` says: "position can also be specified via file[:row[:col]]"."""
    assert await edit_outside([editor(tmp_path, name)], "src/a.py", "text", 40) == "a.py:40|text"


@pytest.mark.parametrize("name", [*PLUS, *COLON, "ed", "code"])
async def test_the_first_line_needs_no_word_and_options_stay_in_front(tmp_path: Path, name: str) -> None:
    assert await edit_outside([editor(tmp_path, name), "-w"], "a.py", "text", 1) == "-w|a.py|text"


@pytest.mark.parametrize("name", ["ed", "code"])
async def test_an_unknown_editor_is_told_the_file_alone(tmp_path: Path, name: str) -> None:
    assert await edit_outside([editor(tmp_path, name)], "a.py", "text", 40) == "a.py|text"


async def test_what_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EditorProblem, match="export VISUAL or EDITOR"):
        editor_command(tmp_path)
    monkeypatch.setenv("EDITOR", "vim 'unclosed")
    with pytest.raises(EditorProblem, match="is not a command"):
        editor_command(tmp_path)
    editor(tmp_path, "vi")
    monkeypatch.chdir(tmp_path)
    for path in (".", str(tmp_path)):
        monkeypatch.setenv("PATH", path)
        for name in ("vi", "./vi"):
            monkeypatch.setenv("EDITOR", name)
            with pytest.raises(EditorProblem, match="project: name it in VISUAL"):
                editor_command(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with pytest.raises(EditorProblem, match="cannot be run: No such file"):
        await edit_outside([str(tmp_path / "missing")], "a.py", "text")
    with pytest.raises(EditorProblem, match="false ended with 1: the text is as it was"):
        await edit_outside(["false"], "a.py", "text")
