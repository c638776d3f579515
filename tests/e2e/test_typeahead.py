"""What is typed before the app is up: kept, in order, and sent where it was to be sent."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from session.partner.server.server import companion
from tests.checkout import ROOT
from tests.e2e.tmux import PATIENCE
from tests.emulator import Emulator

START = "from tui.cli.main import main; main()"
STUCK = (
    "import time; from tui.cli import app_commands\n"
    "app_commands.opening = lambda *_, **__: time.sleep(60)\n" + START
)
"""A start that gets no further than the settings."""
NO_SESSION = "import time, tui.app.run; tui.app.run._make = lambda *_, **__: time.sleep(60)\n" + START
"""A start that gets no further than the first frame."""
USUAL = termios.ECHO | termios.ICANON | termios.ISIG


@dataclass
class Typed:
    """``spark`` on a terminal whose keys may be pressed before it runs."""

    main: int
    terminal: int
    screen: Emulator = field(default_factory=lambda: Emulator(100, 30))
    output: str = ""
    decode: Callable[[bytes], str] = field(
        default_factory=lambda: getincrementaldecoder("utf-8")("replace").decode
    )

    def until(self, fits: Callable[[str], bool]) -> None:
        """Wait until what the terminal shows fits."""
        end = time.monotonic() + PATIENCE
        while not fits(self.screen.text):
            assert time.monotonic() < end, self.screen.text
            self.read()

    def read(self) -> bool:
        """Take what is written; false where nothing was for a moment."""
        if not select.select([self.main], [], [], 0.05)[0]:
            return False
        text = self.decode(os.read(self.main, 65536))
        self.output += text
        self.screen.feed(text)
        return True

    def press(self, keys: str | bytes) -> None:
        """Press keys, which arrive in one read."""
        os.write(self.main, keys if isinstance(keys, bytes) else keys.encode())

    @property
    def composer(self) -> str:
        """The text in the composer, on the early screen or on the app's."""
        return self.screen.rows[-2].strip()

    def flags(self) -> int:
        flags = termios.tcgetattr(self.terminal)[3]
        assert isinstance(flags, int)
        return flags


@contextmanager
def a_terminal() -> Iterator[Typed]:
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    try:
        yield Typed(main, terminal)
    finally:
        os.close(main)
        os.close(terminal)


@contextmanager
def spark(
    on: Typed, folder: Path, *arguments: str, start: str = START, term: str = "xterm-256color"
) -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir(exist_ok=True)
    home = folder.parent / "home"
    places = {f"XDG_{name}_HOME": str(home / name) for name in ("CONFIG", "STATE", "CACHE")}
    kept = {name: value for name, value in os.environ.items() if name.startswith("PYTHON")}
    environ = {**kept, "HOME": str(home), "PATH": os.environ["PATH"], "TERM": term, **places}
    process = subprocess.Popen(
        [sys.executable, "-c", start, *arguments],
        stdin=on.terminal,
        stdout=on.terminal,
        stderr=on.terminal,
        cwd=folder,
        env={**environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=_take_terminal,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _take_terminal() -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def held(on: Typed) -> bool:
    """Whether spark has the terminal keep keys unseen; it is not up yet then, or just so."""
    return not on.flags() & termios.ECHO


def test_what_is_typed_before_spark_runs_and_before_it_is_up_is_sent_in_order(tmp_path: Path) -> None:
    with companion("1000") as url, a_terminal() as on:
        on.press("one tw")
        arguments = ("--provider", "partner", "--base-url", url)
        with spark(on, tmp_path / "project", *arguments) as process:
            on.until(lambda _: held(on))
            on.press("o three\r")
            on.until(lambda text: "tok/s" in text)
            on.press("\x11")
            on.until(lambda _: process.poll() is not None)
            assert process.returncode == 0
            assert on.flags() & USUAL == USUAL
    journals = (tmp_path / "home" / "STATE").rglob("sessions/*.jsonl")
    assert '"text":"one two three"' in "".join(file.read_text() for file in journals)


def test_keys_pressed_at_every_moment_of_the_start_are_kept_in_order(tmp_path: Path) -> None:
    text = "a quick brown fox jumps over the lazy dog, and then some more: äöü 漢字 twice"
    with companion("1000") as url, a_terminal() as on:
        keys = [text[at : at + 1 + at % 3] for at in range(len(text))]
        whole, at = "", 0
        with spark(on, tmp_path / "project", "--provider", "partner", "--base-url", url):
            while at < len(text):
                # One to three keys in a read, some characters cut in the middle.
                piece = keys[at].encode()
                at += len(keys[at])
                on.press(piece[:1])
                on.read()
                on.press(piece[1:] or b"")
                whole += piece.decode()
            on.until(lambda shown: "● ready" in shown and on.composer.startswith("a quick"))
            on.until(lambda _: on.composer == whole)


def test_an_enter_pressed_early_sends_once(tmp_path: Path) -> None:
    with (
        companion("1000") as url,
        a_terminal() as on,
        spark(on, tmp_path / "project", "--provider", "partner", "--base-url", url),
    ):
        on.until(lambda text: "starting" in text)
        on.press("hello ")
        on.until(lambda _: on.composer == "hello")
        on.press("there\r")
        on.until(lambda text: "tok/s" in text)
        assert on.composer == ""
    journals = list((tmp_path / "home" / "STATE").rglob("sessions/*.jsonl"))
    assert "".join(file.read_text() for file in journals).count('"text":"hello there"') == 1


def test_a_key_that_waits_for_the_session_does_not_hold_up_the_first_frame(tmp_path: Path) -> None:
    with a_terminal() as on, spark(on, tmp_path / "project", start=NO_SESSION):
        on.until(lambda text: "starting" in text)
        on.press("hello there\x11")
        on.until(lambda text: "─ Chat " in text and on.composer == "hello there")


def test_the_early_screen_shows_what_is_typed_and_acts_on_nothing(tmp_path: Path) -> None:
    with a_terminal() as on, spark(on, tmp_path / "project", start=STUCK) as process:
        on.until(lambda text: "─ Ask" in text and "starting" in text)
        for byte in "né漢x\x7f".encode():
            on.press(bytes([byte]))
        on.until(lambda _: on.composer == "né漢")
        # Ctrl+Z and Ctrl+\\ are keys: the terminal could not be given back.
        on.press("\x1a\x1c")
        on.press("!")
        while on.read():
            pass
        assert process.poll() is None
        assert on.composer == "né漢"
        assert on.output.count("\x1b[?1049h") == 1 and "\x1b[?1049l" not in on.output


@pytest.mark.parametrize("how", ["ctrl+c", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_an_end_on_the_early_screen_gives_the_terminal_back(how: str, tmp_path: Path) -> None:
    with a_terminal() as on, spark(on, tmp_path / "project", start=STUCK) as process:
        on.until(lambda text: "starting" in text)
        if how == "ctrl+c":
            on.press("\x03")
        else:
            os.kill(process.pid, signal.Signals[how])
        code = process.wait(PATIENCE)
        assert code == (130 if how == "ctrl+c" else 128 + signal.Signals[how])
        while on.read():
            pass
        assert on.flags() & USUAL == USUAL
        assert on.output.rindex("\x1b[?1049l") > on.output.rindex("\x1b[?1049h")
        assert on.output.rindex("\x1b[?25h") > on.output.rindex("\x1b[?25l")
        assert "Traceback" not in on.output


def test_a_terminal_that_goes_away_ends_a_start_without_a_word(tmp_path: Path) -> None:
    said = tmp_path / "said"
    start = f"import sys; sys.stderr = open({str(said)!r}, 'w', buffering=1)\n{STUCK}"
    main, terminal = pty.openpty()
    on = Typed(main, terminal)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    with spark(on, tmp_path / "project", start=start) as process:
        on.until(lambda text: "starting" in text)
        os.close(terminal)
        os.close(main)
        assert process.wait(PATIENCE) in (129, -signal.SIGHUP)
    assert said.read_text() == ""


@pytest.mark.parametrize(("term", "size"), [("dumb", (100, 30)), ("xterm", (20, 30)), ("xterm", (100, 4))])
def test_a_terminal_that_cannot_show_it_has_no_early_screen(
    term: str, size: tuple[int, int], tmp_path: Path
) -> None:
    with a_terminal() as on:
        fcntl.ioctl(on.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        with spark(on, tmp_path / "project", start=STUCK, term=term):
            on.until(lambda _: held(on))
            while on.read():
                pass
            assert on.output == ""


def test_the_terminal_is_as_it_was_after_a_start_that_failed(tmp_path: Path) -> None:
    with a_terminal() as on, spark(on, tmp_path / "project", "--provider", "nobody") as process:
        assert process.wait(PATIENCE) == 2
        assert on.flags() & USUAL == USUAL
        on.until(lambda text: "nobody" in text)
        # What is wrong is told on the screen that stays.
        assert "nobody" in on.output[on.output.rindex("\x1b[?1049l") :]


def test_ctrl_c_ends_a_start_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with a_terminal() as on, spark(on, tmp_path / "project", start=STUCK) as process:
        on.until(lambda _: held(on))
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert on.flags() & USUAL == USUAL
