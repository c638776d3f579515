"""Usage on the screen, in line mode's words, and through ``spark usage``."""

from __future__ import annotations

import json
import re
import time
from datetime import date, timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len

from session.base.events import TurnStarted, Usage
from session.base.storage.folders import project_folders
from session.record.usage import Spent
from session.record.usage_log import UsageLog
from tests.conftest import RunSpark
from tests.tui.stage import stage
from tui.app.panes.status import Status, parts
from tui.front.words.figures import compact, dollars, duration, said, speeds, turn_said

PRICED = '[models."gpt-6-luna"]\nprice = { input = 100.0, cached = 10.0, output = 500.0 }\n'


def configure(folder: Path, text: str) -> None:
    config = folder / "home" / ".config" / "spark"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(text)


# --- the screen ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "shown"), [(150, "% cached) · "), (80, "$"), (40, "ready")], ids=["150", "80", "40"]
)
async def test_the_status_line_shows_what_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, width: int, shown: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    configure(tmp_path, PRICED)
    async with stage(tmp_path, size=(width, 24)) as it:
        await it.ask("make it polite")
        await it.done()
        line = it.screen.splitlines()[-1]
        assert shown in line and cell_len(line) <= width
        usage = it.session.usage.total
        assert usage.turns == 1 and usage.cached and usage.known_cost
        if width == 150:
            assert compact(usage)[0] in line


async def test_auto_and_the_turns_figures_are_told(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(140, 30)) as it:
        it.session.models.choose(effort="auto")
        await it.ask("just talk")
        await it.until(lambda: it.app.status.status.picked, "the effort")
        assert "auto: low (asks for speed, short request)" in it.screen.splitlines()[-1]
        await it.done()
        it.app.chat.fold(unfolded=True)
        it.app.chat.settle_now()
        told = " ".join(it.chat.split())
        assert "auto: low (asks for speed, short request) · " in told
        # What was sent ahead while the prompt was typed may be in the server's cache.
        assert re.search(r"k in (\(\d+% cached\) )?· ", told) and "<$0.0001 · first token " in told
        it.app.composer.insert("/usage")
        it.key("enter", "\r")
        await it.until(lambda: "list price of gpt-6-luna" in " ".join(it.chat.split()), "the report")
        told = " ".join(it.chat.split())
        assert "this session, 1 turn: " in told and "today, all projects, 1 turn: " in told


async def test_a_faster_tier_is_told_and_shown(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(140, 24)) as it:
        it.app.composer.insert("/fast")
        it.key("enter", "\r")
        await it.until(lambda: "fast is on (service_tier priority)" in it.screen, "the tier")
        assert it.app.status.status.tier == "fast" and it.session.models.fast
        it.app.composer.insert("/fast off")
        it.key("enter", "\r")
        await it.until(lambda: not it.session.models.fast, "the usual tier")


FULL = Status(
    model="gpt-5.3-codex-spark",
    effort="auto",
    picked="auto: low (short request)",
    link="ready",
    used=12_345,
    window=128_000,
    speed=1043.4,
    usage=("12.3k in (71% cached) · 840 out · $0.02", "12.3k in · 840 out · $0.02", "$0.02"),
)


@pytest.mark.parametrize(
    ("width", "there", "not_there"),
    [
        (150, ["auto: low (short request)", "12.3k in (71% cached) · 840 out · $0.02", "1,043 tok/s"], []),
        (100, ["auto: low (short request)", "$0.02", "12.3k/128k 10%", "1,043 tok/s"], ["12.3k in"]),
        (80, ["auto: low", "$0.02", "12.3k/128k 10%", "1,043 tok/s"], ["12.3k in", "short"]),
        (40, ["12.3k/128k 10%", "$0.02"], ["gpt", "12.3k in"]),
    ],
)
def test_figures_without_room_are_left_out_whole(width: int, there: list[str], not_there: list[str]) -> None:
    left, right = parts(FULL, width)
    line = "".join(text for text, _ in [*left, *right])
    assert cell_len(line) <= width
    assert all(text in line for text in there) and not any(text in line for text in not_there)


# --- words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taken", "line"),
    [
        (Spent(1, 12_300, 8_700, 840, 120, 0, 0.0234, 0),
         "12.3k in (71% cached) · 840 out (120 reasoning) · $0.02"),
        (Spent(1, 10, 0, 5, 0, 0, 0.0, 1), "10 in · 5 out · price unknown"),
        (Spent(3, 10, 0, 5, 0, 15, 0.001, 1),
         "10 in · 5 out · $0.0010 + 1 of 3 turns of unknown price · estimated"),
        (Spent(2, 90, 0, 10, planned=2, plan="ChatGPT"), "90 in · 10 out · on the ChatGPT plan"),
        (Spent(3, 90, 0, 10, cost=0.5, planned=1, plan="ChatGPT"),
         "90 in · 10 out · $0.50 + 1 of 3 turns on the ChatGPT plan"),
        (Spent(3, 90, 0, 10, unpriced=2, planned=1, plan="ChatGPT"),
         "90 in · 10 out · price unknown + 1 of 3 turns on the ChatGPT plan"),
        (Spent(3, 90, 0, 10, 0, 25, 0.0, 0), "90 in · 10 out · $0.00 · 25% estimated"),
    ],
)  # fmt: skip
def test_what_was_taken_in_a_line(taken: Spent, line: str) -> None:
    assert said(taken) == line


def test_a_little_money_is_not_none() -> None:
    assert [dollars(each) for each in (0, 0.00001, 0.0042, 0.01, 12.5, 1234.5)] == [
        "$0.00", "<$0.0001", "$0.0042", "$0.01", "$12.50", "$1,234.50",
    ]  # fmt: skip
    assert [duration(each) for each in (0.0004, 0.054, 1.23)] == ["0 ms", "54 ms", "1.2 s"]


def test_a_turn_says_what_was_measured_and_no_more() -> None:
    usage = Usage("t1", 100, 0, 20, 0, cost=0.5)
    assert speeds(usage) == ""
    started = TurnStarted("s", "t1", "m", "low", 100, effort_why="short request")
    assert turn_said(usage, started) == "auto: low (short request) · 100 in · 20 out · $0.50"
    quick = Usage(
        "t1", 1, 0, 2, 0, first_token_seconds=0.05, tokens_per_second=1043.2, round_trip_seconds=0.012
    )
    assert speeds(quick) == "first token 50 ms · 1,043 tok/s · round trip 12 ms"


# --- spark usage -----------------------------------------------------------------------------------


def keep(project: Path, turn: str, model: str, where: str = "", **more: object) -> Path:
    folder = project_folders(project).usage
    log = UsageLog(folder, project=where or str(project), session="s1", provider="openai")
    log.add(Usage(turn, 1000, 250, 40, 8, model=model, **more))  # type: ignore[arg-type]
    return folder


def test_usage_adds_up_by_day_and_model(run_spark: RunSpark, project: Path) -> None:
    keep(project, "t1", "spark", cost=0.25)
    keep(project, "t2", "spark", cost=0.5)
    keep(project, "t3", "other\x1b[31m", estimated=True)
    keep(project, "t9", "elsewhere", where="/another/project", cost=0.125)
    ran = run_spark("usage", cwd=project)
    assert (ran.code, ran.err) == (0, "")
    today = date.today().isoformat()
    rows = [line.split() for line in ran.out.splitlines()]
    assert rows[0] == ["day", "model", "turns", "in", "cached", "out", "reasoning", "cost"]
    assert rows[1] == [today, "elsewhere", "1", "1.0k", "25%", "40", "8", "$0.12"]
    assert rows[2] == [today, "other␛[31m", "1", "~1.0k", "25%", "~40", "8", "price", "unknown"]
    assert rows[3] == [today, "spark", "2", "2.0k", "25%", "80", "16", "$0.75"]
    assert rows[4][:3] == ["all", "4", "~4.0k"] and "$0.88 + 1 of 4 turns of unknown price" in ran.out
    here = run_spark("usage", "--here", "--json", cwd=project)
    records = [json.loads(line) for line in here.out.splitlines()]
    assert [(record["model"], record["turns"], record["cost"]) for record in records] == [
        ("other\x1b[31m", 1, None),
        ("spark", 2, 0.75),
    ]
    figures = {"input": 2000, "cached": 500, "output": 80, "reasoning": 16, "estimated": 0}
    assert records[1] == {
        "type": "usage.day",
        "day": today,
        "model": "spark",
        "provider": "openai",
        "turns": 2,
        "cost": 0.75,
        **{f"{name}_tokens": count for name, count in figures.items()},
        "unpriced_turns": 0,
        "plan_turns": 0,
    }


def test_usage_of_days_gone_by(run_spark: RunSpark, project: Path) -> None:
    folder = keep(project, "t1", "spark", cost=0.25)
    file = next(folder.iterdir())
    record = json.loads(file.read_bytes()) | {"at": time.time() - 2 * 86_400, "session": "s0"}
    (folder / f"{date.today() - timedelta(days=2):%Y-%m}.jsonl").open("a").write(
        json.dumps(record) + "\n{torn"
    )
    assert len(run_spark("usage", "--days", "2", cwd=project).out.splitlines()) == 2
    both = run_spark("usage", "--days", "3", cwd=project)
    assert len(both.out.splitlines()) == 4
    assert "1 damaged lines were passed over in" in both.err


def test_usage_of_nothing_says_so(run_spark: RunSpark, project: Path) -> None:
    ran = run_spark("usage", "--days", "1", cwd=project)
    assert (ran.code, ran.out, ran.err) == (0, "", "nothing in the last 1 day\n")
    assert run_spark("usage", "--days", "0", cwd=project).code == 2
    assert run_spark("usage", "--days", "soon", cwd=project).code == 2
