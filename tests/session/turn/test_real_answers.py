"""What real models answered lands as it did when it was recorded, and nothing of it lands wrongly.

After a change that makes more of them land, ``python3 -m tests.bench.real_models.keep`` writes it anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.real_models.replay import digest, read_corpus, replayed, wrong
from tests.bench.real_models.requests import read_requests

ROWS = read_corpus()
REQUESTS = {request.id: request for request in read_requests()}
PARTS = 8


@pytest.mark.parametrize("part", range(PARTS))
async def test_recorded_answers_land_as_they_did(part: int, tmp_path: Path) -> None:
    for number, row in enumerate(ROWS[part::PARTS]):
        request = REQUESTS[row["request"]]
        found = await replayed(row, request, tmp_path / str(number))
        name = f"{row['model']}, {row['way']}, {row['request']}"
        assert not wrong(row, request, found), name
        assert {path: digest(text) for path, text in found.items()} == row["lands"], name


def test_the_corpus_holds_the_answers_of_three_models() -> None:
    assert len({row["model"] for row in ROWS}) >= 3
