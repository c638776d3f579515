"""The private names of Textual that ``tui.screen.terminal.driver`` uses, and that driver on a terminal."""

from __future__ import annotations

import asyncio
import inspect
import io
import os
import pty
import queue
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.segment import Segment
from textual import constants
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.css.styles import RenderStyles
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from tests.checkout import ROOT
from tests.tui.stage import stage
from tui.screen.terminal.driver import SparkDriver
from tui.screen.terminal.escape_keys import rewritten


def test_the_private_names_are_where_they_were() -> None:
    assert constants.ESCAPE_DELAY > 0
    parser = XTermParser(False)
    assert vars(parser)["_timeout_time"] is None
    list(parser.feed("\x1b"))
    assert isinstance(vars(parser)["_timeout_time"], float)
    assert list(parser.tick()) == []
    for name in ("_enable_mouse_support", "_disable_mouse_support", "process_message"):
        assert callable(getattr(LinuxDriver, name))
    source = inspect.getsource(LinuxDriver)
    assert "?1004h" in source
    assert "WriterThread(self._file)" in source
    for name in ("self._debug", "self.exit_event", "self.fileno", "self.run_input_thread()"):
        assert name in source
    assert "signal.signal(signal.SIGTSTP" in inspect.getsource(LinuxDriver.__init__)
    for name in (
        "_patch_iflag",
        "_patch_lflag",
        "_enable_bracketed_paste",
        "_run_input_thread",
        "suspend_application_mode",
        "resume_application_mode",
        "send_message",
    ):
        assert callable(getattr(LinuxDriver, name))
    assert "self._mouse" in inspect.getsource(LinuxDriver._enable_mouse_support)
    writer = WriterThread(io.StringIO())
    assert isinstance(writer._queue, queue.Queue) and writer._queue.maxsize > 0
    assert "self._writer_thread = WriterThread" in source
    assert "self._driver" in inspect.getsource(App)
    assert "self._clipboard = text" in inspect.getsource(App.copy_to_clipboard)
    for name in ("_running", "_closed", "_batch_count", "_sync_available", "_background_screens"):
        assert f"self.{name}" in inspect.getsource(App), name
    painting = inspect.getsource(Screen._on_timer_update)
    assert "self._layout_required" in painting and "update_widgets(self._dirty_widgets)" in painting
    assert "self._repaint_required" in inspect.getsource(Widget._check_refresh)
    assert "_cache_key" in vars(RenderStyles)
    assert "self._is_mounted" in inspect.getsource(Widget.refresh)
    assert "UPDATE_PERIOD, self._on_timer_update" in inspect.getsource(Screen)
    assert callable(App._display) and "app._display(self, update)" in inspect.getsource(Screen)
    for update, names in (
        (LayoutUpdate, ("strips", "region")),
        (ChopsUpdate, ("chops", "spans", "chop_ends")),
    ):
        for name in names:
            assert f"self.{name}" in inspect.getsource(update)
    assert Strip([Segment("a")])._segments == [Segment("a")]
    assert "constants.ESCAPE_DELAY" in inspect.getsource(XTermParser)


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b\r", "alt+enter"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[13;2u", "shift+enter"),
        ("\r", "enter"),
        ("\n", "ctrl+j"),
        ("\x1bq", "alt+q"),
        ("\x1b[21~", "f10"),
    ],
)
def test_sequences_are_read_as_the_keys_they_are(sent: str, key: str) -> None:
    parser = XTermParser(False)
    events = list(parser.feed(rewritten(sent)))
    time.sleep(constants.ESCAPE_DELAY + 0.02)
    events += parser.tick()
    assert [event.key for event in events if isinstance(event, Key)] == [key]


def test_a_paste_is_not_rewritten() -> None:
    paste = "\x1b[200~a\x1b\rb\x1b[201~"
    assert rewritten(paste) == paste


PROGRAM = """
import sys
from textual.app import App
from tui.screen.terminal.driver import SparkDriver
from tui.screen.terminal.lending import set_mouse

class Keys(App, inherit_bindings=False):
    def on_key(self, event):
        if event.key == "q":
            self.exit()
        elif event.key == "m":
            set_mouse(self)
        else:
            print("KEY", event.key, file=OUT, flush=True)
    def on_mount(self):
        print("UP", file=OUT, flush=True)

app = Keys(driver_class=SparkDriver)
OUT = open(sys.argv[1], "w")
app.run()
"""


async def test_keys_reach_an_app_on_a_real_terminal(tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "keys.py"
    program.write_text(PROGRAM)
    main, child = pty.openpty()
    output: list[bytes] = []

    def drain() -> None:
        while True:
            try:
                output.append(os.read(main, 65536))
            except OSError:
                return

    environ = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(said), stdin=child, stdout=child, stderr=child, env=environ
    )
    os.close(child)
    thread = threading.Thread(target=drain, daemon=True)
    thread.start()

    async def heard(text: str) -> None:
        for _ in range(1000):
            if said.exists() and text in said.read_text():
                return
            await asyncio.sleep(0.01)
        raise AssertionError(f"{text!r} not in {said.read_text() if said.exists() else 'nothing'!r}")

    try:
        await heard("UP")
        os.write(main, b"\x1b")
        await heard("KEY escape")
        os.write(main, b"\x1b\r")
        await heard("KEY alt+enter")
        os.write(main, b"m")
        os.write(main, "é".encode())
        await heard("KEY é")
        os.write(main, b"q")
        assert await asyncio.wait_for(process.wait(), 10) == 0
    finally:
        if process.returncode is None:
            process.kill()
        os.close(main)
    screen = b"".join(output)
    assert screen.rindex(b"\x1b[?1000l") > screen.index(b"\x1b[?1000h")
    assert issubclass(SparkDriver, LinuxDriver)


FLOOD = """
import sys
from textual.app import App
from themes.loader import load_theme
from tui.screen.terminal.driver import SparkDriver
from tui.screen.drawing.palette import Palette
from tui.chat.chat import ChatView

OUT = open(sys.argv[1], "w")

class Flood(App, inherit_bindings=False):
    CSS = "ChatView { height: 100%; }"
    lines = 0
    def compose(self):
        yield ChatView(Palette(load_theme("dark")))
    def on_mount(self):
        self.set_interval(0.01, self.more)
    def more(self):
        self.lines += 1
        self.query_one(ChatView).text("word " * 40 + "\\n")
        self.screen.refresh()
        print(self.lines, file=OUT, flush=True)

Flood(driver_class=SparkDriver).run()
"""


async def test_a_terminal_that_takes_nothing_does_not_stop_the_application(tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "flood.py"
    program.write_text(FLOOD)
    main, child = pty.openpty()
    environ = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(program), str(said), stdin=child, stdout=child, stderr=child, env=environ
    )
    os.close(child)
    try:
        for _ in range(2000):
            # Nobody reads the terminal: with a bounded queue the loop would stand still after a second.
            if said.exists() and len(said.read_text().split()) >= 300:
                break
            assert process.returncode is None
            await asyncio.sleep(0.01)
        assert len(said.read_text().split()) >= 300
    finally:
        process.kill()
        await process.wait()
        os.close(main)


async def test_what_changed_while_the_terminal_had_no_focus_is_found(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        reading = it.session._reading
        await reading.ready.wait()
        # As it is once the system has lost events.
        await asyncio.to_thread(reading._watcher.stop)
        (it.root / "greeter.py").write_text("def changed() -> None: ...\n", "utf-8")
        for event in (*XTermParser(False).feed("\x1b[O"), *XTermParser(False).feed("\x1b[I")):
            it.app.post_message(event)
        await it.until(lambda: reading.snapshot.entries["greeter.py"].names == {"changed"}, "the change")
