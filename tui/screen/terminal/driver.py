"""The terminal driver; with ``frames.py`` it has every private name of Textual that spark depends on.

Textual's own driver sleeps in ``select(0.1)``, so that a lone Escape arrives after 101 ms whatever
``ESCDELAY`` says; this one sleeps until the parser's own time-out. Textual's driver also puts output
into a queue of thirty with a blocking put from the event loop: a slow terminal stops the keys. Here the
queue takes everything, and the panes skip frames while too much is in it (:func:`takes_frames`).

A key that may stop the turn freezes screen and landing when its first byte is read
(:mod:`tui.screen.terminal.stop_brake`).

Textual's minor version is pinned, and ``tests/tui/screen/terminal/test_driver.py`` fails when a name moves.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import sys
import termios
import threading
import tty
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from time import monotonic
from types import FrameType
from typing import Any

from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver

from tui.screen.terminal.escape_keys import (
    ASK_FOR_BACKGROUND,
    ASK_FOR_KITTY,
    STOP_KEYS,
    EscapeKeys,
    rewritten,
)
from tui.screen.terminal.frames import OTHER_SCREEN, PLAIN, Frames, detail_of
from tui.screen.terminal.paste_bursts import PasteBursts
from tui.screen.terminal.signals import (
    allowed_in_background,
    hanging_up_if_gone,
    read_or_hang_up,
    shell_can_continue,
    stop_job,
    stop_process,
)
from tui.screen.terminal.startup import as_typed, before_holding, early_screen_shown, take_typed
from tui.screen.terminal.stop_brake import BrakedOutput, StopBrake, Turns

ESCAPE_DELAY = 0.025
"""Seconds after which a lone Escape is a key, unless ``ESCDELAY`` (in milliseconds) says otherwise."""
IDLE = 0.1
"""Seconds after which the input thread looks whether it is to end."""


KITTY_FLAGS = 0b11101
"""What of the kitty protocol is asked for: Esc told apart, all keys as sequences, their text, and which key
it is on an English keyboard. Textual asks for all but the last."""


def key_parser() -> XTermParser:
    """A parser of the terminal's bytes into Textual's events, as the driver uses it."""
    return XTermParser(False)


class SparkDriver(LinuxDriver):
    """Textual's driver for Linux and macOS with a prompt Escape, and a prompt end."""

    _typed_early = b""
    """What was typed before there was an app."""
    _ending: tuple[int, int] | None = None
    """A pipe that wakes the input thread when it is to end."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.brake = StopBrake()
        self.frames = Frames(self._app, self.write)
        self._suspended = False
        """Whether the terminal was given back for a stop."""
        self._away = False
        """Whether another program has the terminal."""
        self._keeps = False
        """Whether what is typed is left with the terminal."""
        self.harmless_letters: frozenset[str] = frozenset()
        """The letters whose Alt+letter does no harm while a turn runs."""
        self.tells_alt = False
        """Whether the terminal tells Alt and a letter from Esc and that letter."""
        self.on_background: Callable[[str], None] | None = None
        """Called with the terminal's answer to the question for its background."""
        if sys.__stdout__ is not None:
            # Textual would take standard error, which a shell may send to a file.
            output = BrakedOutput(sys.__stdout__, self.brake, self.frames.line.passed_on)
            self._file = output  # type: ignore[assignment]

    def start_application_mode(self) -> None:
        """Take the terminal over; from here on no write waits for it."""
        self._ending = os.pipe()
        self.frames.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]
        self._follow_size()
        if self._writer_thread is not None:
            self._writer_thread._queue.maxsize = 0
            if not constants.DISABLE_KITTY_KEY:
                self.write(f"\x1b[={KITTY_FLAGS};1u")
            self.write(ASK_FOR_KITTY)
        # Textual would give the terminal back inside the signal's handler, which may interrupt anything.
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTSTP, self._stop)
        loop.add_signal_handler(signal.SIGCONT, self._go_on)

    def stop_application_mode(self) -> None:
        """Give the terminal back, with its own colours."""
        self.frames.line.wait_for_answers()
        if self._writer_thread is not None:
            self.write(PLAIN)
        super().stop_application_mode()

    def keep_keys(self) -> None:
        """From now on leave what is typed with the terminal, also when the app is left: another one takes
        the terminal over, in the modes that it has, and reads it."""
        if self._ending is not None:
            self._keeps = True
            self.attrs_before = termios.tcgetattr(self.fileno)
            os.write(self._ending[1], b"x")

    def _follow_size(self) -> None:
        """Paint everything after a change of the terminal's size, be it back to what it was: who knows what
        the terminal made of what it showed."""
        if not callable(resized := signal.getsignal(signal.SIGWINCH)):
            return

        def changed(number: int, frame: FrameType | None) -> None:
            self.frames.forget()
            resized(number, frame)
            self.send_message(events.Callback(callback=self._paint_all))

        signal.signal(signal.SIGWINCH, changed)

    def give_back(self) -> None:
        """Leave the terminal as it was found, until the process is continued."""
        if not self._suspended:
            self._suspended = True
            with allowed_in_background():
                self.suspend_application_mode()

    @contextmanager
    def away(self) -> Iterator[None]:
        """While this lasts another program has the terminal. What is painted meanwhile goes nowhere; Ctrl+C
        is for that program."""
        self.suspend_application_mode()
        self._away = True
        before = signal.signal(signal.SIGINT, lambda number, frame: None)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
            self._away = False
            self.resume_application_mode()
            self.repaint()

    def write(self, data: str) -> None:
        """Write to the terminal, unless another program has it."""
        if not self._away:
            self.frames.line.wrote(len(data))
            super().write(data)

    def _stop(self) -> None:
        """Give the terminal back, and stop. Without a shell that could continue spark, go on."""
        if self._away:
            stop_process()
        elif shell_can_continue():
            self.give_back()
            stop_process()

    def _go_on(self) -> None:
        """Take the terminal over again, and paint everything."""
        if self._away:
            return
        if self._suspended:
            self._suspended = False
            self.resume_application_mode()
        else:
            with hanging_up_if_gone():  # a closed terminal continues what it hangs up
                self._set_modes()
        self.send_message(events.Callback(callback=self.repaint))

    def _set_modes(self) -> None:
        """Set the terminal's modes again: after a SIGSTOP, which nobody can handle, the shell has changed
        them. A SIGCONT may also come from nowhere, and then no key may be lost."""
        modes = termios.tcgetattr(self.fileno)
        modes[tty.IFLAG] = self._patch_iflag(modes[tty.IFLAG])
        modes[tty.LFLAG] = self._patch_lflag(modes[tty.LFLAG])
        termios.tcsetattr(self.fileno, termios.TCSANOW, modes)
        self._enable_bracketed_paste()
        self._enable_mouse_support()

    def repaint(self) -> None:
        """Paint everything, whatever is on the terminal."""
        self.frames.clear()
        self._app.refresh(layout=True)

    def _paint_all(self) -> None:
        """Paint everything at the next frame."""
        self._app.refresh()

    @property
    def takes_frame(self) -> bool:
        """Whether a stream may show its next frame now."""
        return not self.brake.frozen and self.frames.line.takes_frame(monotonic())

    def _run_input_thread(self) -> None:
        """Read keys. A fault in here is raised in the app and ends it: nobody could type any more."""
        try:
            self.run_input_thread()
        except Exception as problem:  # noqa: BLE001 (raised again in the app)
            self.send_message(events.Callback(callback=partial(_raise, problem)))

    def run_input_thread(self) -> None:
        """Read keys until the application ends."""
        delay = _escape_delay()
        constants.ESCAPE_DELAY = delay  # type: ignore[misc]
        parser = XTermParser(self._debug)
        keys = EscapeKeys(
            delay, lambda: self.brake.esc_is_a_key, lambda: self.harmless_letters, ANSI_SEQUENCES_KEYS
        )
        bursts = PasteBursts()
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        with selectors.DefaultSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            if self._ending is not None:
                selector.register(self._ending[0], selectors.EVENT_READ)
            try:
                if typed := self._typed_early:
                    self._typed_early = b""
                    self._take(parser, keys, bursts, keys.feed(decode(typed), monotonic()))
                self.send_message(events.Callback(callback=self.frames.release))
                while not self.exit_event.is_set():
                    for left in [*selector.get_map()] if self._keeps else ():
                        selector.unregister(left)
                    for ready, _ in selector.select(_patience(parser, keys, bursts)):
                        if ready.fd != self.fileno:
                            continue  # not read: it is true from now on
                        if (read := read_or_hang_up(self.fileno, 4096)) is None:
                            return
                        if not (data := as_typed(read)):
                            self.exit_event.wait(IDLE)
                            continue
                        self._take(parser, keys, bursts, keys.feed(decode(data), monotonic()))
                    self._take(parser, keys, bursts, keys.tick(monotonic()))
                    for event in parser.tick():
                        self.process_message(event)
            finally:
                self.brake.release()
                with suppress(EOFError, ParseError):
                    list(parser.feed(""))

    def _take(self, parser: XTermParser, keys: EscapeKeys, bursts: PasteBursts, typed: str) -> None:
        """Hand over what was typed. What may be a stop, and what is one, freezes the screen first."""
        typed = bursts.feed(typed, monotonic())
        self.tells_alt = keys.unambiguous
        if keys.background and self.on_background is not None:
            self.send_message(events.Callback(callback=partial(self.on_background, keys.background)))
            keys.background = ""
        self.frames.line.answered(keys.answers, monotonic())
        keys.answers = 0
        stops = any(key in typed for key in STOP_KEYS)
        if stops:
            self.brake.stopping()
        if keys.undecided:
            self.brake.undecided()
        elif self.brake.frozen:
            self.brake.decided()
        if typed:
            for event in parser.feed(rewritten(typed)):
                self.process_message(event)
        if stops:
            # Handled behind the key, and so behind the stop.
            self.send_message(events.Callback(callback=self.brake.stopped))

    def disable_input(self) -> None:
        """Take no more keys. Textual waits for the input thread here, which is woken for it."""
        self.brake.release()
        ending, self._ending = self._ending, None
        if ending is not None:
            os.write(ending[1], b"x")
        if self._keeps:
            self._disable_input_keeping_keys()
        else:
            super().disable_input()
        for end in ending or ():
            os.close(end)

    def _disable_input_keeping_keys(self) -> None:
        """Do what Textual does, without discarding what was typed and not read."""
        signal.signal(signal.SIGWINCH, signal.SIG_DFL)
        self._disable_mouse_support()
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join()
        self.exit_event.clear()

    def report_mouse(self, on: bool) -> None:
        """Ask the terminal for mouse events, or no more."""
        if on:
            self._mouse = True
            self._enable_mouse_support()
        else:
            self._disable_mouse_support()
            self._mouse = False

    @property
    def reports_mouse(self) -> bool:
        """Whether the terminal was asked for mouse events."""
        return self._mouse


class LateDriver(SparkDriver):
    """Leaves what is typed with the terminal until :func:`take_keys`: before there is a pane to take them,
    keys would go nowhere."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.takes_keys = threading.Event()

    def start_application_mode(self) -> None:
        """Take the terminal over; it is given back as it was before keys were held. What is on the screen
        stays there until the app has the keys that were typed into it."""
        self.frames.held = early_screen_shown()
        super().start_application_mode()
        if (before := before_holding()) is not None:
            self.attrs_before = before

    def disable_input(self) -> None:
        """Take no more keys."""
        self.takes_keys.set()
        super().disable_input()

    def run_input_thread(self) -> None:
        """Read keys once they are wanted, until the application ends."""
        while not self.takes_keys.wait(IDLE):
            if self.exit_event.is_set():
                return
        self._typed_early = take_typed()
        super().run_input_thread()

    def write(self, data: str) -> None:
        """Write; a terminal that is in its other screen already would empty it."""
        if not (data == OTHER_SCREEN and early_screen_shown()):
            super().write(data)


def _raise(problem: Exception) -> None:
    raise problem


def _escape_delay() -> float:
    """Seconds for which a lone ESC may be the start of a sequence."""
    return constants.ESCAPE_DELAY if "ESCDELAY" in os.environ else ESCAPE_DELAY


def _patience(parser: XTermParser, keys: EscapeKeys, bursts: PasteBursts) -> float:
    """Seconds until the parser, or the keys that were held back, want to be asked again."""
    due = [each for each in (parser._timeout_time, keys.due, bursts.due) if each is not None]
    return min([IDLE, *(max(0.0, each - monotonic()) for each in due)])


def brake_turns(
    app: App[Any], turns: Turns, esc_acts: Callable[[], bool], harmless_letters: frozenset[str]
) -> None:
    """Have keys freeze and stop the turns of ``turns``. While one runs, or ``esc_acts`` says that Esc does
    something, ESC and a letter are Esc and that letter, or alone Alt and one of ``harmless_letters``."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        driver.brake.turns, driver.brake.esc_acts = turns, esc_acts
        driver.harmless_letters = harmless_letters


def tells_alt(app: App[Any]) -> bool:
    """Whether the terminal tells Alt and a letter from Esc and that letter, which come alike in many."""
    driver = app._driver
    return isinstance(driver, SparkDriver) and driver.tells_alt


def repaint(app: App[Any]) -> None:
    """Paint everything, whatever another program left on the terminal."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        driver.repaint()


def suspend(app: App[Any]) -> bool:
    """Stop spark until the shell continues it; false where there is no shell that could."""
    driver = app._driver
    if not isinstance(driver, SparkDriver) or not shell_can_continue():
        return False
    # Before the shell is told that the job stopped: it writes its prompt at once.
    driver.give_back()
    stop_job()
    return True


def takes_frames(app: App[Any]) -> bool:
    """Whether the terminal is ready for another frame, and none of the keys may be a stop."""
    driver = app._driver
    return not isinstance(driver, SparkDriver) or driver.takes_frame


def frame_interval(app: App[Any]) -> float:
    """The least time between two frames of a stream, in seconds."""
    return detail_of(app).interval


def ask_for_background(app: App[Any], answered: Callable[[str], None]) -> None:
    """Ask the terminal for its background; ``answered`` gets the answer, if there is ever one."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        driver.on_background = answered
        driver.write(ASK_FOR_BACKGROUND)


def take_keys(app: App[Any]) -> None:
    """From now on keys go to ``app``: first those typed while it started."""
    driver = app._driver
    if isinstance(driver, LateDriver):
        driver.takes_keys.set()
