"""Refactors in place: a real session, the real partner, real files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.assist.refactor import RefactorError, Selection, around, request
from session.base.events import HunkLanded, HunkRefused, Notice, TextDelta
from tests.secret_texts import pieces, private_key
from tests.session.talking import Listening, talking
from tests.thorough import share

TEXT = "def one():\n    return 1\n\n\ndef two():\n    return 2\n\n\ndef three():\n    return 3\n"


def block(old: str, new: str, path: str = "a.py") -> str:
    return f"{path}\n```python\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"


@asynccontextmanager
async def opened(folder: Path, said: str, rate: float = 100_000.0) -> AsyncIterator[Listening]:
    root = folder / "project"
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text(TEXT)
    (root / "b.py").write_text(TEXT)
    toml = f"""
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["rewrite the selected"]
[[scenario.step]]
say = {json.dumps(said)}
"""
    async with talking(root, toml, rate=rate) as it:
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        it.session.typing()
        yield it


def start(it: Listening, first: int = 5, last: int = 6, path: str = "a.py") -> None:
    it.session.assist.refactors.start(path, first, TEXT.splitlines()[first - 1 : last], "double it")


async def ended(it: Listening) -> str:
    words = ("refactor", "rewrote", "rewriting", "model")
    return (await it.until(Notice, lambda event: any(word in event.text for word in words))).text


async def test_the_selected_lines_are_rewritten_as_hunks_that_are_undone_together(tmp_path: Path) -> None:
    said = block("def two():\n", "def two() -> int:\n") + block("    return 2\n", "    return 4\n")
    async with opened(tmp_path, said) as it:
        start(it)
        assert "2 hunks landed" in await ended(it)
        assert it.text("a.py") == TEXT.replace("def two():", "def two() -> int:").replace(
            "return 2", "return 4"
        )
        turns = {event.turn for event in it.all(HunkLanded)}
        assert len(turns) == 1 and not it.all(TextDelta)
        await it.session.hunks.undo_turn(turns.pop())
        assert it.text("a.py") == TEXT


@pytest.mark.parametrize(
    "said",
    [
        block("    return 1\n", "    return 4\n"),
        block("    return 2\n", "    return 4\n", "b.py"),
        block("", "x = 1\n", "c.py"),
        block("    return 2\n\n\ndef three():\n", "    return 4\n\n\ndef four():\n"),
    ],
    ids=["above", "another file", "a new file", "half outside"],
)
async def test_what_is_outside_of_the_selection_is_refused_with_a_reason(tmp_path: Path, said: str) -> None:
    async with opened(tmp_path, said) as it:
        start(it)
        assert "0 hunks landed · 1 refused" in await ended(it)
        (refused,) = it.all(HunkRefused)
        assert "selected lines 5–6 of a.py" in refused.message
        assert it.text("a.py") == TEXT == it.text("b.py") and not (it.root / "c.py").exists()


async def test_lines_around_may_stand_in_a_hunk_that_leaves_them_as_they_are(tmp_path: Path) -> None:
    old = "    return 1\n\n\ndef two():\n    return 2\n"
    async with opened(tmp_path, block(old, old.replace("return 2", "total = 2\n    return total"))) as it:
        start(it)
        assert "1 hunk landed" in await ended(it)
        assert it.text("a.py") == TEXT.replace("return 2", "total = 2\n    return total")


async def test_the_selection_grows_with_its_hunks(tmp_path: Path) -> None:
    said = block("def two():\n", "# one\n# two\n# three\ndef two():\n") + block(
        "    return 2\n", "    return 4\n"
    )
    async with opened(tmp_path, said) as it:
        start(it)
        assert "2 hunks landed" in await ended(it)


async def test_a_stop_lands_nothing_more(tmp_path: Path) -> None:
    filler = "".join(f"    x{number} = {number}\n" for number in range(400))
    said = block("def two():\n", "def two() -> int:\n") + block("    return 2\n", f"{filler}    return 4\n")
    async with opened(tmp_path, said, rate=300.0) as it:
        start(it)
        await it.until(HunkLanded)
        it.session.interrupt()
        at_stop = it.text("a.py")
        assert "was stopped: 1 hunk landed" in await ended(it)
        assert it.text("a.py") == at_stop and "x1 = 1" not in at_stop
        assert not it.session.assist.refactors.running


async def test_the_conversation_is_not_told_but_of_the_new_lines(tmp_path: Path) -> None:
    async with opened(tmp_path, block("    return 2\n", "    return 4\n")) as it:
        start(it)
        await ended(it)
        it.session.submit("what is here?")
        await it.session.settled()
        assert "double it" not in it.sent() and "Rewrite the selected" not in it.sent()


async def test_what_cannot_be_refactored_is_said(tmp_path: Path) -> None:
    async with opened(tmp_path, "nothing") as it:
        refactors = it.session.assist.refactors
        with pytest.raises(RefactorError, match="sentence"):
            refactors.start("a.py", 5, ["def two():"], "  ")
        with pytest.raises(RefactorError, match="at most"):
            refactors.start("a.py", 5, [], "double it")
        refactors.start("a.py", 4, ["def two():"], "double it")
        assert "save it" in (await it.until(Notice, lambda event: "save it" in event.text)).text
        await it.session.context.remove("b.py")
        refactors.start("b.py", 5, ["def two():"], "double it")
        await it.until(Notice, lambda event: "not shown to models" in event.text)
        assert not it.all(HunkLanded)


lines = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12)


@given(lines, lines, lines, lines)
def test_a_selection_stays_on_its_lines_when_others_change(
    above: list[str], mine: list[str], below: list[str], new: list[str]
) -> None:
    unique = ["first line of mine", *mine, "last line of mine"]
    before = [*above, "border", *unique, "border", *below]
    selection = Selection(len(above) + 1, len(above) + 1 + len(unique))
    for after in ([*new, "border", *unique, "border", *below], [*above, "border", *unique, "border", *new]):
        moved = selection.moved(before, after)
        assert after[moved.start : moved.end] == unique
        assert moved.holds(after, [*after[: moved.start], "x", *after[moved.end :]])


@settings(max_examples=share(200, 15))
@given(st.lists(st.text(max_size=40), min_size=1, max_size=60), st.data())
def test_what_is_shown_holds_the_selection_and_no_more_than_there_is_room_for(
    text: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    shown = around(text, Selection(start, end), 200)
    assert shown.start <= start and shown.end >= end
    extra = [*text[shown.start : start], *text[end : shown.end]]
    assert sum(len(line) + 1 for line in extra) <= 200 + 41


def test_a_private_key_that_begins_far_above_the_selection_is_masked() -> None:
    key = private_key(60)
    lines = ("x = 1", *key, "y = 1")
    for selected in (Selection(40, 42), Selection(len(lines) - 1, len(lines))):
        data, _ = request("a.py", lines, selected, "tidy up")
        assert not any(pieces(data, line) for line in key[1:-1])
