"""An answer longer than any window is counted and kept within limits, whatever becomes of it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from context.text.tokens import Counter
from session.base.events import HunkLanded, TurnEnded, Usage
from session.turn import response
from session.turn.response import SAMPLE, SAMPLES, about
from tests.session.talking import COLOURS, RED, talking

WORDS = "one two three four five six seven eight nine ten\\n"
LONG = f'''
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["*"]
{RED}
[[scenario.step]]
say = "{WORDS * 1_000}"

[[scenario.step]]
patch = ["red"]

[[scenario.step]]
say = "{WORDS * 8_000}"
'''


@given(texts=some.lists(some.text("ab \n", max_size=200), max_size=9), unseen=some.integers(0, 10_000))
def test_short_texts_are_counted_exactly(texts: list[str], unseen: int) -> None:
    said = sum(map(len, texts))
    assert about(texts, len) == said
    assert about(texts, len, unseen) == (said + unseen if said else 0)


@pytest.mark.parametrize("parts", [1, 7])
def test_a_long_text_is_counted_by_samples_of_all_of_it(parts: int) -> None:
    counter, counted = Counter(), list[int]()
    counter.load()

    def count(text: str) -> int:
        counted.append(len(text))
        return counter.count(text)

    texts = [f"{number} " * 400 + "plain words of a sentence\n" * 60 for number in range(parts * 40)]
    exact = sum(map(counter.count, texts))
    assert abs(about(texts, count) / exact - 1) < 0.1
    assert sum(counted) == SAMPLES * SAMPLE


async def test_an_interrupt_counts_no_more_of_a_long_answer_than_of_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "colours.py").write_text(COLOURS)
    counted, count = list[int](), Counter.count

    def counting(counter: Counter, text: str) -> int:
        if threading.current_thread() is threading.main_thread():
            counted.append(len(text))
        return count(counter, text)

    monkeypatch.setattr(Counter, "count", counting)
    monkeypatch.setattr(response, "SAMPLE", 400)
    async with talking(root, LONG) as talk:
        talk.session.submit("go on and on")
        await talk.until(HunkLanded)
        counted.clear()
        talk.session.interrupt()
        assert (await talk.until(TurnEnded)).status == "interrupted"
        assert sum(counted) < 4 * SAMPLES * response.SAMPLE
        (usage,) = talk.all(Usage)
        assert usage.output_tokens > 10_000, "the whole answer costs, not what was counted of it"
