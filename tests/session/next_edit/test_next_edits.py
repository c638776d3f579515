"""Next edits: a real session, the real partner, real files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from session.events import HunkLanded, NextEditOffered, NextEditsOver, TurnEnded
from tests.session.talking import Listening, talking

FILES = {
    "a.py": "def greet(name):\n    return name\n\n\ndef both(name):\n    return greet(name) + greet(name)\n",
    "b.py": "from a import greet\n\n\nprint(greet('you'))\n",
    "c.js": "greet(1)\n",
    "d.py": "print(1)\n",
}
TOML = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["rename"]
[[scenario.hunk]]
id = "rename"
path = "a.py"
lines = '''
-def greet(name):
+def welcome(name):
     return name
'''
[[scenario.step]]
patch = ["rename"]
[[scenario.step]]
say = "Done.\\n"
"""


@asynccontextmanager
async def opened(folder: Path, **more: str) -> AsyncIterator[Listening]:
    root = folder / "project"
    root.mkdir()
    for path, text in {**FILES, **{name.replace("_", "."): text for name, text in more.items()}}.items():
        (root / path).write_text(text)
    async with talking(root, TOML, rate=10_000.0) as it:
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        yield it


async def rename(it: Listening) -> None:
    opened_file = await it.session.files.read("a.py")
    await it.session.files.save(opened_file, opened_file.text.replace("def greet", "def welcome"))


async def offer(it: Listening, number: int) -> NextEditOffered:
    return await it.until(NextEditOffered, lambda event: event.number == number)


async def test_a_saved_rename_offers_the_places_one_by_one_and_undo_takes_all_back(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await rename(it)
        first = await offer(it, 1)
        assert (first.rename, first.path, first.line, first.total) == ("greet → welcome", "a.py", 6, 3)
        edits = it.session.assist.next_edits
        for number in (1, 2, 3):
            await offer(it, number)
            assert await edits.take()
        await it.until(NextEditsOver)
        assert it.text("b.py") == "from a import welcome\n\n\nprint(welcome('you'))\n"
        assert "return welcome(name) + welcome(name)" in it.text("a.py") and it.text("c.js") == FILES["c.js"]
        assert not await edits.take() and not edits.offered
        turns = {event.turn for event in it.all(HunkLanded)}
        assert len(turns) == 1
        await it.session.hunks.undo_turn(turns.pop())
        assert it.text("b.py") == FILES["b.py"] and "greet(name) + greet(name)" in it.text("a.py")


async def test_the_models_rename_offers_them_once_the_turn_is_over(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        it.session.submit("rename it")
        await it.until(TurnEnded)
        await offer(it, 1)
        order = [event for event in it.events if isinstance(event, TurnEnded | NextEditOffered)]
        assert isinstance(order[0], TurnEnded)
        it.session.submit("something else")
        await it.until(NextEditsOver)
        assert not it.session.assist.next_edits.offered


async def test_a_name_that_another_file_defines_too_is_changed_in_its_own_file_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, other_py="def greet(it):\n    return it\n\n\ngreet(1)\n") as it:
        await rename(it)
        assert (await offer(it, 1)).total == 1


async def test_places_are_passed_over_and_one_that_has_changed_does_not_land(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await rename(it)
        await offer(it, 1)
        edits = it.session.assist.next_edits
        assert edits.pass_over()
        second = await offer(it, 2)
        (it.root / second.path).write_text("something else\n")
        await edits.take()
        await offer(it, 3)
        assert it.text(second.path) == "something else\n" and "greet(name) + greet(name)" in it.text("a.py")
        assert edits.end() and not edits.pass_over() and not await edits.take()


async def test_nothing_is_offered_while_side_requests_are_off(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        it.session.side.switch(on=False)
        await rename(it)
        await asyncio.sleep(0.3)
        assert not it.all(NextEditOffered)


async def test_files_that_are_taken_out_are_not_offered(tmp_path: Path) -> None:
    async with opened(tmp_path) as it:
        await it.session.context.remove("b.py")
        await rename(it)
        assert (await offer(it, 1)).total == 1
