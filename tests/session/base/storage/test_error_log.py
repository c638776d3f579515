"""The log of faults: one JSON object a line, by level, rotated, without keys."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.base.storage import error_log
from session.base.storage.error_log import LOGGER, log_faults_to
from session.base.tasks import log_fault
from session.base.text.masking import remember


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    logger = logging.getLogger(LOGGER)
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)


def lines(file: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_fault_is_one_object_with_its_traceback_and_without_keys(tmp_path: Path) -> None:
    remember("sk-a-very-secret-key")
    log_faults_to(tmp_path / "errors.log", {})
    try:
        raise ValueError("the server said\nsk-a-very-secret-key")
    except ValueError as problem:
        log_fault("testing", problem)
    (line,) = lines(tmp_path / "errors.log")
    assert (line["level"], line["message"]) == ("error", "failed while testing")
    assert "Traceback" in line["traceback"] and "the server said\n[key]" in line["traceback"]


@pytest.mark.parametrize(
    ("named", "levels"),
    [
        ("", ["error"]),
        ("nonsense", ["error"]),
        ("warning", ["warning", "error"]),
        ("DEBUG", ["debug", "info", "warning", "error"]),
    ],
)
def test_the_environment_says_from_which_level_on(tmp_path: Path, named: str, levels: list[str]) -> None:
    log_faults_to(tmp_path / "errors.log", {"SPARK_LOG": named})
    logger = logging.getLogger("spark.test")
    for level in ("debug", "info", "warning", "error"):
        getattr(logger, level)("said %s", level)
    assert [line["level"] for line in lines(tmp_path / "errors.log")] == levels


def test_a_long_log_is_rotated_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_log, "LARGEST", 10_000)
    log_faults_to(tmp_path / "errors.log", {})
    logger = logging.getLogger("spark.test")
    for number in range(1_000):
        logger.error("fault %d", number)
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["errors.log", "errors.log.1"]
    assert all(file.stat().st_size <= 10_000 for file in files)
    assert lines(files[0])[-1]["message"] == "fault 999"


def test_nothing_is_made_before_there_is_a_fault(tmp_path: Path) -> None:
    log_faults_to(tmp_path / "errors.log", {})
    logging.getLogger("spark.test").warning("no fault")
    assert not (tmp_path / "errors.log").exists()


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
def test_a_log_that_cannot_be_written_puts_no_traceback_on_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "errors.log").symlink_to("/dev/full")
    log_faults_to(tmp_path / "errors.log", {})
    log_fault("testing", ValueError("a fault"))
    assert capsys.readouterr().err == ""
