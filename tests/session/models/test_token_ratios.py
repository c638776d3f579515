"""What servers count for a token of spark's is measured, kept by model, and used by the next session."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import TurnStarted, Usage
from session.base.storage.folders import state_folder
from session.models.token_ratios import FILE_NAME, keep_ratio, read_ratios
from session.record.ratio_meter import RatioMeter
from tests.session.setup.test_opening import opened
from tests.session.talking import PLAIN, colours_project, environment, talking


def started(tokens: int) -> TurnStarted:
    return TurnStarted("s", "t1", "claude-opus-5-5", "low", tokens)


def usage(tokens: int, *, estimated: bool = False) -> Usage:
    return Usage("t1", tokens, 0, 5, 0, estimated, "claude-opus-5-5", None)


def test_the_first_count_of_a_turn_is_measured(tmp_path: Path) -> None:
    meter = RatioMeter(tmp_path, "anthropic")
    meter.take(usage(9_000))
    assert read_ratios(tmp_path) == {}, "of a turn that began elsewhere"
    for event in (started(10_000), usage(14_000), usage(28_000)):
        meter.take(event)
    assert read_ratios(tmp_path) == {"anthropic/claude-opus-5-5": 1.4}
    for event in (started(10_000), usage(13_000), started(100), usage(200), started(9_000)):
        meter.take(event)
    meter.take(usage(27_000, estimated=True))
    assert read_ratios(tmp_path) == {"anthropic/claude-opus-5-5": 1.38}, "smoothed; no estimates, no trifles"


def test_what_cannot_be_is_not_kept(tmp_path: Path) -> None:
    for ratio in (0.0, 0.4, 3.1):
        keep_ratio(tmp_path, "a/b", ratio)
    assert not (tmp_path / FILE_NAME).exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a/b": "1"}', '{"a/b": 99}', '{"a/b": true}', "\x00\xff"])
def test_a_damaged_file_is_no_file(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE_NAME).write_text(text, "latin-1")
    assert read_ratios(tmp_path) == {}


def test_a_measured_ratio_sets_the_budget_of_the_next_session(tmp_path: Path, own_folders: Path) -> None:
    keys = {"ANTHROPIC_API_KEY": "sk"}
    first = opened(tmp_path, own_folders, keys, model="claude-opus-5-5")
    assert first.model.token_ratio == 1.3
    keep_ratio(own_folders / "state" / "spark", "anthropic/claude-opus-5-5", 1.5)
    again = opened(tmp_path, own_folders, keys, model="claude-opus-5-5")
    assert again.model.token_ratio == 1.5 and again.model.budget == int(936_000 / 1.5)


async def test_a_session_measures_what_its_server_counts(tmp_path: Path) -> None:
    root = colours_project(tmp_path)
    (root / "long.py").write_text("".join(f"value_{number} = {number}\n" for number in range(400)))
    async with talking(root, PLAIN) as at:
        at.session.submit("what is in @long.py ?")
        assert (await at.ended("t1")).status == "completed"
        begun, counted = at.all(TurnStarted)[0], at.all(Usage)[0]
        kept = read_ratios(state_folder(environment(root.parent / "xdg")))
        assert kept == {"partner/spark-practice": round(counted.input_tokens / begun.input_tokens, 3)}
