"""The budget by hour and day: nothing goes beyond it, and nothing spent is forgotten or counted twice."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from session.assist.side_account import Budget
from session.assist.side_model import cheapest_fast
from session.models.catalogue import load_catalogue
from session.record.usage import SideTurn, Spent, side_turn
from session.setup.user_tables import SideSettings

LIMITS = SideSettings(tokens_per_hour=1_000, tokens_per_day=2_500, dollars_per_hour=1.0, dollars_per_day=2.5)
TEN, ELEVEN, TOMORROW = "2026-11-22T10", "2026-11-22T11", "2026-11-23T10"


def test_an_hour_that_is_spent_ends_with_the_hour_and_a_day_with_the_day() -> None:
    budget = Budget(LIMITS)
    budget.add(TEN, Spent(turns=1, input=900, output=100))
    reached = budget.reached(TEN)
    assert reached is not None and reached.key == "tokens_per_hour"
    assert budget.reached(ELEVEN) is None
    budget.add(ELEVEN, Spent(turns=1, cost=1.0))
    reached = budget.reached(ELEVEN)
    assert reached is not None and str(reached) == (
        "the $1.00 of this hour are spent (dollars_per_hour in [side])"
    )
    budget.add(ELEVEN, Spent(turns=1, cost=1.5))
    reached = budget.reached("2026-11-22T12")
    assert reached is not None and reached.key == "dollars_per_day"
    assert budget.reached(TOMORROW) is None


def test_what_other_processes_took_counts_and_ones_own_rows_do_not_count_twice() -> None:
    budget = Budget(LIMITS)
    budget.add(TEN, Spent(turns=1, input=10))
    rows = [
        (SideTurn("review", TEN, "feed0"), Spent(turns=2, input=30)),
        (SideTurn("review", TEN, "cafe0"), Spent(turns=1, input=10)),
    ]
    for _ in range(2):
        budget.others(rows, "cafe")
        assert budget.spent(TEN).input == 40


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 100), st.booleans())))
def test_no_request_begins_once_a_limit_is_reached(requests: list[tuple[int, int, bool]]) -> None:
    budget, taken = Budget(LIMITS), 0
    running: list[tuple[Spent, int]] = []
    for most, used, ends in requests:
        if budget.reached(TEN) is None:
            assert taken + sum(each for _, each in running) < LIMITS.tokens_per_hour
            running.append((budget.reserve(most, 0.0), most))
        if ends and running:
            kept, most = running.pop(0)
            budget.give_back(kept)
            budget.add(TEN, Spent(turns=1, input=min(used, most)))
            taken += min(used, most)
        assert budget.spent(TEN).input == taken


def test_names_of_rows_are_read_back() -> None:
    name = SideTurn("next-edit", TEN, "cafe0")
    assert side_turn(str(name)) == name
    assert side_turn("t1") is None and side_turn("t3 ledger") is None


def test_the_cheapest_of_the_fast_models_is_asked() -> None:
    catalogue = load_catalogue()
    found = cheapest_fast(catalogue, "openai")
    assert found is not None and found.price is not None
    prices = [catalogue.model(name, "openai").price for name in catalogue.provider("openai").coding]
    assert found.price.input == min(price.input for price in prices if price is not None)
    assert cheapest_fast(catalogue, "llamacpp") is None
    on_the_plan = cheapest_fast(catalogue, "chatgpt")  # where the first is a preview that few accounts have
    assert on_the_plan is not None and not on_the_plan.preview
