"""Findings of reviews on save in the real app: gutter, list, verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from time import monotonic

import pytest

from session.assist import side_requests
from tests.tui.stage import Stage, stage

HERE = {
    "path": "greeter.py",
    "start": 7,
    "end": 7,
    "severity": "error",
    "kind": "type-error",
    "message": "A number cannot be added to text.",
    "why": "greet(1) raises.",
    "fix": {"old": '    return "Hi " + name', "new": '    return f"Hi {name}"'},
}
NOTE = {**HERE, "severity": "note", "kind": "naming", "message": "It hides the greeting.", "fix": None}
GREETER = '''"""Says hello."""


def greet(name: str) -> str:
    """A greeting."""

    return "Bye"
'''
FILES = {"greeter.py": GREETER}


def script(*found: object) -> str:
    said = "".join(f"{json.dumps(each)}\n" for each in found)
    return f"""
[[scenario]]
match = ["review this change"]
[[scenario.step]]
say = {json.dumps(said)}
"""


async def change_and_save(it: Stage) -> None:
    """Change the last line in the editor and save it."""
    await it.until(lambda: it.session.context.snapshot.complete, "the reading of the project")
    assert await it.app.shown_file.open("greeter.py")
    await it.pilot.press("f2")
    it.app.editor.choose(((6, 11), (6, 16)))
    for char in '"Hi " + name':
        it.key(char, char)
    it.key("ctrl+s")
    await it.until(lambda: '"Hi " + name' in (it.root / "greeter.py").read_text(), "the save")


def row(it: Stage, line: int) -> str:
    """The row of the editor that shows a line, with its gutter."""
    return next(text for text in it.screen.splitlines() if f" {line} " in text[:10])


async def test_a_save_is_reviewed_after_a_long_look_at_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = 0.0
    monkeypatch.setattr(side_requests, "monotonic", lambda: monotonic() + later)
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await it.until(lambda: it.session.context.snapshot.complete, "the reading of the project")
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2")
        it.app.editor.choose(((6, 11), (6, 16)))
        await it.pilot.press(*'"Hi " + name')
        later = 2 * side_requests.AWAY_SECONDS
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "●" in row(it, 7)[:6], "the sign")


async def test_a_finding_is_shown_in_the_gutter_and_moves_with_its_line(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: "●" in row(it, 7)[:6], "the sign")
        it.app.editor.choose(((0, 0), (0, 0)))
        await it.pilot.press("enter", "enter")
        await it.until(lambda: "●" in row(it, 9)[:6] and "●" not in row(it, 7)[:6], "the sign at its line")
        it.app.editor.choose(((8, 0), (8, 0)))
        await it.until(lambda: "A number cannot be added" in it.app.status.status.message, "what it says")


async def test_one_key_lands_the_fix_and_undo_takes_it_back(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: "1 finding in what you saved" in it.app.status.status.message, "the finding")
        await it.pilot.press("alt+g")
        await it.until(lambda: "1 finding ·" in it.screen and 'f"Hi {name}"' in it.screen, "the list")
        await it.pilot.press("y")
        await it.until(lambda: 'f"Hi {name}"' in (it.root / "greeter.py").read_text(), "the landing")
        await it.until(lambda: "no findings are open" in it.screen, "the empty list")
        await it.pilot.press("q")
        await it.until(lambda: 'return f"Hi {name}"' in it.app.editor.buffer.text, "the fix in the editor")
        assert "●" not in row(it, 7)[:6]
        await it.pilot.press("ctrl+z")
        await it.until(lambda: '"Hi " + name' in (it.root / "greeter.py").read_text(), "the undo")


async def test_the_reason_is_wrapped_in_its_half_of_the_screen_from_the_start(tmp_path: Path) -> None:
    long = {**HERE, "why": "word " * 30 + "end."}
    async with stage(tmp_path, files=FILES, script=script(long), size=(100, 30)) as it:
        await change_and_save(it)
        await it.until(lambda: it.app.controls.reviews.notes.open, "the finding")
        await it.pilot.press("alt+g")
        await it.until(lambda: "word" in it.screen and "end." in it.screen, "all of the reason")


async def test_what_is_dismissed_goes_from_the_gutter_and_does_not_come_back(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: it.app.controls.reviews.notes.open, "the finding")
        await it.pilot.press("alt+g", "n")
        await it.until(lambda: "no findings are open" in it.screen, "the empty list")
        await it.pilot.press("q")
        it.app.editor.choose(((0, 0), (0, 0)))
        it.key("#", "#")
        it.key("ctrl+s")
        await it.until(lambda: (it.root / "greeter.py").read_text().startswith("#"), "the save")
        await it.until(lambda: len(it.partner.requests) >= 2 if it.partner else False, "the second review")
        await it.pilot.pause(0.2)
        assert not it.app.controls.reviews.notes.open and "●" not in row(it, 7)[:6]


async def test_a_finding_is_discussed_in_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: it.app.controls.reviews.notes.open, "the finding")
        it.app.composer.put("my draft")
        await it.pilot.press("alt+g", "d")
        await it.until(lambda: it.app.composer.has_focus, "the prompt")
        draft = it.app.composer.draft
        assert (
            draft.startswith("my draft\n@greeter.py:7 A review says: A number cannot") and "raises" in draft
        )


async def test_the_worst_comes_first_and_enter_goes_there(tmp_path: Path) -> None:
    low = {**NOTE, "start": 6, "end": 7}
    async with stage(tmp_path, files=FILES, script=script(low, HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: len(it.app.controls.reviews.notes.open) == 2, "both")
        it.app.editor.choose(((0, 0), (0, 0)))
        it.app.composer.focus()
        await it.pilot.press("alt+g")
        await it.until(lambda: "2 findings" in it.screen, "the list")
        assert it.screen.index("A number cannot") < it.screen.index("It hides the greeting")
        await it.pilot.press("down", "y")
        await it.until(lambda: "it has no fix" in it.screen, "why nothing lands")
        await it.pilot.press("up", "enter")
        await it.until(lambda: it.app.editor.has_focus and it.app.editor.cursor_location[0] == 6, "the line")


@pytest.mark.parametrize("times", [1, 2, 3])
async def test_the_key_goes_round_the_modes(tmp_path: Path, times: int) -> None:
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        for _ in range(times):
            await it.pilot.press("alt+u")
        told = ("security", "off", "on")[times - 1]
        await it.until(lambda: f"review on save is {told}" in it.app.status.status.message, "the mode")
        await change_and_save(it)
        await it.until(lambda: not it.app.shown_file.dirty, "the save")
        if told == "off":
            await it.pilot.pause(0.3)
            assert not it.app.controls.reviews.notes.open
        else:
            await it.until(lambda: it.app.controls.reviews.notes.open, "the finding")


async def test_nothing_of_the_list_is_loaded_before_it_is_opened(tmp_path: Path) -> None:
    import sys

    for name in [name for name in sys.modules if name == "tui.app.review.review_finding_control"]:
        del sys.modules[name]
    async with stage(tmp_path, files=FILES, script=script(HERE)) as it:
        await change_and_save(it)
        await it.until(lambda: it.app.controls.reviews.notes.open, "the finding")
        assert "tui.app.review.review_finding_control" not in sys.modules
