"""Keys in the output of commands: masked also where the output is cut, shown in pieces or told in parts."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.base.events import CommandEnded, ToolHeld
from session.base.text.printed import printable
from session.checks.check import Check, Kind
from session.checks.debugging.failure import read_failure
from session.checks.debugging.live_run import KEPT
from session.checks.debugging.shell_run import run_shell
from session.record.kept_output import KeptOutput
from session.record.outputs import HEAD, TAIL, Outputs
from tests.session.calling import calling, outputs
from tests.session.talking import PLAIN, Listening, talking

BODY = "Qx7Lk2Vd9RzT4mWp8YbN3cHs6JfG1aUe5KoDqXiZvB0nM"
KEY = f"sk-ant-api03-{BODY}"
LINES = [f"MIIEvQIBADANBgkqhkiG9w0BAQEF{number:02}{BODY[:34]}" for number in range(30)]
PEM = "\n".join(["-----BEGIN PRIVATE KEY-----", *LINES, "-----END PRIVATE KEY-----"])


def parts_of_keys(text: str) -> list[str]:
    """The parts of keys that can be read in ``text``, eight characters each."""
    secrets = [BODY, *LINES]
    found = (each[at : at + 8] for each in secrets for at in range(len(each) - 7))
    return sorted({part for part in found if part in text})


def python(code: str) -> str:
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(f'import os, time; {code}')}"


async def said(line: str, root: Path) -> list[str]:
    pieces: list[str] = []
    await run_shell(line, root, dict(os.environ), pieces.append)
    return pieces


@asynccontextmanager
async def told_to_print(root: Path) -> AsyncIterator[Listening]:
    """A session whose model has run a command that prints ``key.txt`` and fails."""
    async with talking(root, calling(("run", {"command": "cat key.txt; exit 1"}))) as talk:
        talk.session.submit("go")
        assert talk.session.answer((await talk.until(ToolHeld)).call, land=True)
        await talk.ended("t1")
        yield talk


@pytest.mark.parametrize("shift", range(0, 60, 7))
async def test_a_key_at_the_cut_of_what_is_shown_live_is_masked(shift: int, tmp_path: Path) -> None:
    printed = "y" * shift + "\n" + f"{KEY}\n" * 400
    line = python(f"os.write(1, {printed!r}.encode()); time.sleep(0.2); print('the end')")
    pieces = await said(line, tmp_path)
    assert not parts_of_keys("".join(pieces)), pieces
    assert "masked" in "".join(pieces) and "the end" in pieces[-1]


async def test_a_key_on_one_line_that_is_longer_than_what_is_shown_is_masked(tmp_path: Path) -> None:
    for shift in range(0, 60, 7):
        line = python(f"print('y' * {shift}, '{KEY} ' * 20_000)")
        pieces = await said(line, tmp_path)
        assert pieces and not parts_of_keys("".join(pieces)), pieces


async def test_a_private_key_that_comes_in_pieces_is_masked_to_its_end(tmp_path: Path) -> None:
    lines = PEM.split("\n")
    first, second, third = ("\n".join(lines[a:b]) + "\n" for a, b in ((0, 5), (5, 20), (20, 99)))
    line = python(
        f"os.write(1, b'before\\n' + {first!r}.encode()); time.sleep(0.25); "
        f"os.write(1, {second!r}.encode()); time.sleep(0.25); "
        f"os.write(1, {third!r}.encode()); time.sleep(0.25); print('after it')"
    )
    pieces = await said(line, tmp_path)
    assert len(pieces) > 3, "it came in pieces"
    assert not parts_of_keys("".join(pieces)), pieces
    assert "before" in pieces[0] and "private key masked" in pieces[0] and "after it" in pieces[-1]


async def test_a_value_below_its_name_is_masked_in_another_piece(tmp_path: Path) -> None:
    line = python(f"print('password =', flush=True); time.sleep(0.25); print('  \"{BODY}\"')")
    pieces = await said(line, tmp_path)
    assert len(pieces) == 2 and not parts_of_keys("".join(pieces)), pieces


async def test_words_about_a_private_key_hide_no_more_than_a_key_is_long(tmp_path: Path) -> None:
    begin = "-----BEGIN PRIVATE KEY-----\\n"
    line = python(
        f"print('{begin}'); [(print('line ' * 900, flush=True), time.sleep(0.15)) for _ in range(8)]"
    )
    assert "line line" in (await said(line, tmp_path))[-1]


@pytest.mark.parametrize("shift", range(0, 60, 7))
@pytest.mark.parametrize("between", [" ", "\n"])
def test_a_key_where_the_kept_ends_meet_is_masked(between: str, shift: int) -> None:
    kept = KeptOutput(KEPT, KEPT)
    data = ("y" * shift + between + f"{KEY}{between}" * (3 * KEPT // len(KEY))).encode()
    for at in range(0, len(data), 65_536):
        kept.take(data[at : at + 65_536])
    text = kept.text()
    assert "bytes of output were not kept" in text
    assert not parts_of_keys(printable(text))


def test_a_private_key_where_the_kept_ends_meet_is_masked() -> None:
    for at in (KEPT, 2 * KEPT):  # the end of the first part, and the beginning of the last one
        before = "y\n" * ((at - 500) // 2)
        data = (before + PEM + "\n" + "z\n" * ((3 * KEPT - at) // 2)).encode()
        data = data[: 3 * KEPT - 300] if at == KEPT else data[: 3 * KEPT]
        kept = KeptOutput(KEPT, KEPT)
        kept.take(data)
        assert not parts_of_keys(printable(kept.text())), at


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_key_where_the_ends_of_a_whole_output_meet_is_masked(shift: int, tmp_path: Path) -> None:
    outputs = Outputs(tmp_path)
    outputs.keep("c1")(("y" * shift + " " + f"{KEY} " * ((HEAD + TAIL) // 40)).encode())
    text = outputs.text("c1") or ""
    assert "were not kept" in text and not parts_of_keys(text)


@pytest.mark.parametrize("shift", range(0, 60, 7))
def test_a_key_at_the_end_of_a_long_line_does_not_reach_the_model(shift: int) -> None:
    output = "error: " + "y" * (240 + shift) + f" {KEY}\nerror: the end\n"
    failure = read_failure("make", 1, output, lambda path: "")
    assert "the end" in failure.excerpt and not parts_of_keys(failure.prompt())


def test_a_private_key_among_the_last_lines_does_not_reach_the_model() -> None:
    failure = read_failure("make", 1, f"begin\n{PEM}\nthe end\n", lambda path: "")
    assert "the end" in failure.excerpt and not parts_of_keys(failure.prompt())


@pytest.mark.parametrize("shift", [0, 7, 14, 21, 28, 35])
async def test_a_key_in_the_last_lines_of_a_check_is_masked(shift: int, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "said.txt").write_text(f"{PEM}\n" + "y" * (270 + shift) + f" {KEY}\nnothing else\n")
    async with talking(root, PLAIN) as talk:
        verdict = await talk.session.checks.runner().run(Check("say", "cat said.txt; exit 1", Kind.OTHER))
    assert "nothing else" in verdict.last and not parts_of_keys(verdict.last), verdict.last


async def test_a_key_that_a_command_prints_is_masked_on_the_screen_and_for_the_model(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text(f"{KEY}\n{PEM}\n")
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("cat key.txt; sleep 0.2; cat key.txt; echo failed; exit 1")
        await _ended(talk)
        assert "failed" in talk.session.shell.request()
        assert not parts_of_keys(talk.session.shell.request() + str(talk.events))


@pytest.mark.parametrize("shift", range(0, 60, 14))
async def test_a_key_at_the_cuts_of_a_command_of_the_models_is_masked(shift: int, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text("y" * shift + "\n" + f"{KEY}\n" * 400)
    async with told_to_print(root) as talk:
        assert "masked" in str(outputs(talk)) and "bytes of output were not kept" in str(outputs(talk))
        assert not parts_of_keys(str(outputs(talk)) + str(talk.events))


ESCAPES = [
    "\x1b[1m",
    "\x1b[38;5;208m",
    "\x1b(B",
    "\x1b]8;;file://x\x1b\\",
    "\x1b7",
    "\x1bPq#0\x1b\\",
    "\u009b1m",
]
"""A colour, a character set, a link, a saved place, an image, and a colour in one character."""


@pytest.mark.parametrize("escape", ESCAPES)
async def test_a_key_with_an_escape_in_its_middle_does_not_reach_the_model(
    escape: str, tmp_path: Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text(f"key {KEY[:30]}{escape}{KEY[30:]}\nthe end\n")
    async with told_to_print(root) as talk:
        talk.session.shell.run("cat key.txt; exit 1")
        await _ended(talk)
        told = str(outputs(talk)) + talk.session.shell.request() + str(talk.events)
    assert "masked" in told and "the end" in told and not parts_of_keys(told), told


@pytest.mark.parametrize("shift", range(0, 80, 7))
async def test_an_escape_in_a_key_at_the_cut_leaves_no_part_of_it(shift: int, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text("y" * shift + "\n" + f"{KEY[:30]}\x1b[1m{KEY[30:]}\n" * 400)
    async with told_to_print(root) as talk:
        told = str(outputs(talk)) + str(talk.events)
    assert "masked" in told and not parts_of_keys(told), told


async def _ended(talk: Listening) -> None:
    await talk.until(CommandEnded)
