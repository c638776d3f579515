"""Adds the answers of runs to the corpus: ``python3 -m tests.bench.real_models.keep DIR…``.

Without a folder, what the kept answers come to is written anew: read the differences before you commit them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.bench.real_models.replay import now, read_corpus, write_corpus
from tests.bench.real_models.requests import read_requests


def main() -> None:
    """Read the folders' rows, and write the corpus with what they come to."""
    rows = {json.dumps([row["model"], row["answers"]]): row for row in read_corpus()}
    for folder in sys.argv[1:]:
        for line in (Path(folder) / "rows.jsonl").read_text().splitlines():
            row = _kept(json.loads(line))
            rows.setdefault(json.dumps([row["model"], row["answers"]]), row)
    requests = {request.id: request for request in read_requests()}
    with tempfile.TemporaryDirectory() as folder:
        told = now(Path(folder), rows.values(), requests)
    write_corpus(told)
    answers = sum(len(row["answers"]) for row in told)
    changing = sum(bool(row["lands"]) for row in told)
    print(f"{answers} answers to {len(told)} requests; {changing} of these change something")


def _kept(row: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": row["model"],
        "way": row["way"],
        "request": row["request"],
        "seed": row["seed"],
        "whole": row["way"] in ("spark", "raw", "spark:whole"),
        "answers": [answer["text"] for answer in row["answers"]],
    }


if __name__ == "__main__":
    main()
