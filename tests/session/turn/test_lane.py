"""The lane with the real landing on real files, its edit thread stepped by hand: every order that matters."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, Refused
from edits.report import NotReceived
from session.base.events import (
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    TextDelta,
)
from session.turn.failures import TurnFailedError
from session.turn.hunk_life import Answer
from tests.session.turn.lane_rig import LaneRig

FILES = ("a.py", "b.py", "c.py")


def rig(folder: Path, *, review: bool = False) -> LaneRig:
    return LaneRig(folder, files=FILES, review=review)


@pytest.mark.parametrize("rounds", range(8))
async def test_a_stop_ends_the_wait_for_a_hunk_that_was_asked_about_twice(
    tmp_path: Path, rounds: int
) -> None:
    """The early look at the path and the landing itself both find the lock, in either order."""
    spark = rig(tmp_path)
    spark.lock("b.py")
    spark.whole("a.py")
    await spark.breathe()
    while spark.thread.step():
        pass
    await spark.breathe(rounds)
    hunk = spark.whole("b.py")
    await spark.work()
    assert spark.held() == [hunk]
    spark.lane.stop()
    await spark.end()
    assert spark.text("b.py") == "old\n" and len(spark.ends(hunk)) == 1


@pytest.mark.parametrize(
    "order", [("a.py", "b.py", "c.py"), ("c.py", "b.py", "a.py"), ("b.py", "a.py", "c.py")]
)
@pytest.mark.parametrize("typed", [True, False], ids=["while typed", "when whole"])
async def test_held_hunks_are_answered_in_any_order_and_each_lands_once_it_is_whole(
    tmp_path: Path, order: tuple[str, ...], typed: bool
) -> None:
    spark = rig(tmp_path)
    spark.lock(*FILES)
    hunks = {name: spark.begin(name) for name in FILES}
    await spark.work()
    assert spark.held() == list(hunks.values())
    if not typed:
        for name in FILES:
            spark.complete(name)
        await spark.work()
    for name in order:
        assert spark.lane.answer(hunks[name], Answer(land=True))
        assert not spark.lane.answer(hunks[name], Answer(land=True)), "it has been answered"
        await spark.work()
    if typed:
        for name in FILES:
            spark.complete(name)
    settled = asyncio.ensure_future(spark.lane.settled())
    await spark.work()
    assert settled.done() and not spark.held()
    names = FILES if typed else order
    assert [event.hunk for event in spark.all(HunkLanded)] == [hunks[name] for name in names]
    await spark.end()


@pytest.mark.parametrize("land", [True, False])
@pytest.mark.parametrize("asked", [0, 1], ids=["from the oldest", "from the newest"])
async def test_all_answers_every_held_hunk_and_those_to_come(tmp_path: Path, land: bool, asked: int) -> None:
    spark = rig(tmp_path)
    spark.lock(*FILES)
    hunks = [spark.whole("a.py"), spark.begin("b.py")]
    await spark.work()
    assert spark.held() == hunks
    assert spark.lane.answer(hunks[asked], Answer(land=land, rest=True))
    spark.complete("b.py")
    hunks.append(spark.whole("c.py"))
    await spark.work()
    assert {spark.text(name) for name in FILES} == {"new\n" if land else "old\n"}
    assert not spark.held() and len(spark.all(HunkHeld)) == 2, "nothing more is asked"
    assert [outcome.hunk for outcome in spark.lane.outcomes] == hunks, "in the order of the answer"
    await spark.end()


async def test_a_declined_hunk_stays_declined_when_all_others_are_landed(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    spark.lock(*FILES)
    first, second = spark.begin("a.py"), spark.begin("b.py")
    await spark.work()
    assert spark.lane.answer(first, Answer(land=False))
    assert spark.lane.answer(second, Answer(land=True, rest=True))
    spark.complete("a.py")
    spark.complete("b.py")
    await spark.work()
    assert (spark.text("a.py"), spark.text("b.py")) == ("old\n", "new\n")
    (end,) = spark.ends(first)
    assert isinstance(end, HunkRefused) and "declined" in end.message
    await spark.end()


async def test_a_hunk_declined_while_typed_does_not_land_once_its_file_is_unlocked(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    spark.lock("a.py")
    hunk = spark.begin("a.py")
    await spark.work()
    assert spark.lane.answer(hunk, Answer(land=False))
    typed = len(spark.all(HunkTyped))
    spark.lock()
    spark.complete("a.py")
    await spark.work()
    assert spark.text("a.py") == "old\n" and len(spark.ends(hunk)) == 1
    assert len(spark.all(HunkTyped)) == typed, "nothing more of it is shown"
    await spark.end()


async def test_a_decline_during_the_check_of_a_hunk_counts(tmp_path: Path) -> None:
    """The hunk is whole and is looked at again; the file is unlocked; the answer comes in between."""
    spark = rig(tmp_path)
    spark.lock("a.py")
    hunk = spark.begin("a.py")
    await spark.work()
    spark.lock()
    spark.complete("a.py")
    await spark.breathe()
    assert spark.lane.answer(hunk, Answer(land=False))
    await spark.work()
    assert spark.text("a.py") == "old\n" and len(spark.ends(hunk)) == 1
    await spark.end()


async def test_a_question_is_void_once_its_file_is_unlocked_before_the_hunk_is_whole(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    spark.lock("a.py")
    hunk = spark.begin("a.py")
    await spark.work()
    spark.lock()
    spark.complete("a.py")
    await spark.work()
    assert spark.text("a.py") == "new\n" and not spark.held()
    assert not spark.lane.answer(hunk, Answer(land=False)), "too late, and said so"
    await spark.end()


@pytest.mark.parametrize("asked_first", [True, False])
async def test_a_hunk_that_breaks_off_closes_its_question(tmp_path: Path, asked_first: bool) -> None:
    spark = rig(tmp_path)
    spark.lock("a.py")
    hunk = spark.begin("a.py")
    if asked_first:
        await spark.work()
        assert spark.held() == [hunk]
    spark.spoil("a.py")
    await spark.work()
    assert not spark.held() and not spark.lane.answer(hunk, Answer(land=True))
    (end,) = spark.ends(hunk)
    assert isinstance(end, HunkRefused) and end.code == "incomplete"
    await asyncio.wait_for(spark.lane.settled(), 5)
    await spark.end()


async def test_the_question_of_a_hunk_that_breaks_off_does_not_wait_for_the_one_before_it(
    tmp_path: Path,
) -> None:
    spark = rig(tmp_path)
    spark.lock("a.py", "b.py")
    first, second = spark.whole("a.py"), spark.begin("b.py")
    await spark.work()
    assert spark.held() == [first, second]
    spark.spoil("b.py")
    await spark.work()
    assert spark.held() == [first]
    spark.lane.stop()
    await spark.end()


@pytest.mark.parametrize("waiting", [0, 2])
@pytest.mark.parametrize("at", ["intent", "settled"])
async def test_a_fault_while_landing_ends_every_hunk_and_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, waiting: int, at: str
) -> None:
    def step(done: str) -> None:
        if done == at:
            raise RuntimeError("boom")

    spark = LaneRig(tmp_path, files=FILES, step=step)
    names = FILES[: 1 + waiting]
    hunks = [spark.whole(name) for name in names]
    settled = asyncio.ensure_future(spark.lane.settled())
    with caplog.at_level(logging.ERROR):
        await spark.work()
    assert settled.done()
    with pytest.raises(TurnFailedError, match="boom"):
        await settled
    assert [len(spark.ends(hunk)) for hunk in hunks] == [1] * len(hunks)
    outcomes = spark.lane.outcomes
    assert [outcome.hunk for outcome in outcomes] == hunks
    assert isinstance(outcomes[0], Landed if at == "settled" else Refused), "what is on disk is told"
    assert spark.text("a.py") == ("new\n" if at == "settled" else "old\n")
    assert all(isinstance(outcome, NotReceived) for outcome in outcomes[1:])
    assert any(record.exc_info for record in caplog.records), "the traceback is in the log"
    await spark.end()


@pytest.mark.parametrize("review", [False, True])
async def test_closing_without_an_answer_drops_what_is_held_and_lands_what_is_before_it(
    tmp_path: Path, review: bool
) -> None:
    """A turn that failed: nobody can answer any more, and nothing waits for it."""
    spark = rig(tmp_path, review=review)
    spark.lock("b.py")
    hunks = [spark.whole(name) for name in FILES]
    await spark.end()
    assert not spark.held() and [len(spark.ends(hunk)) for hunk in hunks] == [1, 1, 1]
    assert (spark.text("b.py"), spark.text("c.py")) == ("old\n", "old\n")
    assert spark.text("a.py") == ("old\n" if review else "new\n")


async def test_hunks_of_two_answers_in_one_turn_have_names_of_their_own(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    for name in ("a.py", "b.py"):
        spark.lane.feed("", f"*** Begin Patch\n*** Update File: {name}\n@@\n-old\n+new\n*** End Patch\n")
        spark.lane.finish_all(clean_end=True)
        await spark.work()
    assert len({event.hunk for event in spark.all(HunkOpened)}) == 2
    assert len(spark.lane.outcomes) == 2
    await spark.end()


async def test_prose_that_comes_at_once_is_told_at_once_and_in_its_place(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+new\n*** End Patch\n"
    spark.lane.feed("", f"One line.\nAnother one.\n\nThe third.\n{patch}And what is behind it.\nTwo lines.\n")
    spark.lane.finish_all(clean_end=True)
    await spark.work()
    told = [event for event in spark.events if isinstance(event, TextDelta | HunkOpened)]
    assert [
        "".join(event.text.split("\n")) if isinstance(event, TextDelta) else "hunk" for event in told
    ] == [
        "One line.Another one.The third.",
        "hunk",
        "And what is behind it.Two lines.",
    ]
    await spark.end()


async def test_a_joined_character_whose_pieces_come_apart_stays_one(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    for piece in ("Done, \N{WOMAN}", "\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} it is.\n"):
        spark.lane.feed("", piece)
        await spark.work()
    spark.lane.finish_all(clean_end=True)
    await spark.work()
    told = [event.text for event in spark.events if isinstance(event, TextDelta)]
    assert len(told) > 1
    assert "".join(told) == "Done, \N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER} it is.\n"
    await spark.end()


PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-old\n+ne"
ENDS: list[tuple[str, str, bool, bool, list[str]]] = [
    ("prose without a line end", "One. Two", True, False, ["One. Two"]),
    ("prose that is cut", "One. *", False, False, ["One. *"]),
    ("what may begin a patch", "One.\n*** Begin", True, False, ["One.\n*** Begin"]),
    ("a hunk", f"{PATCH}w\n*** End Patch", True, False, ["opened", "landed"]),
    ("a hunk that is cut", PATCH, False, False, ["opened", "refused incomplete"]),
    ("a hunk that is sent again", PATCH, False, True, ["opened", "dropped"]),
    ("a hunk without its end", f"{PATCH}w\n", True, False, ["opened", "landed"]),
]


@pytest.mark.parametrize(
    ("text", "clean", "lost", "told"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS]
)
@pytest.mark.parametrize("pieces", [False, True])
async def test_the_end_of_an_answer_ends_what_is_open(
    tmp_path: Path, text: str, clean: bool, lost: bool, told: list[str], pieces: bool
) -> None:
    spark = rig(tmp_path)
    for piece in text if pieces else [text]:
        spark.lane.feed("", piece)
    if lost:
        spark.lane.lose()
    else:
        spark.lane.finish("", clean_end=clean)
    spark.lane.finish("", clean_end=True)
    spark.lane.finish("another", clean_end=True)
    await spark.work()
    found = ["".join(event.text for event in spark.all(TextDelta))]
    for event in spark.events:
        match event:
            case HunkOpened():
                found.append("opened")
            case HunkLanded():
                found.append("landed")
            case HunkRefused(code=code):
                found.append(f"refused {code}")
            case HunkDropped():
                found.append("dropped")
    assert [each for each in found if each] == told
    assert spark.text("a.py") == ("new\n" if "landed" in told else "old\n")
    await spark.end()


async def test_a_stopped_lane_takes_no_end(tmp_path: Path) -> None:
    spark = rig(tmp_path)
    spark.lane.feed("", f"One.\n{PATCH}")
    spark.lane.stop()
    before = list(spark.events)
    spark.lane.finish_all(clean_end=True)
    await spark.work()
    assert spark.events == before and len(spark.all(HunkDropped)) == 1
    await spark.end()


def whole(action: Action, *lines: str) -> Hunk:
    return Hunk("a.py", action, Format.V4A, tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines))


@pytest.mark.parametrize(
    ("edit", "action", "typed", "text"),
    [
        (whole(Action.UPDATE, "-old", "+new"), "update", [("-", "old\n"), ("+", "new\n")], "new\n"),
        (
            whole(Action.UPDATE, " old", "+a", "+b\x1b"),
            "update",
            [(" ", "old\n"), ("+", "a\nb␛\n")],
            "old\na\nb\x1b\n",
        ),
        (whole(Action.DELETE), "delete", [], None),
    ],
)
async def test_an_edit_that_is_whole_is_shown_as_if_it_were_typed(
    tmp_path: Path, edit: Hunk, action: str, typed: list[tuple[str, str]], text: str | None
) -> None:
    spark = rig(tmp_path)
    spark.lane.land(edit)
    await spark.work()
    (opened,) = spark.all(HunkOpened)
    assert (opened.path, opened.action) == ("a.py", action)
    assert [(event.kind, event.text) for event in spark.all(HunkTyped)] == typed
    file = spark.root / "a.py"
    assert (file.read_text() if file.exists() else None) == text
    spark.lane.stop()
    spark.lane.land(edit)
    await spark.end()
    assert len(spark.all(HunkOpened)) == 1, "a stopped lane takes no more"
