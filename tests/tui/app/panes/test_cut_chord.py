"""Ctrl+X Ctrl+E in the composer, and Ctrl+X alone, with a real editor program."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that notes what it was given, and adds a line."""
    program = tmp_path / "adds-a-line"
    program.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/given\nprintf "\\nmore\\n" >> "$1"\n')
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    return tmp_path / "given"


@pytest.mark.parametrize("keys", [("ctrl+x", "ctrl+e"), ("ctrl+backslash",)])
async def test_the_prompt_is_edited_outside_and_undo_brings_it_back(
    tmp_path: Path, editor: Path, keys: tuple[str, ...]
) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"a draft", *keys)
        await it.until(lambda: it.app.composer.draft == "a draft\nmore", "the edited prompt")
        assert editor.read_text() == "a draft"
        await it.pilot.press("ctrl+underscore")
        assert it.app.composer.draft == "a draft"


async def test_without_an_editor_the_draft_stays_and_a_line_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with stage(tmp_path) as it:
        await it.pilot.press(*"a draft", "ctrl+x", "ctrl+e")
        await it.until(lambda: "no editor is set" in it.screen, "the reason")
        assert it.app.composer.draft == "a draft"


async def test_ctrl_x_alone_cuts_with_the_next_key_or_after_a_moment(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        composer = it.app.composer
        await it.pilot.press(*"one", "ctrl+x", *"two")
        assert composer.draft == "two"
        await it.pilot.press("ctrl+x", "ctrl+x")
        assert composer.draft == ""
        await it.pilot.press(*"three", "ctrl+x")
        await it.until(lambda: composer.draft == "", "the cut")
        await it.pilot.press("ctrl+v")
        assert composer.draft.strip() == "three"


async def test_a_selection_is_cut_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"one", "shift+left", "ctrl+x", "ctrl+e", "x")
        assert it.app.composer.draft == "onx"
