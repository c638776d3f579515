"""What the user agreed to spend: no turn is sent past a limit unasked, and one that passes it is stopped."""

from __future__ import annotations

import time
from datetime import date
from itertools import permutations
from pathlib import Path

import pytest

from session.base.events import AttemptEnded, AttemptStarted, Notice, RaceEnded, TurnEnded, Usage
from session.base.text.tables import TableError
from session.models.prices import Price
from session.race import race_runner
from session.record.usage_log import Row, UsageLog
from session.setup.user_tables import BudgetSettings, read_budget
from session.turn.money import (
    MoneyBudget,
    Purse,
    dollars,
    least_cost,
    spent_lately,
)
from tests.session.race.attempts.races import RIGHT, RIGHT_SUM, WRONG, script
from tests.session.race.attempts.races import project as sums
from tests.session.talking import PLAIN, colours_project, configure, talking

PRICED = """
[models.spark-practice]
price = { input = 100.0, cached = 10.0, output = 500.0 }
"""
_COLOURS = ("red", "green", "blue", "white", "black", "yellow", "brown", "grey", "pink", "purple", "orange")
WORDS = " ".join(f"the {one} {two} and {three} house," for one, two, three in permutations(_COLOURS, 3))
LONG = f'[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "{WORDS}"\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return colours_project(tmp_path)


async def test_a_turn_over_its_limit_is_asked_about_before_anything_is_sent(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_turn = 0.01\n{PRICED}")
    async with talking(project, PLAIN) as at:
        at.session.submit("say something")
        ended = await at.ended("t1")
        assert (ended.status, ended.code) == ("failed", "cost") and ended.message is not None
        assert "this turn costs $" in ended.message and "the limit of a turn is $0.01" in ended.message
        assert "Enter sends it all the same, for up to $" in ended.message
        assert not [each for each in at.partner.requests if each.generate], "nothing was sent"
        at.session.submit("say something")
        assert (await at.ended("t2")).status == "completed", "the same prompt is the answer"
        (asked,) = [each for each in at.partner.requests if each.generate]
        assert str(asked.body).count("## Request") == 1, "what was not sent is not in the conversation"
        at.session.submit("say more")
        assert (await at.ended("t3")).code == "cost", "the answer was for one turn"


async def test_where_nobody_can_be_asked_a_turn_over_its_limit_fails(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_turn = 0.01\n{PRICED}")
    async with talking(project, PLAIN, attended=False) as at:
        for turn in ("t1", "t2"):
            at.session.submit("say something")
            ended = await at.ended(turn)
            assert ended.code == "cost" and ended.message is not None and "--max-cost" in ended.message


async def test_a_turn_that_passes_its_limit_while_it_streams_is_stopped_as_by_esc(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_turn = 0.6\n{PRICED}")
    async with talking(project, LONG, rate=2_000.0) as at:
        at.session.submit("say much")
        assert (await at.ended("t1")).status == "interrupted"
        (told,) = [each.text for each in at.all(Notice) if "stopped: this turn has cost" in each.text]
        assert "its limit is $0.60" in told
        usage = at.all(Usage)[-1]
        assert usage.cost is not None and 0.4 < usage.cost < 0.9


async def test_an_answer_within_the_limit_ends_as_it_would(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_turn = 50.0\n{PRICED}")
    async with talking(project, LONG) as at:
        at.session.submit("say much")
        ended = await at.ended("t1")
        assert ended.status == "completed", ended.message


async def test_the_limits_of_hour_and_day_hold_over_all_sessions(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_turn = 0\ndollars_per_hour = 3.0\n{PRICED}")
    async with talking(project, PLAIN) as at:
        log = UsageLog(at.session.folders.usage, project="elsewhere", session="other", provider="openai")
        log.add(Usage("t1", 10, 0, 10, 0, False, "m", 2.99))
        at.session.submit("say something")
        ended = await at.ended("t1")
        assert ended.message is not None and "$2.99 of the $3.00 of this hour are spent" in ended.message
        assert isinstance(at.all(TurnEnded)[-1], TurnEnded)


async def test_the_limit_holds_for_side_requests_too(project: Path) -> None:
    configure(project, f"[budget]\ndollars_per_day = 3.0\n[side]\nenabled = true\n{PRICED}")
    async with talking(project, PLAIN) as at:
        log = UsageLog(at.session.folders.usage, project="elsewhere", session="other", provider="openai")
        log.add(Usage("t1", 10, 0, 10, 0, False, "m", 3.5))
        await at.session.money.refresh()
        assert at.session.side.account.reached().startswith("$3.50 of the $3.00 of this day are spent")


def test_a_window_has_no_more_tokens_than_the_user_wants() -> None:
    assert BudgetSettings().window(100_000) == 100_000
    assert BudgetSettings(tokens=20_000).window(100_000) == 20_000
    assert BudgetSettings(tokens=200_000).window(100_000) == 100_000


def test_the_table_is_read_and_checked() -> None:
    assert read_budget({}) == BudgetSettings()
    assert read_budget({"tokens_per_window": 16_000, "dollars_per_turn": 0.2}) == BudgetSettings(16_000, 0.2)
    with pytest.raises(TableError, match=r"\[budget\].*dollars_per_hour must be a number of US dollars"):
        read_budget({"dollars_per_hour": "much"})
    with pytest.raises(TableError, match="tokens_per_window"):
        read_budget({"tokens_per_window": 10})


def test_what_was_spent_lately() -> None:
    now = time.time()

    def row(ago: float, cost: float | None) -> Row:
        usage = Usage("t", 1, 0, 1, 0, False, "m", cost)
        return Row(date.fromtimestamp(now - ago), "p", "s", "o", usage, 1, now - ago)

    hour, day = spent_lately((row(10, 0.5), row(7200, 1.0), row(20, None), row(200_000, 9.0)), now)
    assert hour == 0.5
    assert day == (1.5 if date.fromtimestamp(now - 7200) == date.fromtimestamp(now) else 0.5)


def test_amounts_and_limits_are_told_exactly() -> None:
    assert (dollars(0.004), dollars(1234.5)) == ("$0.0040", "$1,234.50")
    assert Purse().over(1e9) == "" == Purse(1.0).over(1.0)
    assert Purse(1.0).over(1.01).startswith("stopped: this turn has cost $1.01, and its limit is $1.00")
    assert least_cost(Price(1.0, 0.1, 5.0), 1_000, 9_000, 1.3) == pytest.approx(0.0013 + 0.00117)
    assert least_cost(None, 1, 1, 1.0) is None


async def test_a_model_without_a_price_has_no_limit(tmp_path: Path) -> None:
    money = MoneyBudget(BudgetSettings(), tmp_path)
    assert await money.purse("hello", None, can_agree=True) == Purse()


async def test_who_was_told_the_cost_and_asks_once_more_agrees_to_it_once(tmp_path: Path) -> None:
    money = MoneyBudget(BudgetSettings(turn=1.0), tmp_path)
    assert "not sent" in str(await money.purse("hello", 3.0, can_agree=True))
    assert "not sent" in str(await money.purse("other", 2.0, can_agree=True))
    assert await money.purse("other", 2.0, can_agree=True) == Purse(3.0, agreed=True)
    assert "not sent" in str(await money.purse("other", 2.0, can_agree=True))
    assert await money.purse("hello", 1.0, can_agree=True) == Purse(1.0)


async def test_a_race_over_a_stated_cost_asks_first(tmp_path: Path) -> None:
    root = sums(tmp_path / "project")
    configure(root, f"[budget]\ndollars_per_turn = 0.5\n{PRICED}")
    async with talking(root, script(RIGHT, WRONG)) as at:
        start = at.session.race.start
        await start("mend add", 2, [RIGHT_SUM])
        ended = await at.ended("t1")
        assert ended.code == "cost" and ended.message is not None
        assert (
            "not begun: 2 attempts are likely to cost $" in ended.message
            and "dollars_per_turn" in ended.message
        )
        assert not at.all(AttemptStarted) and not [each for each in at.partner.requests if each.generate]
        await start("mend add", 2, [RIGHT_SUM])
        assert (await at.ended("t2")).status == "completed", "the same race once more is the answer"
    async with talking(root, script(WRONG), attended=False) as at:
        await at.session.race.start("mend add", 1, [RIGHT_SUM])
        ended = await at.ended("t1")
        assert ended.code == "cost" and "--max-cost" in (ended.message or "")


async def test_a_race_is_held_to_what_is_left_of_the_hour_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another session spends the rest of it meanwhile."""
    root = sums(tmp_path / "project")
    configure(root, f"[budget]\ndollars_per_turn = 0\ndollars_per_hour = 50.0\ndollars_per_day = 0\n{PRICED}")
    monkeypatch.setattr(race_runner, "MONEY_SECONDS", 0.1)
    async with talking(root, script(WRONG, RIGHT, stall=30.0)) as at:
        await at.session.race.start("mend add", 2, [RIGHT_SUM])
        await at.until(AttemptStarted)
        spent = Usage(
            turn="t9", input_tokens=1, cached_tokens=0, output_tokens=1, reasoning_tokens=0, cost=49.9
        )
        UsageLog(at.session.folders.usage, project="elsewhere", session="other", provider="partner").add(
            spent
        )
        race = await at.until(RaceEnded)
        assert race.winner is None and "of the $50.00 of this hour are spent" in race.why
        assert {each.status for each in at.all(AttemptEnded)} == {"cut"}
