"""``spark exec`` and ``spark partner`` as two processes that talk over a socket: the contract's lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from session.partner.demo import make_sample
from session.partner.server.server import Partner, parse_rate
from tests.conftest import RunSpark
from tests.e2e.held import held_partner
from tests.session.local_servers import aside

FIX = "Fix the bug: after removing a task, adding a new one makes another task disappear"
FEATURE = "Let a done task be reopened, from the API and from the page"


@contextmanager
def partner(spark_path: Path, *options: str) -> Iterator[str]:
    """The address of a partner in a thread, with options of ``spark partner``; it answers at once."""
    given = dict(zip(options[::2], options[1::2], strict=True))
    script = given.pop("--script", None)
    rate = parse_rate(given.pop("--rate", "inf"))
    assert not given, given
    with aside(Partner(rate=rate, scripts=Path(script) if script else None)) as served:
        yield served.url


@contextmanager
def partner_process(spark_path: Path, *options: str) -> Iterator[str]:
    """The address that ``spark partner`` prints."""
    command = [str(spark_path), "partner", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        assert process.returncode == 0


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    make_sample(folder)
    return folder


@pytest.mark.parametrize(
    "model", ["spark-practice", pytest.param("spark-practice-text", marks=pytest.mark.long)]
)
def test_the_events_of_a_turn(run_spark: RunSpark, spark_path: Path, sample: Path, model: str) -> None:
    with partner_process(spark_path) as url:
        options = ("--json", "--base-url", url, "--model", model, "-C", str(sample))
        ran = run_spark("exec", FIX, *options)
    assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [line["type"] for line in lines]
    assert kinds[0] == "turn.started" and kinds[-1] == "turn.ended"
    assert {"text.delta", "hunk.open", "hunk.landed", "usage"} <= set(kinds)
    times = [line["t"] for line in lines]
    assert times == sorted(times) and times[0] >= 0
    started = lines[0]
    assert {"session", "turn", "model", "effort", "input_tokens"} <= set(started)
    assert started["model"] == model and started["input_tokens"] > 100
    opened, landed = lines[kinds.index("hunk.open")], lines[kinds.index("hunk.landed")]
    assert opened["hunk"] == landed["hunk"] and opened["path"] == landed["path"] == "tasks/store.py"
    assert landed["status"] == "applied" and landed["tier"] == 1 and 0 < landed["start"] < landed["end"]
    used = lines[kinds.index("usage")]
    assert {"input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens", "estimated"} <= set(used)
    assert lines[-1]["status"] == "completed"
    text = (sample / "tasks/store.py").read_text().splitlines()
    assert "".join(text[landed["start"] - 1 : landed["end"] - 1]).strip(), "the range frames the new text"


def test_plain_output_is_the_answer_and_what_landed_is_undone_and_redone_by_other_commands(
    run_spark: RunSpark, spark_path: Path, sample: Path
) -> None:
    before = (sample / "tasks/store.py").read_bytes()
    with partner(spark_path) as url:
        ran = run_spark("exec", FIX, "--base-url", url, "--model", "spark-practice", "-C", str(sample))
    assert ran.code == 0
    assert "*** Begin Patch" not in ran.out and len(ran.out) > 100
    assert "h1 landed tasks/store.py:" in ran.err, "hunks go to standard error"
    fixed = (sample / "tasks/store.py").read_bytes()
    assert fixed != before
    assert run_spark("undo", "h1", "-C", str(sample)).code == 0
    assert (sample / "tasks/store.py").read_bytes() == before
    assert run_spark("redo", cwd=sample, env={**os.environ}).code == 0
    assert (sample / "tasks/store.py").read_bytes() == fixed


def test_ctrl_c_ends_the_turn_as_interrupted(spark_path: Path, sample: Path) -> None:
    with held_partner() as partner:
        command = [str(spark_path), "exec", FEATURE, "--json", "--base-url", partner.url]
        command += ["--model", "spark-practice", "-C", str(sample)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(json.loads(line))
            if lines[-1]["type"] == "hunk.landed":
                process.send_signal(signal.SIGINT)
                break
        rest, errors = process.communicate(timeout=20)
    lines += [json.loads(line) for line in rest.splitlines()]
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert lines[-1]["type"] == "turn.ended" and lines[-1]["status"] == "interrupted"
    assert "def reopen" in (sample / "tasks/store.py").read_text()


def test_a_refused_hunk_makes_exit_code_1(run_spark: RunSpark, spark_path: Path, sample: Path) -> None:
    store = sample / "tasks/store.py"
    store.write_text(store.read_text().replace("len(self._tasks) + 1", "something_else()"))
    with partner(spark_path) as url:
        options = ("--json", "--base-url", url, "--model", "spark-practice", "-C", str(sample))
        ran = run_spark("exec", FIX, *options)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    (refused,) = [line for line in lines if line["type"] == "hunk.refused"]
    assert refused["code"] == "no_match" and refused["path"] == "tasks/store.py" and refused["message"]
    assert ran.code == 1


def test_an_unknown_model_is_said_to_be_unknown(run_spark: RunSpark, spark_path: Path, sample: Path) -> None:
    script = sample.parent / "refusing.toml"
    script.write_text(
        'refuse_models = ["nobody"]\n[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "hi"\n'
    )
    with partner(spark_path, "--script", str(script)) as url:
        ran = run_spark("exec", "hello", "--base-url", url, "--model", "nobody", "-C", str(sample))
    assert ran.code == 4 and "nobody" in ran.err


def test_a_server_that_is_not_there(run_spark: RunSpark, tmp_path: Path) -> None:
    began = time.monotonic()
    ran = run_spark("exec", "hello", "--base-url", "http://127.0.0.1:9/v1", "-C", str(tmp_path))
    assert ran.code == 4 and "127.0.0.1:9" in ran.err
    assert len(ran.err.splitlines()) == 1, ran.err
    assert time.monotonic() - began < 60
