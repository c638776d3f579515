"""Several sparks in one folder at the same time, some of them killed: nothing is lost or torn."""

from __future__ import annotations

import random

import pytest

from tests.bench.many_sparks import FAULTS, FILES, run, script
from tests.bench.pty_spark import stage


@pytest.mark.long
def test_sparks_in_one_folder_lose_nothing_when_some_are_killed() -> None:
    with stage("inf", script=script(FILES)) as place:
        counts = run(place, sparks=3, seconds=12, chance=random.Random(7))
    assert counts["landed"] >= 1
    assert {name: counts[name] for name in FAULTS} == dict.fromkeys(FAULTS, 0)
