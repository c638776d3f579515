"""``spark doctor``, ``spark models`` and ``spark keys`` against real servers and a real terminal."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.conftest import RunSpark
from tests.e2e.test_exec import partner
from tests.e2e.tmux import terminal


def test_doctor_finds_everything_well_with_the_partner(
    run_spark: RunSpark, spark_path: Path, project: Path
) -> None:
    with partner(spark_path) as url:
        options = ("--json", "--base-url", url, "--model", "spark-practice", "-C", str(project))
        ran = run_spark("doctor", *options)
    found = {line["step"]: line for line in map(json.loads, ran.out.splitlines())}
    assert ran.code == 0, ran.out
    assert all(line["well"] is not False for line in found.values())
    assert found["first token"]["milliseconds"] > 0 and "git repository" in found["folder"]["found"]


@pytest.mark.parametrize(
    ("options", "step", "word"),
    [
        ([], "key", "OPENAI_API_KEY"),
        (["--base-url", "http://127.0.0.1:9/v1"], "connect", "refused"),
        (["--effort", "extreme"], "settings", "extreme"),
    ],
)
def test_doctor_names_the_step_that_fails(
    run_spark: RunSpark, project: Path, options: list[str], step: str, word: str
) -> None:
    ran = run_spark("doctor", "--json", *options, "-C", str(project))
    assert ran.code == 1
    ill = [line for line in map(json.loads, ran.out.splitlines()) if line["well"] is False]
    assert [line["step"] for line in ill] == [step] and word in ill[0]["found"]


def test_models_lists_what_the_server_offers(run_spark: RunSpark, spark_path: Path, tmp_path: Path) -> None:
    script = tmp_path / "two.toml"
    say = '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "hi"\n'
    script.write_text(f'models = ["spark-practice", "another"]\n{say}')
    with partner(spark_path, "--script", str(script)) as url:
        options = ("--base-url", url, "--model", "another", "--provider", "partner")
        ran = run_spark("models", *options)
        as_json = run_spark("models", "--json", *options)
    assert ran.code == 0
    lines = [line.split() for line in ran.out.splitlines()]
    assert lines[0][:3] == ["model", "window", "efforts"]
    assert lines[1][:3] == ["+", "spark-practice", "128k"] and lines[2] == ["*", "another"]
    practice, another = map(json.loads, as_json.out.splitlines())
    assert another == {"type": "model", "model": "another", "known": False, "used": True}
    assert (practice["window"], practice["price"], practice["edit_format"]) == (128_000, None, "v4a")
    assert run_spark("models", "--base-url", "http://127.0.0.1:9/v1").code == 4
    assert run_spark("models").code == 3


def test_the_catalogue_is_listed_without_a_key(run_spark: RunSpark) -> None:
    ran = run_spark("models", "--known")
    assert ran.code == 0
    spark = next(line for line in ran.out.splitlines() if line.startswith("+ gpt-5.3-codex-spark"))
    assert " ".join(spark.split()[2:]) == "128k low medium high xhigh unknown v4a text openai 2026-11"
    opus = next(
        row for row in map(json.loads, run_spark("models", "--known", "--json").out.splitlines())
        if row["model"] == "claude-opus-5-5"
    )  # fmt: skip
    assert opus["price"]["input"] == 4.0 and opus["fast_price"]["output"] == 40.0


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages")
def test_keys_shows_what_the_terminal_sends(spark_path: Path, tmp_path: Path) -> None:
    with terminal([str(spark_path), "keys"], 100, 20, {}, tmp_path) as pane:
        pane.until("Ctrl+C ends")
        pane.keys("F9")
        pane.until("f9 (undo the hunk")
        pane.keys("Escape")
        pane.until("escape (stop the turn")
        pane.keys("C-c")
        pane.until("exit 0")
