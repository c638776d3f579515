"""Text from models, files and servers never acts on a terminal, whichever front end prints it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyte
import pytest

from context.text.unseen import has_unseen
from session.base.events import Event, TextDelta, TurnEnded, TurnStarted, event_types
from session.base.storage.folders import project_folders
from session.record.journal.journals import Journal
from tests.conftest import RunSpark
from tests.e2e.test_exec import partner
from tui.front.printing import PieceWriter
from tui.line.answer import Answer
from tui.line.event_printers import json_printer, text_printer

HOSTILE = (
    "a\x1b]0;title\x07b\x1b[2J\x1b[31mc\x9b5md\x9d52;c;aGk=\x9ce\x07f\x08\x08g\x7fh\u202ei\u200bj\u2066k"
    "\u2028l\u2029m\U000e0041\U000e007fn\ufeffo\udc9bp\x00q\x85r\rs"
)


def harmless(text: str) -> bool:
    """Whether a terminal draws ``text`` and does nothing else."""
    screen = pyte.HistoryScreen(500, 60, history=1000)
    stream = pyte.Stream(screen)
    title = screen.title
    stream.feed(text.replace("\n", "\r\n"))
    return not has_unseen(text) and "\x1b" not in text and "\r" not in text and screen.title == title


def hostile_events() -> Iterator[Event]:
    """One of each kind of event, with hostile text wherever there is text."""
    values: dict[str, Any] = {"str": HOSTILE, "int": 1, "float": 1.0, "bool": True}
    values |= {"str | None": HOSTILE, "float | None": 1.0, "int | None": 1, "tuple[str, ...]": (HOSTILE,)}
    for kind in event_types().values():
        # Only the status of a check is one of a few words, which no server chooses.
        given = {
            field.name: "red" if field.name == "status" else values.get(str(field.type), HOSTILE)
            for field in fields(kind)
        }
        yield kind(**given)


@pytest.mark.parametrize(
    "front_end", [lambda: Answer().show, text_printer, lambda: json_printer(time.monotonic())]
)
def test_no_event_acts_on_the_terminal(
    front_end: Callable[[], Callable[[Event], None]], capsys: pytest.CaptureFixture[str]
) -> None:
    show = front_end()
    events = list(hostile_events())
    assert len(events) > 30
    for event in events:
        show(event)
    show(TurnEnded(turn="t", status="completed"))
    told = capsys.readouterr()
    assert "]0;title" in told.out + told.err, "the hostile text was printed"
    assert harmless(told.out) and harmless(told.err)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_text_that_comes_in_pieces_is_as_harmless(size: int, capsys: pytest.CaptureFixture[str]) -> None:
    text = f"Grüße 👩‍👩‍👧 {HOSTILE}"
    writer = PieceWriter()
    for at in range(0, len(text), size):
        writer.write(text[at : at + size])
    pieces = capsys.readouterr().out
    PieceWriter().write(text)
    assert pieces == capsys.readouterr().out and "👩‍👩‍👧" in pieces and harmless(pieces)


def test_json_is_escaped_and_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    json_printer(time.monotonic())(TextDelta(turn="t", text=HOSTILE))
    line = capsys.readouterr().out
    assert harmless(line) and json.loads(line)["text"] == HOSTILE


def test_an_export_is_escaped_and_loses_nothing(run_spark: RunSpark, project: Path) -> None:
    journal = Journal(project_folders(project).sessions, "20260101-100000-aaaa")
    journal.write(TurnStarted("s", "t1", HOSTILE, "low", 1))
    journal.close()
    ran = run_spark("export", "20260101-100000-aaaa", cwd=project)
    assert harmless(ran.out) and json.loads(ran.out)["model"] == HOSTILE


ARGUMENT = HOSTILE.replace("\x00", "").replace("\udc9b", "")


@pytest.mark.parametrize(
    "command",
    [
        ["undo", ARGUMENT],
        ["redo", ARGUMENT],
        ["exec", "-C", f"/{ARGUMENT}", "hi"],
        ["context", "-C", f"/{ARGUMENT}"],
        ["resume", ARGUMENT],
        ["export", ARGUMENT],
        ["exec", f"--{ARGUMENT}"],
        ["exec", "--effort", ARGUMENT, "hi"],
        ["exec", "--model", ARGUMENT, "--provider", ARGUMENT, "hi"],
        ["exec", "--base-url", f"http://127.0.0.1:1/{ARGUMENT}", "hi"],
        ["context", "--budget", ARGUMENT],
        ["context", "--pin", ARGUMENT],
        ["apply", "--format", ARGUMENT],
        ["usage", "--days", ARGUMENT],
        ["login", ARGUMENT],
        ["check", ARGUMENT],
        ["completion", ARGUMENT],
        ["local", "pull", ARGUMENT],
    ],
)
def test_what_stands_on_the_command_line_does_not_act_in_an_error(
    run_spark: RunSpark, project: Path, command: list[str]
) -> None:
    ran = run_spark(*command, cwd=project)
    assert ran.code and ran.err
    assert harmless(ran.out) and harmless(ran.err)


def test_an_answer_of_a_hostile_server_does_not_act(
    run_spark: RunSpark, spark_path: Path, project: Path, tmp_path: Path
) -> None:
    script = tmp_path / "script.toml"
    words = "".join(f"\\U{ord(character):08x}" for character in ARGUMENT + "\x00")
    script.write_text(f'[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "{words}"\n')
    with partner(spark_path, "--script", str(script)) as url:
        for flags in ([], ["--json"]):
            ran = run_spark("exec", "hi", "--base-url", url, "--model", "spark-practice", *flags, cwd=project)
            assert "title" in ran.out and harmless(ran.out) and harmless(ran.err)
    ran = run_spark("sessions", cwd=project)
    assert ran.out and harmless(ran.out)
