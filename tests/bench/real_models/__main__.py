"""Puts the requests to real models: ``python3 -m tests.bench.real_models --out DIR``.

Each answer is written to ``DIR`` as it comes, so a run goes on where it ended; nothing is asked twice. A
way is ``spark`` (its defaults), ``spark:whole`` or ``spark:search-replace`` (that edit format), or ``raw`` (a
short prompt for whole files, the floor that a client must beat), ``aider:whole`` or ``aider:diff``. With
``--table`` nothing is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.bench.real_models.engine import KEY, Recorder, engine
from tests.bench.real_models.peers import ask_aider
from tests.bench.real_models.raw import ask_raw
from tests.bench.real_models.requests import Request, held_back, read_requests
from tests.bench.real_models.table import table
from tests.bench.real_models.weights import FOLDER, MODELS, fetched

_TURN_SECONDS = 1500


def main() -> None:
    """Ask what is asked for, and print the table."""
    options = _options()
    requests = read_requests()
    back = held_back(requests, options.seed)
    out = options.out / "rows.jsonl"
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.table:
        chosen = [
            each
            for each in requests
            if options.half == "all" or (each.id in back) == (options.half == "held")
        ]
        chosen = [each for each in chosen if not options.only or each.id.startswith(tuple(options.only))]
        for name in options.models:
            _ask(name, chosen, out, options)
    print(table([json.loads(line) for line in out.read_text().splitlines()], back, options.seed))


def _ask(name: str, requests: list[Request], out: Path, options: argparse.Namespace) -> None:
    """Put ``requests`` to the model ``name`` in each way."""
    done = {_key(json.loads(line)) for line in out.read_text().splitlines()} if out.exists() else set()
    left = [(way, each) for each in requests for way in options.ways if (name, way, each.id) not in done]
    if not left:
        return
    with engine(fetched(name, options.weights), threads=options.threads, context=options.context) as url:
        for way, request in left:
            recorder = Recorder(url, seed=options.seed)
            try:
                row = _tried(name, way, request, recorder, options.aider)
            finally:
                recorder.close()
            with out.open("a") as rows:
                rows.write(json.dumps({**row, "seed": options.seed}) + "\n")
            print(name, way, request.id, row["wrong"] or "right", f"{row['seconds']} s", flush=True)


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return row["model"], row["way"], row["request"]


def _tried(name: str, way: str, request: Request, recorder: Recorder, aider: str) -> dict[str, Any]:
    """Put one request in one way, and judge what came of it."""
    with tempfile.TemporaryDirectory() as top:
        folder, home = Path(top) / request.project, Path(top) / "home"
        folder.mkdir()
        home.mkdir()
        request.lay_out(folder)
        began = time.monotonic()
        events: list[dict[str, Any]] = []
        if way == "raw":
            ask_raw(folder, request, recorder.url, MODELS[name].model)
        elif way.startswith("aider:"):
            form = way.partition(":")[2]
            ask_aider(aider, folder, home, request, recorder.url, MODELS[name].model, form)
        else:
            events = _spark(folder, home, request.prompt, recorder.url, MODELS[name].model, way)
        return {
            "model": name,
            "way": way,
            "request": request.id,
            "wrong": request.wrong(folder),
            "changed": request.changed(folder),
            "seconds": round(time.monotonic() - began, 1),
            "events": events,
            "answers": [asdict(answer) for answer in recorder.answers],
        }


def _spark(folder: Path, home: Path, prompt: str, url: str, model: str, way: str) -> list[dict[str, Any]]:
    """The events of ``spark exec`` that tell of its hunks and of its end."""
    settings = home / "config" / "spark" / "config.toml"
    if ":" in way:
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[models."{model}"]\nedit_format = "{way.partition(":")[2]}"\n')
    names = {f"XDG_{kind.upper()}_HOME": str(home / kind) for kind in ("config", "state", "cache", "data")}
    spark = Path(sys.executable).with_name("spark")
    line = [
        str(spark),
        "exec",
        "--json",
        "--provider",
        "llamacpp",
        "--base-url",
        f"{url}/v1",
        "--model",
        model,
    ]
    try:
        done = subprocess.run(
            [*line, prompt],
            cwd=folder,
            env={**os.environ, **names, "HOME": str(home), "LLAMACPP_API_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=_TURN_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return [{"type": "timeout"}]
    told = [json.loads(row) for row in done.stdout.splitlines() if row.startswith("{")]
    kept = [each for each in told if each.get("type") not in ("text.delta", "hunk.typed", "reasoning.delta")]
    return [*kept, {"type": "exit", "code": done.returncode, "said": done.stderr[-400:]}]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="tests.bench.real_models", description=__doc__)
    parser.add_argument("--out", type=Path, default=FOLDER.parent / "spark-real-models")
    parser.add_argument("--weights", type=Path, default=FOLDER)
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--ways", nargs="+", default=["spark"])
    parser.add_argument("--half", choices=("tuned", "held", "all"), default="all")
    parser.add_argument("--only", nargs="+", default=[], help="the beginnings of the requests' names")
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument(
        "--aider", default="aider", help="the program, for the ways aider:whole and aider:diff"
    )
    parser.add_argument("--table", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
