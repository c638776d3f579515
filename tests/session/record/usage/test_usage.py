"""Usage: what a turn takes and costs, over a real connection, and its sums."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from datetime import date, timedelta
from pathlib import Path

import pytest

from session.base.events import Notice, TextDelta, Usage
from session.base.storage.private_files import StoreError
from session.models.catalogue import Price
from session.record.usage import Spent, UsageFold, spent, total
from session.record.usage_log import UsageLog, read_usage
from tests.session.talking import PLAIN, REPAINT, colours_project, configure, talking

PRICED = "[models.spark-practice]\nprice = { input = 2.0, cached = 0.2, output = 10.0 }\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return colours_project(tmp_path)


# --- one turn --------------------------------------------------------------------------------------


async def test_a_turn_says_its_tokens_its_cost_and_how_quickly_it_came(project: Path) -> None:
    configure(project, PRICED)
    async with talking(project, REPAINT, rate=500) as at:
        at.session.submit("repaint everything")
        await at.ended("t1")
        usage = at.all(Usage)[-1]
        connection = at.session.connection
        assert connection is not None
    # Two rounds: the second continues from the first, whose input the server has.
    assert 0 < usage.cached_tokens < usage.input_tokens and usage.output_tokens > 0
    fresh = usage.input_tokens - usage.cached_tokens
    dollars = (2 * fresh + 0.2 * usage.cached_tokens + 10 * usage.output_tokens) / 1e6
    assert usage.cost == pytest.approx(dollars, abs=1e-8)
    assert usage.model == "spark-practice" and not usage.estimated
    assert usage.first_token_seconds is not None and usage.first_token_seconds > 0
    assert usage.round_trip_seconds is not None and 0 < usage.round_trip_seconds < 5
    assert usage.tokens_per_second is not None and usage.tokens_per_second > 0


async def test_a_price_that_is_unknown_is_no_zero(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        at.session.submit("hello")
        await at.ended("t1")
        assert at.all(Usage)[-1].cost is None
        assert at.session.usage.total.known_cost is None
        assert at.session.usage.total.unpriced == 1


async def test_a_stopped_turn_is_counted_as_an_estimate(project: Path) -> None:
    async with talking(project, REPAINT, rate=200) as at:
        at.session.submit("repaint everything")
        await at.until(TextDelta)
        at.session.interrupt()
        await at.ended("t1")
        all_ = at.session.usage.total
        assert (all_.turns, all_.estimated) == (1, all_.input + all_.output)


async def test_a_resumed_session_goes_on_adding_and_logs_nothing_twice(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        at.session.submit("hello")
        await at.ended("t1")
        before = at.session.usage.total
        journal = at.session.folders.sessions / f"{at.session.name}.jsonl"
    async with talking(project, PLAIN, resume=journal) as at:
        assert at.session.usage.total == before
        at.session.submit("hello again")
        await at.ended("t2")
        after = at.session.usage.total
        assert after.turns == 2 and after.input > before.input
        assert await at.session.usage.today() == (after, Spent())
        rows = read_usage(at.session.folders.usage, date.today())
    assert [(row.usage.turn, row.project, row.provider) for row in rows.rows] == [
        ("t1", str(project), "partner"),
        ("t2", str(project), "partner"),
    ]


async def test_a_log_that_cannot_be_written_is_said_once(project: Path) -> None:
    async with talking(project, REPAINT) as at:
        folder = at.session.folders.usage
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.write_text("in the way")
        for turn in ("t1", "t2"):
            at.session.submit("repaint everything")
            await at.ended(turn)
        told = [event.text for event in at.all(Notice) if "usage" in event.text]
    assert len(told) == 1 and "cannot write" in told[0]


# --- sums ------------------------------------------------------------------------------------------


def used(turn: str = "t1", tokens: int = 100, **more: object) -> Usage:
    return Usage(turn, tokens, tokens // 2, 10, 5, **more)  # type: ignore[arg-type]


def test_later_figures_of_a_turn_take_the_place_of_earlier_ones() -> None:
    fold = UsageFold()
    for event in (used(tokens=100), used(tokens=300, cost=0.5), used("t2", estimated=True)):
        fold.take(event)
    assert fold.total == Spent(2, 400, 200, 20, 10, 110, 0.5, 1)


def test_sums_keep_apart_what_is_estimated_and_what_has_no_price() -> None:
    assert total([]) == Spent()
    assert Spent().known_cost is None
    free = spent(used(cost=0.0))
    assert free.known_cost == 0.0 and free.unpriced == 0
    assert (free + spent(used(cost=None))).known_cost == 0.0


@pytest.mark.parametrize(
    ("tokens", "dollars"),
    [
        ((1_000_000, 0, 0), 2.0),
        ((1_000_000, 1_000_000, 0), 0.2),
        ((0, 0, 1_000_000), 10.0),
        ((10, 20, 0), 4e-6),
    ],
)
def test_cached_input_has_a_price_of_its_own(tokens: tuple[int, int, int], dollars: float) -> None:
    assert Price(2.0, 0.2, 10.0).cost(*tokens) == pytest.approx(dollars)


# --- the log ---------------------------------------------------------------------------------------


def log(folder: Path, session: str = "s1") -> UsageLog:
    return UsageLog(folder, project="/p", session=session, provider="openai")


def test_torn_and_foreign_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    writer = log(tmp_path)
    writer.add(used())
    file = next(tmp_path.iterdir())
    good = file.read_bytes()
    with file.open("ab") as handle:
        handle.write(b'\n[1]\n{"type":"usage"}\n"x"\n' + good.replace(b'"at":', b'"at":1e99,"x":'))
        handle.write(good.replace(b'"input_tokens":100', b'"input_tokens":"many"'))
        handle.write(b"\xff\xfe\n" + good[: len(good) // 2])  # torn by a crash
    writer.add(used("t2"))
    found = read_usage(tmp_path, date.today())
    assert [row.usage.turn for row in found.rows] == ["t1", "t2"]
    assert found.skipped == 7
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_turns_last_line_counts_and_days_before_are_left_out(tmp_path: Path) -> None:
    writer = log(tmp_path)
    writer.add(used(tokens=100))
    writer.add(used(tokens=500))
    file = next(tmp_path.iterdir())
    old = json.loads(file.read_bytes().splitlines()[0])
    (tmp_path / "2001-01.jsonl").write_text("torn, but nobody asks for that month\n")
    yesterday = time.time() - 86_400
    record = {**old, "at": yesterday, "session": "s0"}
    with file.open("a") as handle:
        handle.write(json.dumps(record) + "\n")
    assert [row.usage.input_tokens for row in read_usage(tmp_path, date.today()).rows] == [500]
    both = read_usage(tmp_path, date.today() - timedelta(days=1))
    assert [row.usage.input_tokens for row in both.rows] == [100, 500] and both.skipped == 0


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read_usage(tmp_path / "none", date.today()).rows == ()


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / f"{date.today():%Y-%m}.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"cannot read .*jsonl"):
        read_usage(tmp_path, date.today())


def _write(folder: Path, session: str, turns: int) -> None:
    writer = log(folder, session)
    for turn in range(turns):
        writer.add(used(f"t{turn}", tokens=turn))


async def test_two_processes_write_one_log(tmp_path: Path) -> None:
    """This one writes while the other one does."""
    other = multiprocessing.get_context("spawn").Process(target=_write, args=(tmp_path, "a", 300))
    other.start()
    while other.is_alive() and not list(tmp_path.iterdir()):
        await asyncio.sleep(0.001)
    _write(tmp_path, "b", 300)
    await asyncio.to_thread(other.join)
    found = read_usage(tmp_path, date.today() - timedelta(days=1))
    assert found.skipped == 0
    assert sorted((row.session, row.usage.input_tokens) for row in found.rows) == [
        (name, turn) for name in ("a", "b") for turn in range(300)
    ]
