"""Tests that edits in thinking without an opening tag leave nothing behind, whenever its end comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from edits.hunk import Landed
from edits.report import NotReceived, UndoneByUser
from session.base.events import HunkDropped, HunkLanded, HunkUndone
from session.turn.response import UnopenedThought
from tests.session.turn.lane_rig import LaneRig

CASES: dict[str, tuple[str, bool]] = {
    "alone on its line": ("I think.\n</think>\n\nYes.\n", True),
    "at the end of a line": ("I think so.</think>\nYes.\n", True),
    "before the answer": ("I think.\n</think>Yes.\n", True),
    "at the end of the text": ("I think.\n</think>", True),
    "with blanks": ("I think.\n  </thinking >  \n", True),
    "Magistral": ("I think.\n[/THINK]\nYes.\n", True),
    "Kimi": ("I think.\n◁/think▷\nYes.\n", True),
    "Sky": ("I think.\n<|end_of_thought|>\nYes.\n", True),
    "in a sentence": ("End it with </think> and go on.\n", False),
    "opened before": ("So:\n<think>\nhm\n</think>\nYes.\n", False),
    "opened and ended on one line": ("<think>hm</think>\nYes.\n", False),
    "opened, ended, and ended again": ("<think>\nhm\n</think>\nmore\n</think>\nYes.\n", True),
    "in a block of code": ("As in\n```html\n</think>\n```\nYes.\n", False),
    "behind a block of code": ("As in\n```html\n<b>\n```\n</think>\nYes.\n", True),
    "of another kind": ("</plan>\n</div>\n", False),
    "none": ("Yes.\n", False),
}


@pytest.mark.parametrize("case", CASES)
def test_the_end_of_thinking_that_nothing_began(case: str) -> None:
    text, ends = CASES[case]
    for size in (1, 5, 1000):
        thought = UnopenedThought()
        found = [thought.ends_in(text[at : at + size]) for at in range(0, len(text), size)]
        assert any(found) is ends and sum(found) <= 1


def patch(path: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-old\n+{new}\n*** End Patch\n"


@pytest.mark.parametrize("steps", range(10))
async def test_drafts_are_taken_back_and_what_follows_lands(tmp_path: Path, steps: int) -> None:
    spark = LaneRig(tmp_path, files=("a.py", "b.py"))
    spark.lane.feed("", "Perhaps so:\n" + patch("a.py", "draft") + patch("b.py", "draft"))
    for _ in range(steps):
        await spark.breathe()
        spark.thread.step()
    spark.lane.feed("", "No.\n</think>\n\nI change a.py alone.\n" + patch("a.py", "new"))
    spark.lane.finish_all(clean_end=True)
    await spark.work()
    await spark.end()
    assert (spark.text("a.py"), spark.text("b.py")) == ("new\n", "old\n")
    *drafts, last = spark.lane.outcomes
    assert isinstance(last, Landed) and len(drafts) == 2
    assert all(isinstance(draft, NotReceived | UndoneByUser) for draft in drafts)
    landed = {event.hunk for event in spark.all(HunkLanded)} - {last.hunk}
    assert landed == {event.hunk for event in spark.all(HunkUndone)}
    assert len(landed) + len(spark.all(HunkDropped)) == 2


async def test_a_draft_that_is_held_is_dropped(tmp_path: Path) -> None:
    spark = LaneRig(tmp_path, files=("a.py",))
    spark.lock("a.py")
    spark.lane.feed("", patch("a.py", "draft"))
    await spark.work()
    assert len(spark.held()) == 1
    spark.lane.feed("", "</think>\n")
    await spark.work()
    await spark.end()
    assert len(spark.all(HunkDropped)) == 1 and spark.text("a.py") == "old\n"
