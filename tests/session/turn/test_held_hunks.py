"""Hunks that wait for the user: guards, locks and review mode, on a real session."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from edits.files.durable import no_step
from session.base.events import (
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    TextDelta,
)
from session.project.locks import LockError
from tests.session.talking import talking

THREE = '''
models = ["spark-practice"]
[[scenario]]
match = ["go"]

[[scenario.hunk]]
id = "a"
path = "a.py"
lines = """
-one = 1
+one = 10
"""

[[scenario.hunk]]
id = "manifest"
path = "package.json"
lines = """
   "dependencies": {
+    "left-pad": "^1.0.0",
     "express": "^4.0.0"
"""

[[scenario.hunk]]
id = "b"
path = "b.py"
lines = """
-two = 2
+two = 20
"""

[[scenario.step]]
say = "Three edits.\\n"
[[scenario.step]]
patch = ["a", "manifest", "b"]
[[scenario.step]]
say = "Done.\\n"
'''

MANIFEST = '{\n  "dependencies": {\n    "express": "^4.0.0"\n  }\n}\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("one = 1\n")
    (folder / "b.py").write_text("two = 2\n")
    (folder / "package.json").write_text(MANIFEST)
    return folder


async def test_a_guard_holds_its_hunk_and_all_behind_it_until_the_user_agrees(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert (held.path, held.guard) == ("package.json", "dependency") and "left-pad" in held.message
        await asyncio.sleep(0.2)
        assert talk.session.running
        assert talk.text("a.py") == "one = 10\n" and talk.text("b.py") == "two = 2\n"
        assert talk.text("package.json") == MANIFEST
        assert talk.session.answer(held.hunk, land=True)
        assert (await talk.ended("t1")).status == "completed"
        assert not talk.session.answer(held.hunk, land=True), "it waits no more"
    assert "left-pad" in talk.text("package.json") and talk.text("b.py") == "two = 20\n"


async def test_a_declined_hunk_is_refused_and_the_rest_lands(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert talk.session.answer(held.hunk, land=False)
        assert (await talk.ended("t1")).status == "completed"
        report = talk.sent()
    (refused,) = talk.all(HunkRefused)
    assert refused.code == "locked" and "declined" in refused.message
    assert "declined" in report
    assert talk.text("package.json") == MANIFEST and talk.text("b.py") == "two = 20\n"


async def test_the_word_of_a_refusal_goes_to_the_model(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert talk.session.answer(held.hunk, land=False, why="no new\x1b[31m dependencies")
        assert (await talk.ended("t1")).status == "completed"
        sent = talk.sent()
        assert "the developer declined it: no new" in sent and "dependencies" in sent and "\x1b" not in sent


async def test_a_held_hunk_lands_as_the_user_edited_it_and_the_model_is_told(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        new = ['  "dependencies": {', '    "right-pad": "^2.0.0",', '    "express": "^4.0.0"']
        assert talk.session.answer(held.hunk, land=True, new=new)
        assert (await talk.ended("t1")).status == "completed"
        sent = talk.sent()
    assert talk.text("package.json") == MANIFEST.replace(new[2], "\n".join(new[1:]))
    assert "the developer changed it before it landed" in sent and "right-pad" in sent


async def test_an_interrupt_while_a_hunk_is_held_drops_it(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        await talk.until(HunkHeld)
        talk.session.interrupt()
        assert (await talk.ended("t1")).status == "interrupted"
        assert talk.text("package.json") == MANIFEST and talk.text("b.py") == "two = 2\n"
        assert [event.path for event in talk.all(HunkLanded)] == ["a.py"]


async def test_review_mode_holds_every_hunk_and_one_answer_lands_the_rest(root: Path) -> None:
    async with talking(root, THREE, review=True) as talk:
        talk.session.submit("go")
        first = await talk.until(HunkHeld)
        assert (first.path, first.guard) == ("a.py", "review")
        assert talk.text("a.py") == "one = 1\n"
        assert talk.session.answer(first.hunk, land=True, rest=True)
        assert (await talk.ended("t1")).status == "completed"
    assert len(talk.all(HunkHeld)) == 1 and len(talk.all(HunkLanded)) == 3


@pytest.mark.parametrize("wanted", [True, False])
async def test_review_mode_can_be_turned_on_and_off(root: Path, wanted: bool) -> None:
    async with talking(root, THREE, review=not wanted) as talk:
        talk.session.review = wanted
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert (held.guard == "review") is wanted
        talk.session.answer(held.hunk, land=True, rest=True)
        await talk.ended("t1")
        assert talk.text("a.py") == "one = 10\n"


async def test_where_nobody_can_be_asked_review_refuses(root: Path) -> None:
    async with talking(root, THREE, review=True, attended=False) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
    assert [event.code for event in talk.all(HunkRefused)] == ["locked"] * 3
    assert talk.text("a.py") == "one = 1\n"


async def test_locked_files_and_lines_are_held(root: Path) -> None:
    async with talking(root, THREE) as talk:
        assert await talk.session.locks.lock("a.py") == "a.py is locked"
        assert await talk.session.locks.lock("b.py:1") == "lines 1-1 of b.py are locked"
        assert await talk.session.locks.shown() == ("a.py", "b.py:1-1")
        talk.session.submit("go")
        held = await talk.until(HunkHeld, lambda event: event.path == "a.py")
        talk.session.answer(held.hunk, land=False)
        held = await talk.until(HunkHeld, lambda event: event.path == "package.json")
        talk.session.answer(held.hunk, land=True)
        held = await talk.until(HunkHeld, lambda event: event.path == "b.py")
        talk.session.answer(held.hunk, land=False)
        await talk.ended("t1")
        await talk.session.locks.unlock("all")
        assert await talk.session.locks.shown() == ()
        for wrong in ("a.py:9-12", "nowhere.py:1", "../outside.py:1"):
            with pytest.raises(LockError):
                await talk.session.locks.lock(wrong)
        with pytest.raises(LockError, match="not locked"):
            await talk.session.locks.unlock("a.py")
    assert talk.text("a.py") == "one = 1\n" and talk.text("b.py") == "two = 2\n"


async def test_all_hunks_of_a_turn_are_undone_at_once(root: Path) -> None:
    async with talking(root, THREE) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        talk.session.answer(held.hunk, land=True)
        await talk.ended("t1")
        undone = await talk.session.hunks.undo_turn()
        assert [event.type for event in undone] == ["hunk.undone"] * 3
        assert await talk.session.hunks.undo_turn() == []
    assert talk.text("a.py") == "one = 1\n" and talk.text("package.json") == MANIFEST


async def test_a_locked_path_is_asked_about_while_its_hunk_is_still_typed(root: Path) -> None:
    async with talking(root, THREE, rate=30) as talk:
        await talk.session.locks.lock("a.py")
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        typed = [event for event in talk.all(HunkTyped) if event.kind == "+"]
        assert held.path == "a.py" and not typed, "asked before its new text came"
        assert talk.session.answer(held.hunk, land=True)
        landed = await talk.until(HunkLanded)
        assert landed.hunk == held.hunk
        assert len([event for event in talk.all(HunkHeld) if event.hunk == held.hunk]) == 1


async def test_review_and_a_guard_ask_once_and_say_both(root: Path) -> None:
    async with talking(root, THREE, review=True) as talk:
        await talk.session.locks.lock("package.json")
        talk.session.submit("go")
        for number in range(1, 4):
            async with asyncio.timeout(20):
                while len(asked := talk.all(HunkHeld)) < number:
                    await talk.news()
            talk.session.answer(asked[-1].hunk, land=True)
        assert (await talk.ended("t1")).status == "completed"
    asked = talk.all(HunkHeld)
    assert [(event.path, event.guard) for event in asked] == [
        ("a.py", "review"),
        ("package.json", "review"),
        ("b.py", "review"),
    ]
    assert asked[1].message == (
        "package.json is locked by the user (package.json); it adds a dependency: left-pad; "
        "review mode holds every edit until you answer"
    )
    assert len(talk.all(HunkLanded)) == 3


async def test_review_does_not_ask_about_what_cannot_land(root: Path) -> None:
    (root / "a.py").write_text("something else\n")
    (root / "b.py").write_text("two = 20\n")
    async with talking(root, THREE, review=True) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert held.path == "package.json"
        talk.session.answer(held.hunk, land=False)
        await talk.ended("t1")
    assert [event.code for event in talk.all(HunkRefused)] == ["no_match", "locked"]
    assert [event.status for event in talk.all(HunkLanded)] == ["already_applied"]


async def test_a_whole_hunk_adds_its_own_reasons_to_an_early_question(root: Path) -> None:
    async with talking(root, THREE) as talk:
        await talk.session.locks.lock("package.json")
        talk.session.submit("go")
        both = await talk.until(HunkHeld, lambda event: "dependency" in event.message)
        assert both.message.startswith("package.json is locked by the user (package.json); it adds")
        assert talk.session.answer(both.hunk, land=True)
        assert (await talk.ended("t1")).status == "completed"
    assert talk.all(HunkHeld)[-1] == both, "nothing is asked again"
    assert "left-pad" in talk.text("package.json")


async def test_a_stop_during_a_check_asks_nothing_and_waits_for_nothing(root: Path) -> None:
    """The guard trips after the stop: nobody would answer it any more."""
    async with talking(root, THREE) as talk:
        loop, seen = asyncio.get_running_loop(), threading.Event()

        def check(path: str) -> bool:
            if path == "a.py" and not seen.is_set() and talk.all(HunkTyped):
                loop.call_soon_threadsafe(stop)
                seen.wait(10)
                return True
            return False

        def stop() -> None:
            talk.session.interrupt()
            seen.set()

        landing = talk.session._workspace.landing
        assert landing.protection is not None
        landing.protection = replace(landing.protection, secret=check)
        talk.session.submit("go")
        assert (await talk.ended("t1")).status == "interrupted"
    assert not talk.all(HunkHeld) and talk.text("a.py") == "one = 1\n"


async def test_all_lands_what_is_held_and_what_is_typed_behind_it(root: Path) -> None:
    async with talking(root, THREE, rate=60) as talk:
        await talk.session.locks.lock("a.py")
        await talk.session.locks.lock("b.py")
        talk.session.submit("go")
        held = await talk.until(HunkHeld, lambda event: event.path == "b.py")
        assert talk.session.answer(held.hunk, land=True, rest=True)
        assert (await talk.ended("t1")).status == "completed"
    assert len(talk.all(HunkLanded)) == 3 and not talk.all(HunkRefused)


async def test_all_declines_what_is_held_and_what_comes(root: Path) -> None:
    async with talking(root, THREE, review=True) as talk:
        talk.session.submit("go")
        first = await talk.until(HunkHeld)
        assert talk.session.answer(first.hunk, land=False, rest=True)
        assert (await talk.ended("t1")).status == "completed"
    assert len(talk.all(HunkHeld)) == 1 and len(talk.all(HunkRefused)) == 3
    assert talk.text("a.py") == "one = 1\n" and talk.text("b.py") == "two = 2\n"


async def test_a_turn_that_fails_while_a_hunk_is_held_ends_and_the_next_one_runs(root: Path) -> None:
    fail = 'fail = {code = "invalid_prompt", message = "No.", once = true}'
    script = THREE.replace('say = "Done', f'{fail}\n[[scenario.step]]\nsay = "Done')
    script = script.replace("spark-practice", "spark-practice-text")
    async with talking(root, script, model="spark-practice-text") as talk:
        talk.session.submit("go")
        ended = await talk.ended("t1")
        assert ended.status == "failed" and "No." in (ended.message or "")
        assert talk.text("package.json") == MANIFEST and talk.text("b.py") == "two = 2\n"
        assert not any(talk.session.answer(each.hunk, land=True) for each in talk.all(HunkOpened))
        talk.session.submit("go")
        await talk.until(TextDelta, lambda event: event.turn == "t2")
        talk.session.interrupt()
        assert (await talk.ended("t2")).status == "interrupted"


@pytest.mark.parametrize(
    "edits", ['["a"]', '["a", "manifest", "b"]'], ids=["the last", "with more behind it"]
)
async def test_a_fault_in_spark_while_landing_fails_the_turn_and_not_the_session(
    root: Path, caplog: pytest.LogCaptureFixture, edits: str
) -> None:
    async with talking(root, THREE.replace('["a", "manifest", "b"]', edits)) as talk:
        landing = talk.session._workspace.landing

        def step(done: str) -> None:
            landing._step = no_step
            raise RuntimeError(f"boom at {done}")

        landing._step = step
        talk.session.submit("go")
        ended = await talk.ended("t1")
        assert (ended.status, ended.code) == ("failed", "internal")
        assert ended.message == "spark itself failed while landing edits (RuntimeError: boom at intent)"
        assert talk.text("a.py") == "one = 1\n" and talk.text("b.py") == "two = 2\n"
        opened = [event.hunk for event in talk.all(HunkOpened)]
        refused, dropped = talk.all(HunkRefused), talk.all(HunkDropped)
        assert sorted([*(event.hunk for event in refused), *(event.hunk for event in dropped)]) == opened
        talk.session.submit("go")
        await talk.until(TextDelta, lambda event: event.turn == "t2")
        talk.session.interrupt()
        assert (await talk.ended("t2")).status == "interrupted"
    assert "boom at intent" in caplog.text
