"""Hunks that need the user's OK: which one is asked about, and what the keys and commands answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from session.base.events import HunkHeld, HunkOpened, HunkTyped
from tests.tui.stage import Stage, stage

MANIFEST = """
models = ["gpt-6-luna"]
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "manifest"
path = "requirements.txt"
lines = '''
 click
+left-pad
'''
[[scenario.step]]
say = "One dependency.\\n"
[[scenario.step]]
patch = ["manifest"]
"""


@pytest.mark.parametrize(("key", "text"), [("y", "click\nleft-pad\n"), ("n", "click\n")])
async def test_a_held_hunk_waits_for_a_key(tmp_path: Path, key: str, text: str) -> None:
    async with stage(tmp_path, script=MANIFEST, files={"requirements.txt": "click\n"}) as it:
        await it.ask("add it")
        await it.until(lambda: "? h1" in it.chat, "the held hunk")
        keys = "y apply · n reject · a apply all"
        await it.until(lambda: keys in it.screen, "the question")
        assert "left-pad" in it.chat
        assert (it.root / "requirements.txt").read_text() == "click\n"
        await it.answer(key)
        await it.done()
        assert (it.root / "requirements.txt").read_text() == text
        assert ("✓ h1" in it.chat) == (key == "y")
        assert it.app.composer.has_focus and not it.app.panes.held.display


async def test_a_narrow_bar_says_why_and_both_answers(tmp_path: Path) -> None:
    files = {"requirements.txt": "click\n"}
    async with stage(tmp_path, script=MANIFEST, files=files, size=(40, 10)) as it:
        await it.ask("add it")
        await it.until(lambda: "y apply · n reject" in it.screen, "the answers")
        bar = [line for line in it.screen.splitlines() if "Apply h1? " in line or "left-pad" in line]
        assert "left-pad" in bar[-1] and "…" not in "".join(bar)


async def test_a_stop_says_that_a_held_hunk_did_not_land(tmp_path: Path) -> None:
    async with stage(tmp_path, script=MANIFEST, files={"requirements.txt": "click\n"}) as it:
        await it.ask("add it")
        await it.until(lambda: it.app.panes.held.question is not None, "the question")
        await it.pilot.press("escape")
        await it.until(lambda: "stopped before your OK; nothing of it" in " ".join(it.chat.split()), "it")
        assert (it.root / "requirements.txt").read_text() == "click\n"


TWO_HELD = """
models = ["gpt-6-luna"]
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "click"
path = "requirements.txt"
lines = '''
 one
+left-pad
 two
'''
[[scenario.hunk]]
id = "last"
path = "requirements.txt"
lines = '''
 three
+right-pad
 four
'''
[[scenario.hunk]]
id = "note"
path = "notes.txt"
lines = '''
 a note
+another note
'''
[[scenario.step]]
patch = ["click", "last", "note"]
[[scenario.step]]
say = "That is all.\\n"
"""


async def asked_about(it: Stage, hunk: str, ghost: str, after: str) -> None:
    """Wait for the question about ``hunk``, and for ``ghost`` to be drawn in front of the line ``after``."""
    await it.until(lambda: f"? {hunk}" in it.chat, f"the question about {hunk}")

    def drawn() -> bool:
        lines = [line.split("│")[0].strip() for line in it.screen.split("\n")]
        pairs = pairwise(lines)
        return any(line.startswith(f"+     {ghost}") and below.endswith(after) for line, below in pairs)

    await it.until(drawn, f"what {hunk} would add")
    assert "another note" not in it.screen


async def test_a_file_on_its_way_does_not_cover_the_hunk_that_is_asked_about(tmp_path: Path) -> None:
    files = {"one.txt": "first\n", "two.txt": "second\n"}
    async with stage(tmp_path, files=files, server=False) as it:
        assert await it.app.shown_file.open("one.txt")
        feed = it.app.controls.feed
        feed.take(HunkOpened(turn="t1", hunk="h1", path="one.txt"))
        feed.take(HunkTyped(turn="t1", hunk="h1", kind="+", text="left-pad"))
        feed.take(HunkOpened(turn="t1", hunk="h2", path="two.txt"))
        await asyncio.sleep(0)  # two.txt is being read
        feed.take(HunkHeld(turn="t1", hunk="h1", path="one.txt", guard="locked", message="one.txt is locked"))
        await it.app.shown_file.order.settled()
        assert it.app.shown_file.path == "one.txt"
        assert it.app.editor.flight is not None and it.app.editor.flight.hunk == "h1"


async def test_the_hunk_that_is_asked_about_is_the_one_that_is_shown(tmp_path: Path) -> None:
    files = {"requirements.txt": "one\ntwo\nthree\nfour\n", "notes.txt": "a note\n"}
    async with stage(tmp_path, script=TWO_HELD, files=files) as it:
        await it.ask("add them")
        await it.until(lambda: "… h3" in it.chat, "the hunks behind it")
        await asked_about(it, "h1", "left-pad", "two")
        await it.answer("y")
        await asked_about(it, "h2", "right-pad", "four")
        await it.answer("n")
        await it.done()
        assert "− h2  requirements.txt declined (it adds a" in it.chat and "locked" not in it.chat
        assert (it.root / "requirements.txt").read_text() == "one\nleft-pad\ntwo\nthree\nfour\n"
        assert (it.root / "notes.txt").read_text() == "a note\nanother note\n"


TWO_LOCKED = """
models = ["gpt-6-luna", "spark-practice"]
[[scenario]]
match = ["add"]
[[scenario.hunk]]
id = "one"
path = "one.txt"
lines = '''
 first
+left
'''
[[scenario.hunk]]
id = "two"
path = "two.txt"
lines = '''
 second
+right
'''
[[scenario.step]]
patch = ["one", "two"]
[[scenario.step]]
say = "That is all.\\n"
"""


@asynccontextmanager
async def two_held_hunks(folder: Path) -> AsyncIterator[Stage]:
    """A turn whose two hunks are held while they are typed, since the user locked both files."""
    files = {"one.txt": "first\n", "two.txt": "second\n"}
    async with stage(folder, script=TWO_LOCKED, files=files) as it:
        for path in files:
            await it.session.locks.lock(path)
        await it.ask("add them")
        await it.until(lambda: "? h1" in it.chat and "? h2" in it.chat, "both questions")
        yield it


def texts(it: Stage) -> tuple[str, str]:
    return (it.root / "one.txt").read_text(), (it.root / "two.txt").read_text()


async def test_of_two_held_hunks_the_oldest_is_answered_first(tmp_path: Path) -> None:
    async with two_held_hunks(tmp_path) as it:
        await it.until(lambda: "Apply h1 (1 of 2)? " in it.screen, "the first question")
        await it.answer("y")
        await it.until(lambda: "✓ h1" in it.chat, "the first hunk on disk")
        await it.until(lambda: "Apply h2? two.txt" in it.screen, "the second question")
        assert texts(it) == ("first\nleft\n", "second\n")
        await it.answer("n")
        await it.done()
        assert texts(it) == ("first\nleft\n", "second\n")
        assert "needs your OK" not in it.screen


async def test_apply_all_applies_every_held_hunk(tmp_path: Path) -> None:
    async with two_held_hunks(tmp_path) as it:
        await it.answer("a")
        await it.done()
        assert texts(it) == ("first\nleft\n", "second\nright\n")
        assert "needs your OK" not in it.screen


async def test_a_held_hunk_is_answered_by_its_name_before_an_older_one(tmp_path: Path) -> None:
    async with two_held_hunks(tmp_path) as it:
        await it.pilot.press(*"/decline h2", "enter")
        await it.until(lambda: "Apply h1? one.txt" in it.screen, "the question that is left")
        await it.pilot.press(*"/decline h2", "enter")
        await it.until(lambda: "h2 is not held" in it.screen, "that it is answered")
        await it.answer("y")
        await it.done()
        assert texts(it) == ("first\nleft\n", "second\n")


async def test_a_stopped_turn_asks_about_nothing_more(tmp_path: Path) -> None:
    async with two_held_hunks(tmp_path) as it:
        await it.pilot.press("escape")
        await it.done()
        assert not it.app.panes.held.display
        await it.pilot.press("shift+tab", "y", "a")
        assert texts(it) == ("first\n", "second\n")


ANCHORED = """
models = ["gpt-6-luna"]
[[scenario]]
match = ["add"]
[[scenario.step]]
say = "One more.\\n"
[[scenario.step]]
patch = '''*** Begin Patch
*** Update File: a.py
@@ def two():
     x = 0
-    return x
+    return x + 1
*** End Patch
'''
"""


async def test_a_held_hunk_whose_lines_stand_twice_is_drawn_where_its_anchor_says(tmp_path: Path) -> None:
    files = {"a.py": "def one():\n    x = 0\n    return x\n\n\ndef two():\n    x = 0\n    return x\n"}
    async with stage(tmp_path, script=ANCHORED, files=files) as it:
        it.session.review = True
        await it.ask("add it")
        await it.until(lambda: it.app.panes.held.question is not None, "the question")
        await it.until(lambda: it.app.editor.flight is not None and it.app.editor.path == "a.py", "the hunk")

        def drawn() -> bool:
            flight = it.app.editor.flight
            return flight is not None and flight.overlay(len(it.app.editor.buffer.lines)).removed == {7}

        await it.until(drawn, "the line that goes, in the second function")
        await it.until(lambda: "return x + 1" in it.screen, "the line that comes")
        await it.answer("y")
        await it.done()
        assert (it.root / "a.py").read_text() == files["a.py"].rpartition("return x")[0] + "return x + 1\n"
