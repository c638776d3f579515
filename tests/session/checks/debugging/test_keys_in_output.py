"""Keys in the output of commands: masked also where the output is cut, shown in pieces or told in parts."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from context.text.secrets import LONGEST_KEY
from session.base.events import CommandEnded, ToolHeld
from session.checks.check import Check, Kind
from session.checks.output import read_failure
from session.checks.shell_run import run_shell
from session.record import outputs as whole_outputs
from session.record.outputs import KeptOutput, Outputs, plain, printable
from session.tools.command.live_output import LiveOutput
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


async def test_a_key_at_the_cut_of_what_a_command_shows_live_is_masked(tmp_path: Path) -> None:
    """The whole road, once; what is shown live is tried at every place below."""
    printed = "y" * 7 + "\n" + f"{KEY}\n" * 400
    (tmp_path / "key.txt").write_text(printed)
    pieces = await said("cat key.txt; echo the end", tmp_path)
    assert not parts_of_keys("".join(pieces)), pieces
    assert "masked" in "".join(pieces) and "the end" in pieces[-1]


MOST = 500
"""Most bytes of a piece that is shown, in place of thousands: some keys and a half fit."""


async def live(*bursts: str, at_once: int = 65_536) -> list[str]:
    """What is shown of output that comes in ``bursts``: each is shown before the next one comes."""
    pieces: list[str] = []
    output = LiveOutput(pieces.append, plain, MOST)
    for burst in bursts:
        data = burst.encode()
        for at in range(0, len(data), at_once):
            output.take(data[at : at + at_once])
        if output._later is not None:  # the time that it waits for is over
            output._later.cancel()
            output._show_lines()
    output.flush()
    return pieces


@pytest.mark.parametrize("at_once", [300, 65_536])
@pytest.mark.parametrize("middle", ["", "\x1b[1m"])
async def test_a_key_at_the_cut_of_what_is_shown_live_is_masked(middle: str, at_once: int) -> None:
    key = f"{KEY[:30]}{middle}{KEY[30:]}"
    for shift in range(len(KEY) + 1):
        pieces = await live("y" * shift + "\n" + f"{key}\n" * 40, "the end\n", at_once=at_once)
        assert not parts_of_keys("".join(pieces)), (shift, pieces)
        assert "masked" in "".join(pieces) and "the end" in pieces[-1]


@pytest.mark.parametrize("at_once", [300, 65_536])
async def test_a_key_on_one_line_that_is_longer_than_what_is_shown_is_masked(at_once: int) -> None:
    for shift in range(len(KEY) + 1):
        pieces = await live("y" * shift + " " + f"{KEY} " * 40 + "\n", at_once=at_once)
        assert pieces and not parts_of_keys("".join(pieces)), (shift, pieces)


async def test_a_private_key_that_comes_in_pieces_is_masked_to_its_end() -> None:
    lines = PEM.split("\n")
    for first in range(1, 6):
        parts = ("\n".join(lines[a:b]) + "\n" for a, b in ((0, first), (first, first + 7), (first + 7, 99)))
        pieces = await live("before\n", *parts, "after it\n")
        assert len(pieces) > 3, "it came in pieces"
        assert not parts_of_keys("".join(pieces)), pieces
        assert "before" in pieces[0] and "private key masked" in "".join(pieces)
        assert "after it" in pieces[-1]


async def test_a_value_below_its_name_is_masked_in_another_piece() -> None:
    pieces = await live("password =\n", f'  "{BODY}"\n')
    assert len(pieces) == 2 and not parts_of_keys("".join(pieces)), pieces


async def test_words_about_a_private_key_hide_no_more_than_a_key_is_long() -> None:
    pieces = await live("-----BEGIN PRIVATE KEY-----\n", *["line " * 80 + "\n"] * (LONGEST_KEY // 400 + 2))
    assert "line line" not in pieces[1] and "line line" in pieces[-1]


SMALL = 1_000
"""Bytes of an output that are kept from either end, in place of very many."""


@pytest.mark.parametrize("between", [" ", "\n"])
@pytest.mark.parametrize("middle", ["", "\x1b[1m", "\x1b[1 q"])
def test_a_key_where_the_kept_ends_meet_is_masked(middle: str, between: str) -> None:
    key = f"{KEY[:30]}{middle}{KEY[30:]}{between}"
    for shift in range(len(key)):
        kept = KeptOutput(SMALL, SMALL)
        data = ("y" * shift + between + key * (3 * SMALL // len(KEY))).encode()
        for at in range(0, len(data), 300):
            kept.take(data[at : at + 300])
        text = kept.text()
        assert "bytes of output were not kept" in text and "masked" in printable(text)
        assert not parts_of_keys(printable(text)), shift


def test_a_private_key_where_the_kept_ends_meet_is_masked() -> None:
    ends = 2 * len(PEM)
    for at in (ends, 2 * ends):  # the end of the first part, and the beginning of the last one
        before = "y\n" * ((at - 500) // 2)
        data = (before + PEM + "\n" + "z\n" * ((3 * ends - at) // 2)).encode()
        data = data[: 3 * ends - 300] if at == ends else data[: 3 * ends]
        kept = KeptOutput(ends, ends)
        kept.take(data)
        assert not parts_of_keys(printable(kept.text())), at


def test_a_key_where_the_ends_of_a_whole_output_meet_is_masked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_outputs, "HEAD", SMALL)
    monkeypatch.setattr(whole_outputs, "TAIL", SMALL)
    outputs = Outputs(tmp_path)
    for shift in range(len(KEY) + 1):
        outputs.keep("c1")(("y" * shift + " " + f"{KEY} " * (2 * SMALL // 40)).encode())
        text = outputs.text("c1") or ""
        assert "were not kept" in text and not parts_of_keys(text), shift


def test_a_key_at_the_end_of_a_long_line_does_not_reach_the_model() -> None:
    for shift in range(len(KEY) + 1):
        output = "error: " + "y" * (240 + shift) + f" {KEY}\nerror: the end\n"
        failure = read_failure("make", 1, output, lambda path: "")
        assert "the end" in failure.excerpt and not parts_of_keys(failure.prompt()), shift


def test_a_private_key_among_the_last_lines_does_not_reach_the_model() -> None:
    failure = read_failure("make", 1, f"begin\n{PEM}\nthe end\n", lambda path: "")
    assert "the end" in failure.excerpt and not parts_of_keys(failure.prompt())


async def test_a_key_in_the_last_lines_of_a_check_is_masked(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    long = (f"{'y' * (270 + shift)} {KEY}\n" for shift in range(0, 42, 7))
    (root / "said.txt").write_text(f"{PEM}\n{''.join(long)}nothing else\n")
    async with talking(root, PLAIN) as talk:
        verdict = await talk.session.checks.runner().run(Check("say", "cat said.txt; exit 1", Kind.OTHER))
    assert "nothing else" in verdict.last and not parts_of_keys(verdict.last), verdict.last
    assert "private key masked" in verdict.last and len(verdict.last.splitlines()) == 9


async def test_a_key_that_a_command_prints_is_masked_on_the_screen_and_for_the_model(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text(f"{KEY}\n{PEM}\n")
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("cat key.txt; sleep 0.2; cat key.txt; echo failed; exit 1")
        await _ended(talk)
        assert "failed" in talk.session.shell.request()
        assert not parts_of_keys(talk.session.shell.request() + str(talk.events))


async def test_a_key_at_the_cuts_of_a_command_of_the_models_is_masked(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "key.txt").write_text("y" * 28 + "\n" + f"{KEY}\n{KEY[:30]}\x1b[1m{KEY[30:]}\n" * 200)
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
def test_a_key_with_an_escape_in_its_middle_is_masked(escape: str) -> None:
    printed = f"key {KEY[:30]}{escape}{KEY[30:]}\nthe end\n"
    shown = printable(printed)
    prompt = read_failure("x", 1, printed, lambda path: "").prompt()
    for told in (shown, prompt):
        assert "masked" in told and "the end" in told and not parts_of_keys(told), told


async def test_a_key_with_an_escape_in_its_middle_does_not_reach_the_model(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    lines = (f"key {KEY[:30]}{escape}{KEY[30:]}\n" for escape in ESCAPES)
    (root / "key.txt").write_text(f"{''.join(lines)}the end\n")
    async with told_to_print(root) as talk:
        talk.session.shell.run("cat key.txt; exit 1")
        await _ended(talk)
        told = str(outputs(talk)) + talk.session.shell.request() + str(talk.events)
    assert "masked" in told and "the end" in told and not parts_of_keys(told), told


async def _ended(talk: Listening) -> None:
    await talk.until(CommandEnded)
