"""Findings of checks beside the lines, and the keys that go to them and send them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.base import events as said
from session.base.storage.folders import config_folder, project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from session.checks.red import RedNow, standing
from tests.session.checks.painting import PAINT, RUFF
from tests.session.talking import COLOURS
from tests.tui.stage import stage
from tui.app.review.check_finding_control import FindingNotes
from tui.editor.marks import Mark, Marks
from tui.editor.signs import Notes

SCRIPT = (
    PAINT
    + '''
[[scenario]]
id = "mend"
match = ["checks fail"]

[[scenario.hunk]]
id = "mended"
path = "colours.py"
lines = """
 def blue():
-    return violet
+    return 30
"""

[[scenario.step]]
patch = ["mended"]
'''
)


class Shown:
    """Findings of a file with two landed hunks."""

    def __init__(self) -> None:
        self.signs, marks = Notes(), Marks()
        marks.set("a.py", Mark("h1", 4, 6))
        marks.set("b.py", Mark("h2", 0, 1))
        self.notes = FindingNotes(self.signs, marks)

    def red(self, hunk: str, path: str, line: int, check: str = "ruff") -> None:
        self.notes.take(said.HunkChecked(hunk, path, check, "red", line, "wrong"))

    def green(self, hunk: str, path: str, check: str = "ruff") -> None:
        self.notes.take(said.HunkChecked(hunk, path, check, "green"))


def test_a_verdict_stands_at_its_line_and_a_later_one_takes_its_place() -> None:
    shown = Shown()
    shown.red("h1", "a.py", 6)
    assert shown.signs.of("a.py") == {5: "check_red"}
    shown.green("h1", "a.py", "mypy")
    assert shown.signs.of("a.py") == {4: "check_green", 5: "check_red"}
    shown.green("h1", "a.py")
    assert shown.signs.of("a.py") == {4: "check_green"}
    shown.notes.take(said.HunkUndone("h1", "a.py", 5, 6))
    assert shown.signs.of("a.py") == {}


def test_each_finding_of_a_hunk_stands_at_its_line_until_the_check_runs_again() -> None:
    shown = Shown()
    event = said.HunkChecked("h1", "a.py", "ruff", "red", 5, "unused", ("6: undefined",))
    shown.notes.take(event)
    assert shown.signs.of("a.py") == {4: "check_red", 5: "check_red"}
    after = shown.notes.beside("a.py", 4, 1)
    assert after is not None and str(after) == "h1 · a.py:6 · ruff: undefined"
    shown.green("h1", "a.py", "ruff of h1")
    shown.red("h1", "a.py", 6)
    assert shown.signs.of("a.py") == {4: "check_green", 5: "check_red"}
    shown.green("h1", "a.py")
    assert shown.signs.of("a.py") == {4: "check_green"}


def test_a_verdict_without_a_line_stands_at_the_hunk_and_an_unclear_one_nowhere() -> None:
    shown = Shown()
    shown.red("h1", "a.py", 0)
    assert shown.signs.of("a.py") == {4: "check_red"}
    shown.notes.take(said.HunkChecked("h1", "a.py", "ruff", "unclear", 0, "not installed"))
    assert shown.signs.of("a.py") == {}
    shown.red("gone", "a.py", 3)
    assert shown.signs.of("a.py") == {}


def test_what_a_check_of_the_project_found_stands_until_it_runs_again() -> None:
    shown = Shown()
    shown.notes.take(said.CheckEnded("pytest", "red", 1.0, ("a.py:3: no", "b.py:1: nor this", "c.py: file")))
    assert (shown.signs.of("a.py"), shown.signs.of("b.py")) == ({2: "check_red"}, {0: "check_red"})
    found = shown.notes.beside("", 0, 1)
    assert str(found) == "a.py:3 · pytest: no"
    shown.notes.take(said.CheckEnded("pytest", "green", 1.0))
    assert (shown.signs.of("a.py"), shown.signs.of("b.py")) == ({}, {})
    assert shown.notes.beside("", 0, 1) is None


def test_the_keys_go_round_all_files_and_follow_moved_lines() -> None:
    shown = Shown()
    shown.red("h1", "a.py", 6)
    shown.red("h2", "b.py", 1)
    shown.signs.edited("a.py", 0, 0, 10)
    first = shown.notes.beside("a.py", 0, 1)
    assert first and (first.path, first.row) == ("a.py", 15)
    second = shown.notes.beside(first.path, first.row, 1)
    assert second and (second.path, second.row, second.hunk) == ("b.py", 0, "h2")
    again = shown.notes.beside(second.path, second.row, 1)
    assert again == first
    assert shown.notes.beside("a.py", 15, -1) == second


@given(
    st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from(["green", "red", "unclear"]), st.booleans()))
)
def test_only_what_is_red_now_can_be_gone_to(verdicts: list[tuple[str, str, bool]]) -> None:
    shown, red = Shown(), set[str]()
    for check, status, undone in verdicts:
        shown.notes.take(said.HunkChecked("h1", "a.py", check, status, 5, "said"))
        red = red | {check} if status == "red" else red - {check}
        if undone:
            shown.notes.take(said.HunkUndone("h1", "a.py", 5, 6))
            red = set()
    found = shown.notes.beside("", 0, 1)
    assert (found is not None) == bool(red)
    assert ("check_red" in shown.signs.of("a.py").values()) == bool(red)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    environ = {"HOME": str(tmp_path / "home")}
    config = config_folder(environ)
    config.mkdir(parents=True)
    (config / "config.toml").write_text(
        f'[[checks]]\nname = "ruff"\nkind = "lint"\nfiles = ["*.py"]\ncommand = """{RUFF}"""\n'
    )
    (tmp_path / "project").mkdir()
    Agreements(project_folders((tmp_path / "project").resolve(), environ).state).add([Check("ruff", RUFF)])
    return tmp_path


async def test_a_red_hunk_is_gone_to_and_sent_back_by_keys(folder: Path) -> None:
    async with stage(folder, files={"colours.py": COLOURS}, script=SCRIPT) as it:
        it.app.composer.focus()
        it.app.composer.put("/check on")
        it.key("enter")
        await it.until(lambda: "hunks are judged as they land" in it.screen, "the checks")
        it.key("alt+v")
        await it.until(lambda: "no check has found anything" in it.screen, "that nothing was found")
        it.key("shift+f10")
        await it.until(lambda: "nothing is red" in it.screen, "that nothing is red")
        it.app.composer.put("paint")
        it.key("enter")
        notes = it.app.editor.notes
        await it.until(lambda: notes.of("colours.py") == {1: "check_green", 9: "check_red"}, "the signs")
        await it.until(lambda: "× 10" in it.screen or "×  10" in it.screen, "the sign on the screen")
        it.key("alt+v")
        await it.until(
            lambda: "h2 · colours.py:10 · ruff: F821 Undefined name `violet`" in it.screen, "the finding"
        )
        assert it.app.editor.cursor_location[0] == 9
        it.key("shift+f10")
        await it.until(lambda: "check_red" not in notes.of("colours.py").values(), "the mended hunk")
        await it.until(lambda: "return 30" in (it.root / "colours.py").read_text(), "the file")


async def test_signs_and_findings_are_there_again_in_a_resumed_session(folder: Path) -> None:
    files = {"colours.py": COLOURS}
    async with stage(folder, files=files, script=SCRIPT) as it:
        await it.session.checks.follow()
        it.session.submit("paint")
        notes = it.app.editor.notes
        await it.until(lambda: notes.of("colours.py") == {1: "check_green", 9: "check_red"}, "the signs")
        name = it.session.name
    # A line that comes in above moves the hunks, and their signs with them.
    file = folder / "project" / "colours.py"
    file.write_text(f"# colours\n{file.read_text()}")
    async with stage(folder, files=files, script=SCRIPT, resume=name) as it:
        notes = it.app.editor.notes
        await it.until(lambda: notes.of("colours.py") == {2: "check_green", 10: "check_red"}, "the signs")
        it.key("alt+v")
        await it.until(lambda: "ruff: F821 Undefined name `violet`" in it.screen, "the finding")
        assert "F821 Undefined name `violet` (ruff)" in it.session.checks.request()


def test_the_verdicts_that_stand_are_the_last_ones_about_what_is_still_there() -> None:
    past: list[said.Event] = [
        said.HunkChecked("h1", "a.py", "ruff", "red", 2, "wrong"),
        said.HunkChecked("h1", "a.py", "ruff", "green"),
        said.HunkChecked("h2", "b.py", "ruff", "red", 1, "gone"),
        said.CheckEnded("tests", "red", 1.0, ("a.py:3: fails", "c.py:1: fails too")),
        said.CheckEnded("types", "red", 1.0, ("b.py:3: wrong type",)),
        said.HunkUndone("h2", "b.py", 1, 2),
        said.FileSaved("c.py"),
    ]
    stands = standing(past)
    assert stands == [
        said.CheckEnded("tests", "red", 1.0, ("a.py:3: fails",)),
        said.HunkChecked("h1", "a.py", "ruff", "green"),
    ]
    assert RedNow(past).request().splitlines()[2:-1] == ["- a.py:3: fails (tests)"]
