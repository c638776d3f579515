"""Lean drawing in the real app on a real terminal: by the speed of the line, and as the user wishes."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable

import pytest

from tests.bench.pty_spark import Launch, Pty, Stage, stage
from tui.screen.terminal.frame_answers import ANSWER, ASK

CODE = "```python\n" + "".join(f"def value_{n}(other: int) -> int:\n    return {n}\n" for n in range(4000))
SCRIPT = f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\nsay = {json.dumps(CODE)}\n"
KEYWORD = re.compile(r"\x1b\[[0-9;]*38;2;[0-9;]*m(?:[^\x1b]|\x1b\[[0-9;]*[A-Za-ln-z])*?def")
"""The keyword, in a colour of 24 bits."""
PIECE = 256
LONG = 120.0
"""Seconds from the start of the app: nothing here takes so long by itself."""


def read_until(pane: Pty, fits: Callable[[], object], rate: float = math.inf) -> None:
    """Read at most so many bytes a second until something fits; answer the questions in what was read, as a
    terminal at the end of an ssh link does."""
    end = time.monotonic() + 60
    while not fits():
        assert time.monotonic() < end, pane.text[-2000:]
        before = len(pane.raw)
        pane.read(0.5, PIECE)
        for _ in range(pane.raw[max(0, before - len(ASK) + 1) :].count(ASK)):
            pane.type(ANSWER)
        time.sleep(PIECE / rate)


def far(at: Stage) -> Stage:
    """``at`` as it is behind ssh."""
    at.environ["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
    return at


def test_a_slow_terminal_gets_plain_code_and_is_told_so_once(launch: Launch) -> None:
    with stage("1000", script=SCRIPT, launch=launch) as at, far(at).spark() as pane:
        read_until(pane, lambda: "ready" in pane.text)
        pane.forget()
        pane.type("go on\r")
        read_until(pane, lambda: KEYWORD.search(pane.raw))
        read_until(pane, lambda: "The line is slow" in pane.text, rate=4_000)
        while True:  # what was on its way before is coloured
            pane.forget()
            read_until(pane, lambda: "def" in pane.raw)
            if not KEYWORD.search(pane.raw):
                break
        pane.type("\x03")
        pane.until("Stopped", LONG)
        pane.forget()
        pane.type("/lean off\r")
        pane.until("lean drawing: off", LONG)
        pane.type("\x1b[1;2P")  # the next one; with Alt it would be Esc while a turn still ends
        pane.until("lean drawing: by the speed of the line", LONG)
        pane.type("/lean much\r")
        pane.until("/lean takes one of: auto, on, off", LONG)


def test_the_setting_draws_lean_from_the_first_frame_on(launch: Launch) -> None:
    with stage("1000", script=SCRIPT, launch=launch) as at:
        config = at.folder / "config" / "spark" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('lean = "on"\n', "utf-8")
        with at.spark() as pane:
            pane.until("ready", LONG)
            pane.forget()
            pane.type("go on\r")
            pane.until("value_20", LONG)
            assert "def" in pane.raw and "\x1b[38;2;" not in pane.raw
            # What is chosen holds in the next session, too.
            pane.type("\x03")
            pane.until("Stopped", LONG)
            pane.type("/lean off\r")
            pane.until("lean drawing: off", LONG)
            pane.forget()
            pane.type("/new\r")
            pane.until("ready", LONG)
            pane.type("go on\r")
            pane.until(lambda text: KEYWORD.search(pane.raw), LONG)
            config.write_text('lean = "much"\n', "utf-8")
        with at.spark() as pane:
            with pytest.raises(EOFError):
                pane.until("never", LONG)
            assert "lean must be one of auto, on, off" in " ".join(pane.text.split())
