"""Next edits in the real app: offered, drawn, taken with Tab; Tab indents everywhere else."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import Stage, stage

FILES = {
    "a.py": "def greet(name):\n    return name\n\n\nprint(greet(1))\n",
    "b.py": "from a import greet\n\nprint(greet(2))\n",
}


async def rename(it: Stage) -> None:
    await it.until(lambda: it.session.context.snapshot.complete, "the reading of the project")
    assert await it.app.shown_file.open("a.py")
    await it.pilot.press("f2")
    it.app.editor.choose(((0, 4), (0, 9)))
    for char in "welcome":
        it.key(char, char)
    it.key("ctrl+s")
    await it.until(lambda: "def welcome" in (it.root / "a.py").read_text(), "the save")
    await it.until(lambda: "3 places left: greet → welcome" in it.app.status.status.message, "the offer")


async def test_tab_tab_tab_takes_one_place_after_the_other(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await rename(it)
        await it.pilot.press("alt+h")
        await it.until(lambda: "1 of 3" in it.app.status.status.message and it.app.editor.flight, "the first")
        assert "print(welcome(1))" in it.screen and "print(greet(1))" in it.app.editor.buffer.text
        await it.pilot.press("tab")
        await it.until(lambda: "print(welcome(1))" in (it.root / "a.py").read_text(), "the landing")
        await it.until(lambda: it.app.editor.path == "b.py" and it.app.editor.flight, "the second")
        await it.pilot.press("tab")
        await it.until(
            lambda: "from a import welcome" in (it.root / "b.py").read_text(), "the second landing"
        )
        await it.until(lambda: "3 of 3" in it.app.status.status.message and it.app.editor.flight, "the third")
        await it.pilot.press("tab")
        await it.until(lambda: "no next edit is left" in it.app.status.status.message, "the end")
        assert "print(welcome(2))" in (it.root / "b.py").read_text()
        editor = it.app.editor
        await it.until(lambda: not editor.flight and "welcome(2)" in editor.buffer.text, "the text")
        before = it.app.editor.buffer.text
        it.app.editor.choose(((0, 0), (0, 0)))

        async def indents() -> bool:
            await it.pilot.press("tab")
            return it.app.editor.buffer.text == "    " + before

        for _ in range(100):
            if await indents():
                break
            assert it.app.editor.buffer.text == before
        else:
            raise AssertionError("Tab does not indent again")


async def test_tabs_that_come_faster_than_the_places_change_nothing_else(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await rename(it)
        await it.pilot.press("alt+h")
        await it.until(lambda: it.app.editor.flight, "the first")
        for _ in range(4):
            it.key("tab", "\t")
        await it.until(lambda: "print(welcome(1))" in (it.root / "a.py").read_text(), "the landing")
        await it.until(lambda: it.app.editor.flight or "no next edit" in it.app.status.status.message)
        for buffer in it.app.shown_file.buffers.dirty:
            raise AssertionError(f"{buffer.path} was changed: {buffer.text}")


async def test_tab_indents_while_nothing_is_drawn_and_typing_hides_what_is(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await rename(it)
        it.app.editor.choose(((2, 0), (2, 0)))
        await it.pilot.press("tab")
        assert it.app.editor.buffer.text.splitlines()[2] == "    ", "an offer that is not drawn takes no key"
        await it.pilot.press("ctrl+z", "alt+h")
        await it.until(lambda: it.app.editor.flight, "the place")
        it.app.editor.choose(((2, 0), (2, 0)))
        it.key("x", "x")
        await it.until(lambda: not it.app.editor.flight, "it hidden")
        await it.pilot.press("tab")
        assert it.app.editor.buffer.text.splitlines()[2].startswith("x ")
        assert "print(greet(1))" in (it.root / "a.py").read_text()


async def test_the_key_passes_over_and_esc_ends(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await rename(it)
        await it.pilot.press("alt+h")
        await it.until(lambda: "1 of 3" in it.app.status.status.message and it.app.editor.flight, "the first")
        await it.pilot.press("alt+h")
        await it.until(
            lambda: "2 of 3" in it.app.status.status.message and it.app.editor.flight, "the second"
        )
        await it.pilot.press("escape")
        await it.until(
            lambda: not it.app.editor.flight and not it.session.assist.next_edits.offered, "the end"
        )
        await it.pilot.press("alt+h")
        assert "there is no next edit" in it.app.status.status.message
        assert (it.root / "b.py").read_text() == FILES["b.py"] and "greet(1)" in (
            it.root / "a.py"
        ).read_text()


async def test_a_place_in_a_file_with_unsaved_text_waits_until_it_is_saved(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await rename(it)
        it.app.editor.choose(((2, 0), (2, 0)))
        it.key("x", "x")
        await it.until(lambda: it.app.editor.buffer.dirty, "the text")
        await it.pilot.press("alt+h")
        await it.until(lambda: "unsaved text" in it.app.status.status.message, "the warning")
        await it.pilot.press("tab")
        assert it.app.editor.buffer.dirty and not it.app.editor.flight
        assert "print(greet(1))" in (it.root / "a.py").read_text()
        await it.pilot.press("ctrl+z", "ctrl+z", "alt+h")
        await it.until(lambda: it.app.editor.flight, "the place")
