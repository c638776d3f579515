"""The list of files where the project is still being read: Enter waits for the file."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from context.project.project import Project
from context.project.snapshot import Snapshot
from tests.tui.stage import Stage, stage
from themes.loader import load_theme
from tui.app.overlays import file_picker
from tui.app.overlays.file_picker import FilePicker
from tui.front.matching import best
from tui.screen.drawing.palette import Palette

WAITS = "waits for the file to be found"


@pytest.fixture
def listing(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once the project's files may be listed, as late as in a large project on a slow disk."""
    listed, scan = threading.Event(), Project.scan

    def late(project: Project, *told: object) -> Snapshot:
        assert listed.wait(30)
        return scan(project, *told)  # type: ignore[arg-type]

    monkeypatch.setattr(Project, "scan", late)
    return listed


async def asked(at: Stage, *behind: str) -> None:
    """Ctrl+P, a name, Enter and the keys ``behind``, all in one read."""
    for key in ("ctrl+p", *"greet", "enter", *behind):
        at.key(key, key if len(key) == 1 else None)
    await at.until(lambda: WAITS in at.screen, "the wait")


async def test_enter_waits_for_files_that_are_not_known_yet(tmp_path: Path, listing: threading.Event) -> None:
    async with stage(tmp_path) as at:
        await asked(at, "y")
        listing.set()
        await at.until(lambda: at.app.shown_file.path == "greeter.py", "the file")
        await at.until(lambda: at.app.editor.buffer.text.startswith('y"""Says hello'), "the key behind it")


async def test_escape_ends_the_wait(tmp_path: Path, listing: threading.Event) -> None:
    async with stage(tmp_path) as at:
        await asked(at)
        at.key("escape")
        await at.until(lambda: not isinstance(at.app.screen, FilePicker), "the panes")
        listing.set()
        await at.until(at.session.files.list, "what the project holds")
        assert at.app.is_running and at.app.shown_file.path == ""
        at.app.composer.focus()
        await at.pilot.press("a")
        assert at.app.composer.text == "a"


async def test_escape_ends_a_search_that_enter_waits_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, searched = threading.Event(), threading.Event()

    def slow(
        query: str, paths: Sequence[str], most: int, first: Collection[str]
    ) -> list[tuple[str, frozenset[int]]]:
        if query:
            going.set()
            assert searched.wait(30)
        return best(query, paths, most, first)

    monkeypatch.setattr(file_picker, "best", slow)
    async with stage(tmp_path) as at:
        await at.until(at.session.files.list, "what the project holds")
        for key in ("ctrl+p", "g", "enter"):
            at.key(key, key if len(key) == 1 else None)
        await at.until(going.is_set, "the search")
        at.key("escape")
        await at.until(lambda: not isinstance(at.app.screen, FilePicker), "the panes")
        searched.set()
        await at.pilot.press("a")
        assert at.app.is_running and at.app.composer.text == "a"


async def test_a_name_that_no_file_has_ends_the_wait_with_the_reading(
    tmp_path: Path, listing: threading.Event
) -> None:
    async with stage(tmp_path, files={"other.py": "x = 1\n"}) as at:
        await asked(at)
        listing.set()
        await at.until(lambda: "Enter makes greet" in at.screen, "what another Enter does")
        assert WAITS not in at.screen and not (at.root / "greet").exists()
        await at.pilot.press("escape")
        await at.until(lambda: not isinstance(at.app.screen, FilePicker), "the panes")
        assert at.app.shown_file.path == ""


async def test_a_file_that_becomes_known_as_the_reading_ends_is_found(tmp_path: Path) -> None:
    known: list[str] = []
    taken: list[str | None] = []

    def reading() -> bool:
        known.append("late.py")
        return False

    async with stage(tmp_path) as at:
        palette = Palette(load_theme("dark"))
        at.app.push_screen(FilePicker(palette, lambda: tuple(known), "", reading=reading), taken.append)
        await at.pilot.press(*"late", "enter")
        await at.until(lambda: taken, "what was taken")
        assert taken == ["late.py"]


def test_edited_files_come_before_those_that_match_as_well() -> None:
    paths = ("a.md", "docs/utils.md", "src/click/utils.py")
    assert best("utils", paths, 9)[0][0] == "docs/utils.md"
    assert best("utils", paths, 9, {"src/click/utils.py"})[0][0] == "src/click/utils.py"
    assert best("", paths, 9, {"src/click/utils.py"})[0][0] == "src/click/utils.py"
    assert best("docs", paths, 9, {"src/click/utils.py"})[0][0] == "docs/utils.md"


def test_a_name_that_begins_as_typed_comes_before_a_shorter_path_that_holds_it() -> None:
    paths = ("tests/test_hooks.py", "src/requests/hooks.py")
    assert [path for path, _ in best("hooks.py", paths, 9)] == list(reversed(paths))


async def test_a_name_that_is_not_there_is_offered_to_be_made(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(80, 24)) as it:
        await it.until(it.session.files.list, "what the project holds")
        await it.pilot.press("ctrl+p", *"tests/new.py")
        await it.until(lambda: "Enter offers to make it" in it.screen, "the offer")
        await it.pilot.press("enter")
        await it.until(lambda: "Enter makes tests/new.py" in it.screen, "the question")
        assert not (it.root / "tests").exists(), "nothing is made by the key that was meant to open a file"
        await it.pilot.press("enter")
        await it.until(lambda: it.app.shown_file.path == "tests/new.py", "the file")
        assert (it.root / "tests/new.py").read_text() == ""
        await it.pilot.press("x", "ctrl+s")
        await it.until(lambda: (it.root / "tests/new.py").read_text() == "x", "what was typed")


async def test_a_file_outside_the_project_is_not_made(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "what the project holds")
        await it.pilot.press("ctrl+p", *"../out.py", "enter", "enter")
        await it.until(lambda: "is outside the project" in it.screen, "why not")
        assert not (tmp_path / "out.py").exists()
