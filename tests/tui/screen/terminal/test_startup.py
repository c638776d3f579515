"""The garbage collector while spark starts."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from tui.screen.terminal.startup import load, loaded


@pytest.fixture(autouse=True)
def nothing_frozen() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.enable()
    gc.freeze()  # the tests behind these look through as little as those before


def test_only_what_was_made_while_starting_is_never_collected() -> None:
    load()
    assert not gc.isenabled()
    loaded()
    assert gc.isenabled()
    first = gc.get_freeze_count()
    assert first > 0
    kept: list[list[int]] = [[] for _ in range(1000)]
    loaded()  # the next session in the same app
    assert len(kept) == 1000 and gc.get_freeze_count() <= first


def test_a_collector_that_is_off_for_something_else_stays_off() -> None:
    load()
    loaded()
    gc.disable()  # as while a window is built
    first = gc.get_freeze_count()
    loaded()
    assert not gc.isenabled() and gc.get_freeze_count() <= first
