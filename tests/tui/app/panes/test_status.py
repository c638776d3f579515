"""The status line: everything at once when there is room, the message first when there is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.tui.stage import stage
from tui.app.panes import status as status_line
from tui.app.panes.status import Status, parts
from tui.front.words.figures import thousands

FULL = Status(
    model="gpt-5.3-codex-spark",
    effort="medium",
    link="ready",
    phase="streaming",
    used=12_345,
    window=128_000,
    speed=1043.4,
    waiting=2,
)


def line(status: Status, width: int) -> str:
    left, right = parts(status, width)
    return "".join(text for text, _ in [*left, *right])


def test_all_figures_are_shown_where_there_is_room() -> None:
    shown = line(FULL, 120)
    for text in ("streaming", "+2 queued", "gpt-5.3-codex-spark · medium", "12.3k/128k 10%", "1,043 tok/s"):
        assert text in shown


def test_a_long_reading_is_shown_until_it_is_over() -> None:
    assert "reading 3,200/78,311" in line(replace(FULL, reading="reading 3,200/78,311"), 120)
    assert "reading" not in line(FULL, 120)


def test_a_turn_that_needs_an_ok_says_for_whom_it_waits() -> None:
    shown = line(replace(FULL, phase="settling", asked=True), 120)
    assert "waiting for you" in shown and "settling" not in shown


@pytest.mark.parametrize("width", [10, 20, 40, 60, 80, 120])
@pytest.mark.parametrize("message", ["", "no key: set OPENAI_API_KEY, or run: spark login openai"])
def test_it_never_overflows(width: int, message: str) -> None:
    reading = "reading 3,200/78,311"
    status = Status(model="m" * 60, effort="high", link="failed", message=message, reading=reading)
    left, right = parts(status, width)
    assert sum(cell_len(text) for text, _ in right) + sum(cell_len(text) for text, _ in left) <= max(
        width, 12
    )


def test_a_message_comes_before_the_figures() -> None:
    status = Status(
        model="model", link="failed", used=1000, message="no key: set OPENAI_API_KEY", level="error"
    )
    assert "no key: set OPENAI" in line(status, 44)


def test_an_estimate_is_called_one() -> None:
    assert "~980 tokens" in line(Status(used=980, estimated=True), 80)


LIMITED = """
[[scenario]]
match = ["talk"]
[[scenario.step]]
fail = {code = "rate_limit_exceeded", message = "Please try again in 100s.", status = 429}
"""


async def test_the_wait_for_the_next_try_is_counted_down_and_escape_ends_it(tmp_path: Path) -> None:
    async with stage(tmp_path, script=LIMITED) as it:
        shown = it.app.status
        await it.ask("just talk")
        await it.until(lambda: shown.status.countdown, "the wait")
        first = shown.status.countdown
        assert "asks to slow down" in it.screen
        assert f"again in {shown.status.countdown} s, Esc gives up" in it.screen
        await it.until(lambda: 0 < shown.status.countdown < first - 1, "the second after")
        it.key("escape", "\x1b")
        await it.until(lambda: shown.status.countdown == 0, "the end of the wait")
        await it.until(lambda: "again in" not in it.screen and "slow down" not in it.screen, "a clean line")
        await it.done()


@pytest.mark.parametrize(
    ("count", "shown"), [(0, "0"), (999, "999"), (1000, "1.0k"), (128_000, "128k"), (1_050_000, "1.1M")]
)
def test_token_counts_are_short(count: int, shown: str) -> None:
    assert thousands(count) == shown


async def test_a_message_goes_after_a_while_unless_it_tells_of_what_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_line, "GOES_AFTER", {"info": 0.01, "warning": 0.02})
    async with stage(tmp_path) as it:
        shown = it.app.status
        for level in ("info", "warning"):
            shown.say("done", level)
            await it.until(lambda: not shown.status.message, "a line without it")
        shown.say("done")
        shown.say("it works", stays=True)
        shown.app.set_timer(0.05, lambda: shown.say("next", "error"))
        await it.until(lambda: shown.status.message != "it works", "what comes next")
        assert shown.status.message == "next"


async def test_the_window_is_as_full_here_as_in_its_panel(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("ctrl+t")
        await it.until(lambda: " tokens (" in it.screen, "the panel")
        assert f"of {it.app.status.status.window:,} tokens" in it.screen
