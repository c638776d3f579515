"""Whole turns: a real session, a real server on a real socket, real files."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from session.base.events import (
    HunkDropped,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    HunkUndone,
    PhaseChanged,
    TextDelta,
    TurnStarted,
    Usage,
)
from session.record.journal.reading import read_records
from session.record.journal.session_list import last_session
from tests.session.talking import COLOURS, PLAIN, REPAINT, talking


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


async def test_hunks_land_in_order_and_the_turn_completes(root: Path) -> None:
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        ended = await talk.ended("t1")
    assert ended.status == "completed"
    assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")
    landed = talk.all(HunkLanded)
    assert [(event.hunk, event.path, event.status, event.tier) for event in landed] == [
        ("h1", "colours.py", "applied", 1),
        ("h2", "colours.py", "applied", 1),
        ("h3", "colours.py", "applied", 1),
    ]
    assert [(event.start, event.end) for event in landed] == [(2, 3), (6, 7), (10, 11)]
    answer = "".join(event.text for event in talk.all(TextDelta))
    assert answer.startswith("Red and green first.") and answer.endswith("All three are done.\n")
    assert "return" not in answer, "edits are no part of the answer's words"
    assert [event.phase for event in talk.all(PhaseChanged)] == [
        *("waiting", "streaming", "settling"),
        *("waiting", "streaming", "settling"),
        *("waiting", "streaming", "settling"),
        "completed",
    ]


@pytest.mark.parametrize("model", ["spark-practice", "spark-practice-text"])
async def test_a_hunk_is_on_disk_while_the_answer_still_streams(root: Path, model: str) -> None:
    async with talking(root, REPAINT, rate=150, model=model) as talk:
        talk.session.submit("repaint it")
        await talk.until(HunkLanded)
        assert talk.session.running
        assert "return 10" in talk.text("colours.py")
        assert "return 30" not in talk.text("colours.py")
        assert (await talk.ended("t1")).status == "completed"
    assert "return 30" in talk.text("colours.py")


async def test_the_text_of_a_hunk_is_published_while_it_is_typed(root: Path) -> None:
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
    first = talk.all(HunkOpened)[0]
    typed = [event for event in talk.all(HunkTyped) if event.hunk == first.hunk]
    lines = {kind: "".join(event.text for event in typed if event.kind == kind) for kind in (" ", "-", "+")}
    assert lines == {" ": "def red():\n", "-": "    return 1\n", "+": "    return 10\n"}


async def test_an_interrupt_stops_at_once_and_keeps_what_landed(root: Path) -> None:
    async with talking(root, REPAINT, rate=100) as talk:
        talk.session.submit("repaint it")
        await talk.until(HunkLanded, lambda event: event.hunk == "h2")
        await talk.until(TextDelta, lambda event: "long" in event.text)
        talk.session.interrupt()
        assert not talk.session.running
        said = len(talk.all(TextDelta))
        ended = await talk.ended("t1")
        await asyncio.sleep(0.3)
        assert ended.status == "interrupted"
        assert len(talk.all(TextDelta)) == said, "something was said after the interrupt"
        usage = talk.all(Usage)[-1]
        assert usage.estimated and usage.output_tokens > 0
        assert talk.partner.cut == 1, "the server was not told"
    assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20")


async def test_a_request_that_the_server_refuses_costs_nothing(root: Path) -> None:
    async with talking(root, f'refuse_models = ["spark-practice"]\n{PLAIN}') as talk:
        talk.session.submit("hello")
        assert (await talk.ended("t1")).status == "failed"
    assert talk.all(Usage) == []


async def test_a_hunk_cut_in_the_middle_is_dropped_whole(root: Path) -> None:
    async with talking(root, REPAINT, rate=40) as talk:
        talk.session.submit("repaint it")
        await talk.until(HunkTyped, lambda event: event.kind == "+")
        talk.session.interrupt()
        await talk.ended("t1")
        (dropped,) = talk.all(HunkDropped)
        assert (dropped.hunk, dropped.path) == ("h1", "colours.py")
        talk.session.submit("go on")
        await talk.until(TurnStarted, lambda event: event.turn == "t2")
        await talk.until(TextDelta, lambda event: event.turn == "t2")
    assert talk.text("colours.py") == COLOURS or "return 10" in talk.text("colours.py")
    assert "h1 not_received colours.py" in talk.sent()


async def test_a_redirect_interrupts_and_continues_from_what_landed(root: Path) -> None:
    async with talking(root, REPAINT, rate=150) as talk:
        talk.session.submit("repaint it")
        await talk.until(HunkLanded, lambda event: event.hunk == "h1")
        talk.session.submit("and be quick about it")
        assert (await talk.ended("t1")).status == "interrupted"
        assert (await talk.ended("t2")).status == "completed"
        request = next(text for text in map(str, talk.requests()) if "be quick" in text)
    assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")
    assert "h1 applied colours.py lines 2-2" in request
    assert "interrupted" in request
    landed = [event.start for event in talk.all(HunkLanded)]
    assert sorted(landed) == [2, 6, 10], "each hunk landed once"


async def test_undo_reverts_one_hunk_and_the_model_is_told(root: Path) -> None:
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
        undone = await talk.session.hunks.undo("h1")
        assert isinstance(undone, HunkUndone)
        assert talk.text("colours.py") == COLOURS.replace("2", "20").replace("3", "30")
        talk.session.submit("what now?")
        await talk.ended("t2")
        assert "h1 undone_by_user colours.py" in talk.sent()
        await talk.session.hunks.redo("h1")
        assert talk.text("colours.py") == COLOURS.replace("1", "10").replace("2", "20").replace("3", "30")
        assert isinstance(await talk.session.hunks.undo("h99"), HunkRefused)


async def test_the_users_own_edit_stands_and_the_model_is_told(root: Path) -> None:
    async with talking(root, REPAINT, rate=150) as talk:
        talk.session.submit("repaint it")
        await talk.until(HunkLanded, lambda event: event.hunk == "h1")
        file = root / "colours.py"
        file.write_text(file.read_text().replace("def red", "def crimson"))
        await talk.ended("t1")
        assert "def crimson():\n    return 10" in talk.text("colours.py")
        talk.session.submit("what now?")
        await talk.ended("t2")
        told = talk.sent()
    assert "-def red():" in told and "+def crimson():" in told


async def test_the_models_own_edits_are_not_shown_to_it_again(root: Path) -> None:
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it, see @colours.py")
        await talk.ended("t1")
        talk.session.submit("what now?")
        await talk.ended("t2")
        first, last = talk.sent(0), talk.sent()
    assert "def green" in first
    assert "return 20" not in last and "def green" not in last


async def test_a_refused_hunk_is_reported_and_the_rest_lands(root: Path) -> None:
    (root / "colours.py").write_text(COLOURS.replace("return 2", "return 'leaf'"))
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        ended = await talk.ended("t1")
        report = talk.sent(1)
    (refused,) = talk.all(HunkRefused)
    assert (refused.hunk, refused.code) == ("h2", "no_match")
    assert "h2 rejected (no_match) colours.py" in report and "return 'leaf'" in report
    assert ended.status == "completed"
    assert "return 30" in talk.text("colours.py")


async def test_a_model_that_writes_edits_as_text_is_shown_its_refused_hunk(root: Path) -> None:
    (root / "colours.py").write_text(COLOURS.replace("return 2", "return 'leaf'"))
    async with talking(root, REPAINT, model="spark-practice-text") as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
        requests = [request for request in talk.partner.requests if request.generate]
    assert len(requests) > 1
    assert "rejected (no_match) colours.py" in talk.sent(1)


async def test_a_second_turn_sends_only_what_is_new(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "long.py").write_text("".join(f"def function_{n}(a, b):\n    return {n}\n\n" for n in range(400)))
    async with talking(root, PLAIN) as talk:
        sizes = []
        for turn, prompt in enumerate(("explain @long.py", "and again"), 1):
            talk.session.submit(prompt)
            await talk.ended(f"t{turn}")
            connection = talk.session.connection
            assert connection is not None
            sizes.append(connection.last_request_bytes)
    with capsys.disabled():
        print(f"\n  request bytes of two turns: {sizes[0]:,} and {sizes[1]:,} ({sizes[1] / sizes[0]:.1%})")
    assert sizes[1] < sizes[0] / 2


async def test_the_journal_holds_the_turn_and_a_resumed_session_shows_it(root: Path) -> None:
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
    folder = talk.session.folders.sessions
    journal = last_session(folder).file
    types = [record["type"] for record in read_records(journal)]
    assert types[0] == "session.started" and types.count("turn.ended") == 1
    assert types.count("hunk.landed") == 3
    async with talking(root, REPAINT, resume=journal) as again:
        past = again.session.past()
        assert sum(isinstance(event, HunkLanded) for event in past) == 3
        again.session.submit("and what did you do?")
        await again.ended("t2")
        assert "repaint it" in again.sent() and "h3 applied colours.py" in again.sent()
