"""Plays recorded answers through the parser, the placing and the landing of a turn, without a model.

The corpus holds a line for each request that was put to a model: the model, the way, the request, the seed,
the answers in their order, and what the files were afterwards. Hunks land in memory, as those of attempts do.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from edits.guards.protection import Protection
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from session.base.events import Event
from session.project.edit_thread import EditThread
from session.project.workspace import _symbols
from session.race.attempt_files import AttemptFiles
from session.turn.lane import ANSWER, About, Lane
from tests.bench.real_models.requests import Request

Row = dict[str, Any]
CORPUS = Path(__file__).parents[2] / "corpus" / "answers"
_MARKER = re.compile(r"<{5,9} ?SEARCH|={7}|>{5,9} ?REPLACE|## File: .*|…|<\|im_\w+\|>")


class _Nobody:
    """Listens to no event."""

    def publish(self, event: Event) -> None:
        """Take an event."""


async def replayed(row: Mapping[str, Any], request: Request, folder: Path) -> dict[str, str]:
    """The new text of each file that the answers of ``row`` change."""
    root = folder / "project"
    request.lay_out(root, commit=False)
    ledger, names = Ledger(folder / "ledger"), request.files.keys
    landing = Landing(root, ledger, files=names, symbols=_symbols, protection=Protection())
    files = AttemptFiles("a1", landing, root, attended=False)
    with ThreadPoolExecutor(1) as pool:
        thread = EditThread(pool)
        for answer in row["answers"]:
            lane = Lane("t1", writer=files, thread=thread, recorder=_Nobody(), attended=False, review=False)
            lane.begin(About(request.prompt, tuple(request.files), row["whole"]))
            lane.feed(ANSWER, answer)
            lane.finish_all(clean_end=True)
            await lane.settled()
            await lane.close()
    texts = {path: (data or b"").decode() for path, data in landing.rehearsed.items()}
    return {path: text for path, text in texts.items() if text != request.files.get(path)}


def wrong(row: Mapping[str, Any], request: Request, files: Mapping[str, str]) -> str:
    """Why a text must not have landed; empty where it may, even if it does not do what was asked."""
    said = "\n".join(row["answers"])
    for path, text in files.items():
        known = request.files.get(path, "").splitlines()
        if Path(path).name not in said and not known:
            return f"{path} is a new file that the answer does not name"
        for line in text.splitlines():
            if line not in known and _MARKER.fullmatch(line.strip()):
                return f"{path} has the line {line!r}"
    return ""


def digest(text: str) -> str:
    """A short name for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_corpus() -> list[dict[str, Any]]:
    """All rows of the corpus."""
    return [
        json.loads(line)
        for file in sorted(CORPUS.glob("*.jsonl.gz"))
        for line in gzip.decompress(file.read_bytes()).decode().splitlines()
    ]


def write_corpus(rows: Iterable[Mapping[str, Any]]) -> None:
    """Write the corpus anew, a file for each model."""
    CORPUS.mkdir(parents=True, exist_ok=True)
    by_model: dict[str, list[str]] = {}
    for row in rows:
        by_model.setdefault(row["model"], []).append(json.dumps(row, ensure_ascii=False, sort_keys=True))
    for model, lines in by_model.items():
        data = gzip.compress("\n".join(sorted(lines)).encode(), 9, mtime=0)
        (CORPUS / f"{model}.jsonl.gz").write_bytes(data)


def now(folder: Path, rows: Iterable[Row], requests: Mapping[str, Request]) -> list[Row]:
    """The rows with what each of them comes to now."""
    return asyncio.run(_now(folder, rows, requests))


async def _now(folder: Path, rows: Iterable[Row], requests: Mapping[str, Request]) -> list[Row]:
    told = []
    for number, row in enumerate(rows):
        request = requests.get(row["request"])
        if request is None or row.get("prompt", request.prompt) != request.prompt:
            continue
        found = await replayed(row, request, folder / str(number))
        lands = {path: digest(text) for path, text in found.items()}
        told.append({**row, "prompt": request.prompt, "lands": lands})
    return told
