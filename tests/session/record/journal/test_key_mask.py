"""A key of ours is in nothing that is told or written, however a server repeats it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from session.base.events import CheckEnded, Event, Notice, ReasoningDelta, TextDelta, TurnEnded
from session.base.storage.error_log import log_faults_to
from session.base.tasks import log_fault
from session.base.text.masking import remember
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.record.journal.recorder import KeyMask
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tests.conftest import RunSpark
from tests.session.talking import environment

KEY = "sk-own-0123456789abcdefXYZ"
SHAPELESS = "0f9a77c2d1e84b6f"


def told(pieces: list[Event]) -> list[Event]:
    mask = KeyMask()
    return [out for event in pieces for out in mask.take(event)] + mask.rest()


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@given(st.text("sk-own0a", max_size=6), st.text("skx", max_size=6), st.lists(st.integers(0, 40), max_size=6))
def test_a_key_in_pieces_is_masked_and_all_else_stays(before: str, after: str, cuts: list[int]) -> None:
    remember(KEY)
    whole = f"{before}{KEY}{after}{KEY[:9]}"
    ends = sorted({min(cut, len(whole)) for cut in cuts} | {0, len(whole)})
    pieces: list[Event] = [TextDelta("t", whole[start:end]) for start, end in itertools.pairwise(ends)]
    assert text_of(told(pieces)) == whole.replace(KEY, "[key]")


def test_what_is_held_back_comes_before_any_other_event_and_at_the_end() -> None:
    remember(KEY)
    other = ReasoningDelta("t", "s")
    events: list[Event] = [TextDelta("t", "ask-o"), other, TurnEnded("t", "completed"), TextDelta("t", "sk")]
    assert told(events) == [
        TextDelta("t", "a"),
        TextDelta("t", "sk-o"),
        other,
        TurnEnded("t", "completed"),
        TextDelta("t", "sk"),
    ]


def test_texts_of_every_kind_are_masked() -> None:
    remember(KEY)
    events: list[Event] = [Notice("info", f"a {KEY} b"), TurnEnded("t", "failed", message=KEY)]
    assert told(events) == [Notice("info", "a [key] b"), TurnEnded("t", "failed", message="[key]")]
    found = CheckEnded("pytest", "red", 0.1, ("a.py:1: x", f"b.py:2: {KEY}"))
    assert told([found]) == [replace(found, findings=("a.py:1: x", "b.py:2: [key]"))]


STEPS = [
    f'think = "Your key is {KEY}."\n[[scenario.step]]\nsay = "Your key is {KEY}.\\n"',
    f'fail = {{code = "server_error", message = "Bad key {KEY}."}}',
    f'fail = {{code = "{KEY}", message = "Bad key {KEY}.", shape = "flat"}}',
    f'fail = {{code = "invalid_api_key", message = "Bad key {KEY}.", shape = "response"}}',
    f'call = [{{tool = "{KEY}"}}, {{tool = "read", arguments = {{path = "{KEY}"}}}}]',
]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("key", [KEY, SHAPELESS])
async def test_no_file_holds_the_key_after_a_session_with_a_server_that_repeats_it(
    tmp_path: Path, step: str, key: str
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    environ = environment(tmp_path / "xdg") | {"OPENAI_API_KEY": key}
    script = '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\n' + step.replace(KEY, key)
    async with Partner(rate=float("inf"), scripts=parse(script)) as partner:
        opening = open_project(root, Flags(base_url=partner.url, model="spark-practice"), environ)
        log_faults_to(tmp_path / "xdg" / "errors.log")
        session = Session(opening)
        events = session.listen()
        await session.open()
        session.submit(f"what is {key}?")
        shown: list[Event] = []
        async for event in events:
            shown.append(event)
            if isinstance(event, TurnEnded):
                break
        log_fault("testing", ValueError(f"the server said {key}"))
        await session.close()
    assert key not in repr(shown)
    written = [file for file in (tmp_path / "xdg").rglob("*") if file.is_file()]
    assert any("sessions" in file.parts for file in written) and any(f.name == "errors.log" for f in written)
    assert [file for file in written if key.encode() in file.read_bytes()] == []


def test_neither_doctor_nor_export_nor_errors_tell_the_key(
    run_spark: RunSpark, project: Path, own_folders: Path
) -> None:
    env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"http://user:{SHAPELESS}@127.0.0.1:9/{KEY}"}
    for command in (["doctor"], ["doctor", "--json"], ["models"], ["exec", "hi"], ["login", "--list"]):
        ran = run_spark(*command, cwd=project, env=env)
        assert KEY not in ran.out + ran.err and SHAPELESS not in ran.out + ran.err, command
    name = run_spark("sessions", cwd=project).out.split()[0]
    assert KEY not in run_spark("export", name, cwd=project).out
    files = [file for file in own_folders.rglob("*") if file.is_file()]
    assert [file for file in files if KEY.encode() in file.read_bytes()] == []
