"""A monkey at the keyboard: random keys, pastes, sizes, clicks and server events against the real app.

``python3 -m tests.e2e.monkey --minutes N --seed S`` plays for as long, first under Pilot and then on a
pseudo-terminal in turn, and prints what it played and each fault with its seed. A sequence is a list of
steps, so that a test can give one too. Every sequence has a project, a partner and a session of its own.

It holds that no exception is raised, the focus is always somewhere, a draft is never lost, every turn ends,
and every file is as it was at first, as the ledger says, or as it was saved.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textual import events

from session.project.opened import OpenFile
from tests.bench.pty_spark import Pty
from tests.bench.pty_spark import stage as pty_stage
from tests.tui.stage import GREETER, Stage, stage
from tui.front.keys.keymap import keymap
from tui.screen.terminal.driver import key_parser
from tui.screen.terminal.escape_keys import rewritten

LEAVING = frozenset({"ctrl+q", "ctrl+d", "ctrl+c", "ctrl+z"})
"""Keys that may end or stop the app; they are pressed by the tests about them."""
DELETING = (
    "backspace",
    "delete",
    "ctrl+w",
    "ctrl+u",
    "ctrl+k",
    "ctrl+x",
    "alt+d",
    "ctrl+y",
    "ctrl+underscore",
)
"""Keys with which the user deletes text."""
KEYS = sorted({key for scope in keymap() for entry in scope.keys for key in entry.keys} - LEAVING)
TEXTS = ("a", "Z", " ", "é", "字", "@", "/", "don't", "@gre", "/he", "y", "n", "q", "polite", "talk", "\\")
PROMPTS = ("make it polite", "just talk", "polite, please", "/help", "/context", "/undo", "/usage")
PASTES = (
    "one line",
    "two\nlines",
    "x" * 3000,
    "line\n" * 40,
    "\x1b[31mred\x1b[0m",
    "tab\there",
    "⟦paste 1 · 3⟧",
)
SIZES = ((120, 36), (80, 24), (20, 5), (40, 10), (200, 60), (100, 15), (10, 3))
RATES = (150.0, 1000.0, 10_000.0)

BYTES = (
    *("a", "b", " ", "don't", "polite", "é", "字", "\r", "\t", "\x7f", "\x1b", "\x1b[A", "\x1b[B", "\x1b[C"),
    *(
        "\x1b[D",
        "\x1bOP",
        "\x1bOQ",
        "\x1bOR",
        "\x1bOS",
        "\x1b[15~",
        "\x1b[18~",
        "\x1b[19~",
        "\x1b[20~",
        "\x1b[21~",
    ),
    *("\x1bd", "\x1bz", "\x10", "\x14", "\x13", "\x07", "\x0c", "\x1b[Z", "\x1b[200~pasted\nlines\x1b[201~"),
    *("\x1b[<0;10;10M\x1b[<0;10;10m", "\x1b[<64;20;8M", "\x1b[I", "\x1b[O", "\x1b[27u", "/help\r", "@gre\t"),
    *("make it polite\r", "just talk\r", "\x1b[?25u", "\x1b[?2026;2$y"),
)


START = """
import asyncio, faulthandler, signal, sys, traceback
faulthandler.enable()
def tasks(*_):
    for task in asyncio.all_tasks():
        print("\\n--- task", task.get_name(), file=sys.__stderr__)
        task.print_stack(limit=8, file=sys.__stderr__)
signal.signal(signal.SIGUSR1, tasks)
from tui.cli.main import main
main()
"""
"""Starts spark so that SIGUSR1 prints what its tasks wait for, and SIGABRT what its threads do."""


@dataclass(frozen=True)
class Step:
    """One thing that happens: ``kind`` says what, and ``value`` how."""

    kind: str
    value: str = ""
    x: int = 0
    y: int = 0


def random_steps(dice: random.Random, count: int) -> list[Step]:
    """A sequence of steps."""
    return [random_step(dice) for _ in range(count)]


def random_step(dice: random.Random) -> Step:
    """One step; keys and text are the likeliest."""
    kind = dice.choices(
        ("key", "text", "burst", "ask", "paste", "resize", "click", "scroll", "drop", "touch", "wait"),
        (30, 15, 20, 10, 4, 4, 5, 3, 1, 2, 6),
    )[0]
    x, y = dice.randrange(200), dice.randrange(60)
    match kind:
        case "key":
            return Step(kind, dice.choice(KEYS))
        case "text":
            return Step(kind, dice.choice(TEXTS))
        case "burst":
            pressed = [
                dice.choice((dice.choice(KEYS), dice.choice(TEXTS[:6]))) for _ in range(dice.randint(2, 6))
            ]
            return Step(kind, "\n".join(pressed))
        case "ask":
            return Step(kind, dice.choice(PROMPTS))
        case "paste":
            return Step(kind, dice.choice(PASTES))
        case "resize":
            return Step(kind, "", *dice.choice(SIZES))
        case _:
            return Step(kind, "", x, y)


class Broken(AssertionError):
    """An invariant does not hold."""


class Monkey:
    """Plays steps on a stage under Pilot, and looks after each whether all is as it must be."""

    def __init__(self, it: Stage) -> None:
        self._it = it
        self.keys = 0
        self._cutting = 0
        """Steps for which Ctrl+X may still cut: it does so a moment later, or with the next key."""
        self._known = {hashlib.sha256(GREETER.encode()).hexdigest()}
        """The contents that a file may have, as their sums: as given, as saved, as others wrote it."""
        save = it.session.files.save

        async def noting(opened: OpenFile, text: str) -> OpenFile:
            saved = await save(opened, text)
            self._known.add(hashlib.sha256((it.root / saved.path).read_bytes()).hexdigest())
            return saved

        it.session.files.save = noting  # type: ignore[method-assign]

    async def play(self, steps: Sequence[Step]) -> None:
        """Play all of them, and come to rest."""
        for step in steps:
            drafts = self._it.app.composer.draft
            await self._do(step)
            await self._it.pilot.pause()
            self._look(step, drafts)
            if not self._it.app.is_running:
                return  # the palette runs every key, those that quit too
        await self._rest()

    async def _do(self, step: Step) -> None:
        it, app = self._it, self._it.app
        match step.kind:
            case "key":
                self._press(step.value)
            case "text":
                for character in step.value:
                    self._press(character)
            case "burst":
                for key in step.value.split("\n"):
                    self._press(key)
            case "ask":
                for character in step.value:
                    self._press(character)
                self._press("enter")
            case "paste":
                app.post_message(events.Paste(step.value))
            case "resize":
                await it.pilot.resize_terminal(step.x, step.y)
            case "click":
                width, height = app.size
                await it.pilot.click(offset=(step.x % width, step.y % height))
            case "scroll":
                width, height = app.size
                for event in key_parser().feed(
                    rewritten(f"\x1b[<64;{step.x % width + 1};{step.y % height + 1}M")
                ):
                    app.post_message(event)
            case "drop":
                if it.partner is not None:
                    await it.partner.drop_clients()
            case "touch":
                file = it.root / "greeter.py"
                text = file.read_text("utf-8") + "# touched\n"
                self._known.add(hashlib.sha256(text.encode()).hexdigest())
                file.write_text(text, "utf-8")
            case _:
                await asyncio.sleep(0.03)

    def _press(self, key: str) -> None:
        self.keys += 1
        names = {"enter": "\r", "tab": "\t", " ": " "}
        character = key if len(key) == 1 else names.get(key)
        self._it.key({" ": "space"}.get(key, key), character)

    def _look(self, step: Step, before: str) -> None:
        app = self._it.app
        if app._exception is not None:
            raise Broken(f"an exception after {step}") from app._exception
        if not app.is_running and app.return_code != 0:
            raise Broken(f"the app ended after {step}")
        if not app.is_running:
            return
        if len(app.screen_stack) == 1 and app.focused is None:
            raise Broken(f"the focus is nowhere after {step}")
        if app.status.status.message.startswith("spark itself failed"):
            raise Broken(f"{app.status.status.message} after {step}")
        pressed = step.value.split("\n") if step.kind in ("key", "burst") else []
        cutting, self._cutting = self._cutting, 3 if "ctrl+x" in pressed else max(0, self._cutting - 1)
        if before.strip() and not cutting and not any(key in DELETING for key in pressed):
            self._find(before, step)

    def _find(self, draft: str, step: Step) -> None:
        """A draft that is not in the composer any more must have been sent, or be in the history."""
        composer = self._it.app.composer
        places = [composer.draft, *composer.history_of_prompts._prompts, composer.history_of_prompts._draft]
        # Selected text is replaced by what is typed, and typing goes anywhere in the text.
        if step.kind in ("resize", "click", "scroll", "drop", "touch", "wait") and draft not in places:
            raise Broken(f"the draft {draft[:80]!r} is gone after {step}")

    async def _rest(self) -> None:
        """Stop what runs, and compare the files with what the ledger says."""
        it = self._it
        for _ in range(4):
            self._press("escape")
            await it.pilot.pause()
        for _ in range(3000):
            if not it.session.running and not it.app.status.status.phase:
                break
            await asyncio.sleep(0.01)
        else:
            raise Broken(f"the turn never ended:\n{it.screen}")
        if len(it.app.screen_stack) != 1:
            raise Broken(f"Esc does not close {it.app.screen}")
        ledger = it.session.folders.state / "ledger/hunks.jsonl"
        recorded = set(re.findall(r"\b[0-9a-f]{64}\b", ledger.read_text())) if ledger.exists() else set()
        for file in it.root.rglob("*.py"):
            if hashlib.sha256(file.read_bytes()).hexdigest() not in self._known | recorded:
                raise Broken(f"nobody wrote {file.name} as it is:\n{file.read_text('utf-8')}")


async def play_pilot(folder: Path, steps: Sequence[Step], rate: float) -> int:
    """Play ``steps`` under Pilot; returns the number of keys pressed. Raises what is at fault."""
    async with stage(folder, rate=rate) as it:
        monkey = Monkey(it)
        await monkey.play(steps)
        return monkey.keys


def play_pty(dice: random.Random, reads: int) -> int:
    """Write random bytes to the real program on a terminal, split and joined anywhere; returns their number.

    At the end it is quit, and the terminal must be as it was found.
    """
    count = 0
    with pty_stage("500") as at, at.spark(START) as pane:
        pane.until("ready")
        typed = "".join(dice.choice(BYTES) for _ in range(reads)).encode()
        # The palette runs every key, those that quit too.
        with contextlib.suppress(EOFError, OSError):
            while typed:
                size = dice.choice((1, 1, 2, 3, 7, 40))
                piece, typed = typed[:size], typed[size:]
                count += len(piece)
                pane.write(piece)
                if dice.random() < 0.03:
                    pane.resize(*dice.choice(SIZES))
                end = time.monotonic() + dice.choice((0.0, 0.0, 0.005, 0.03))
                while (left := end - time.monotonic()) > 0:
                    pane.read(left)
            pane.resize(120, 36)
        leave(pane)
    return count


def leave(pane: Pty) -> None:
    """Quit: Esc closes what is open, and quitting is confirmed by the second key."""
    end = time.monotonic() + 60
    try:
        while time.monotonic() < end:
            for key in ("\x1b[201~", "\x1b[27u", "\x11"):
                pane.type(key)
                pane.read(0.3)
    except (EOFError, OSError):
        pass
    else:
        raise Broken(f"it cannot be left:\n{pane.text[-3000:]}\n{stacks(pane)}")
    if "Traceback" in pane.text or "spark itself failed" in pane.text:
        raise Broken(pane.text[-3000:])
    if pane.attributes != pane.found:
        raise Broken("the terminal is not as it was found")
    if pane.raw.rindex("\x1b[?1049l") < pane.raw.rindex("\x1b[?1049h"):
        raise Broken("the terminal is left in the alternate screen")


def stacks(pane: Pty) -> str:
    """What the program waits for, as it prints it on two signals; the second one ends it."""
    pane.forget()
    for number in (signal.SIGUSR1, signal.SIGABRT):
        os.kill(pane.process, number)
        with contextlib.suppress(EOFError, OSError):
            for _ in range(10):
                pane.read(0.3)
    return pane.raw[-20_000:]


def main() -> None:
    """Play until the time is over."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--minutes", type=float, default=10.0)
    arguments.add_argument("--seed", type=int, default=int(time.time()))
    arguments.add_argument("--steps", type=int, default=40)
    arguments.add_argument("--only", choices=("pilot", "pty"))
    given = arguments.parse_args()
    end = time.monotonic() + 60 * given.minutes
    sequences = keys = faults = 0
    seed = given.seed
    while time.monotonic() < end:
        dice = random.Random(seed)
        on_pty = given.only == "pty" or (given.only is None and seed % 4 == 0)
        try:
            if on_pty:
                keys += play_pty(dice, 3 * given.steps)
            else:
                with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
                    steps = random_steps(dice, given.steps)
                    rate = dice.choice(RATES)
                    keys += asyncio.run(asyncio.wait_for(play_pilot(Path(name), steps, rate), 180))
        except Exception:  # noqa: BLE001 (the fault is printed with its seed, and the monkey goes on)
            faults += 1
            print(f"--- seed {seed}, {'pty' if on_pty else 'pilot'}, {given.steps} steps", flush=True)
            traceback.print_exc(limit=-6, file=sys.stdout)
        sequences += 1
        seed += 1
    print(f"{sequences} sequences, {keys} keys, {given.minutes:g} minutes, {faults} faults", flush=True)
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
