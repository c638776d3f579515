"""Spares hundreds of apps under Pilot what each would spend: guesses at its end of work, the same styles.

Pilot sleeps for at least 20 ms after each key, until the process took little processor time in that while:
too long where nothing happens, and too short beside a busy program. What there is to wait for can be seen.
"""

from __future__ import annotations

import asyncio
from asyncio import base_events
from collections.abc import Callable
from concurrent.futures import Executor
from time import monotonic, process_time
from typing import Any, TypeVar

import pytest
from textual import app, pilot
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

T = TypeVar("T")

SOON = 0.02
"""Seconds: a timer that is due within them is waited for. Textual paints what changed 60 times a second."""
LONGEST = 1.0
"""Seconds after which nothing is waited for any more."""
STEP = 0.001
BUSY = 0.05
"""The share of a processor from which a thread that does not come to its end is at work."""

_in_threads: set[asyncio.Future[Any]] = set()
_to_executor = base_events.BaseEventLoop.run_in_executor


def _counted(
    loop: base_events.BaseEventLoop, executor: Executor | None, work: Callable[..., T], *given: Any
) -> asyncio.Future[T]:
    """Hand work to a thread, and know of it until the loop has been told of its end."""
    end = _to_executor(loop, executor, work, *given)
    _in_threads.add(end)
    end.add_done_callback(_in_threads.discard)
    return end


def _next_timer(loop: Any) -> float:
    """When the loop's next timer is due, on its clock."""
    return min((each.when() for each in loop._scheduled if not each.cancelled()), default=float("inf"))


async def quiet(min_sleep: float = 0.0, max_sleep: float = LONGEST) -> None:
    """Wait until the loop has nothing to run, no timer that is due soon, and no thread at work for it."""
    loop: Any = asyncio.get_running_loop()
    began = monotonic()
    soon = loop.time() + SOON
    while monotonic() - began < max_sleep:
        await asyncio.sleep(0)
        if loop._ready:
            continue
        working = any(each.get_loop() is loop for each in _in_threads)
        if not working and _next_timer(loop) > soon and monotonic() - began >= min_sleep:
            return
        used = process_time()
        await asyncio.sleep(STEP)
        if loop.time() > soon and process_time() - used < BUSY * STEP:
            return


_rules: dict[tuple[object, ...], list[RuleSet]] = {}
_parse = Stylesheet._parse_rules


def _parsed_once(
    sheet: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    """The rules of a text: an app only reads them, so all that have the same variables share them."""
    variables = frozenset(sheet._variables.items())
    key = (variables, css, read_from, is_default_rules, tie_breaker, scope)
    if key not in _rules:
        _rules[key] = _parse(sheet, css, read_from, is_default_rules, tie_breaker, scope)
    return _rules[key]


def cost_less(patched: pytest.MonkeyPatch) -> None:
    """Have every Pilot wait until its app is quiet and no longer, and every text of styles parsed once."""
    patched.setattr(base_events.BaseEventLoop, "run_in_executor", _counted)
    patched.setattr(pilot, "wait_for_idle", quiet)
    patched.setattr(app, "wait_for_idle", quiet)
    patched.setattr(Stylesheet, "_parse_rules", _parsed_once)
