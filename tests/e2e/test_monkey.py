"""The monkey for about a minute; ``python3 -m tests.e2e.monkey`` plays for as long as it is told to."""

from __future__ import annotations

import asyncio
import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.e2e.monkey import RATES, Step, play_pilot, play_pty, random_step
from tests.thorough import share

pytestmark = pytest.mark.long

STEPS = st.integers(0, 1_000_000).map(lambda seed: random_step(random.Random(seed)))


@settings(max_examples=share(5, 2), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=15, max_size=40), st.sampled_from(RATES))
def test_random_keys_and_events_break_nothing(steps: list[Step], rate: float) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asyncio.run(play_pilot(Path(folder), steps, rate))


@pytest.mark.parametrize("seed", [1, 2])
def test_random_bytes_on_a_terminal_break_nothing(seed: int) -> None:
    play_pty(random.Random(seed), 120)
