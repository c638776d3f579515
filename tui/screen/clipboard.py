"""Copies a text out of spark, and says where it went.

Which way a copied text can take, and the escape sequences that carry it.

Source of the format: "Operating System Commands", 52, in XTerm Control Sequences. tmux and GNU screen pass
a sequence on to the terminal around them when it is wrapped (tmux(1), ``allow-passthrough``; screen(1),
"DCS").
"""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import App

from session.base.storage.private_files import StoreError
from tui.screen.terminal.lending import hold_copied, write_sequence

if TYPE_CHECKING:
    from collections.abc import Coroutine


MOST_BYTES = 74_994
"""The longest text that OSC 52 carries: its base64 form takes 100,000 bytes, where xterm stops reading."""
_SCREEN_PIECE = 760
"""Bytes of one wrapped piece that GNU screen passes on."""
_WITHOUT_CLIPBOARD = frozenset({"", "dumb", "linux", "unknown", "vt100", "vt102", "vt220"})
"""The values of TERM whose terminals have no clipboard. On the Linux console OSC 52 may be drawn as text."""


class Route(StrEnum):
    """Where a copied text goes."""

    TMUX = "tmux"
    TERMINAL = "terminal"
    FILE = "file"


def route_of(environ: Mapping[str, str], size: int) -> Route:
    """The way that a text of ``size`` bytes takes in this terminal."""
    if environ.get("TMUX"):
        return Route.TMUX
    if environ.get("TERM", "") in _WITHOUT_CLIPBOARD or size > MOST_BYTES:
        return Route.FILE
    return Route.TERMINAL


def clipboard_sequence(text: str, environ: Mapping[str, str]) -> str:
    """What sets the terminal's clipboard to ``text``, also from within a multiplexer on another machine."""
    data = b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    plain = f"\x1b]52;c;{data}\x07"
    if environ.get("STY"):
        pieces = [plain[at : at + _SCREEN_PIECE] for at in range(0, len(plain), _SCREEN_PIECE)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    if environ.get("TERM", "").startswith(("tmux", "screen")):
        # Over ssh from inside tmux: it takes the plain form, or passes the wrapped one on, as it is set up.
        return plain + through_tmux(plain)
    return plain


def through_tmux(sequence: str) -> str:
    """``sequence`` as tmux passes it on to the terminal around it."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"


PATIENCE = 2.0
"""Seconds that tmux may take for a text."""

Say = Callable[[str, str], None]
"""Shows one line to the user: the text, and its level as of a notice."""
Start = Callable[["Coroutine[Any, Any, None]", str], None]
"""Starts a background task with a name, and tells of its failure."""


class Clipboard:
    """The way out of one app. The last text is also kept here, for Ctrl+V in spark itself."""

    def __init__(
        self, app: App[Any], say: Say, start: Start, keep: Callable[[str], Path], root: Path
    ) -> None:
        """``keep`` writes a text to a file of spark's own and returns its path; it may take a while. ``root``
        is the project, in which no program is looked for."""
        self._app = app
        self._say = say
        self._start = start
        self._keep = keep
        self._root = root
        self._turn = asyncio.Lock()

    def copy(self, text: str, what: str = "") -> None:
        """Copy ``text``; ``what`` names it for the line that tells of it, such as ``the last answer``."""
        if not text:
            self._say("there is nothing to copy yet", "info")
            return
        hold_copied(self._app, text)
        self._start(self._copy(text, f"{what} ({_size(text)})" if what else _size(text)), "copying a text")

    async def _copy(self, text: str, told: str) -> None:
        # One at a time and in order, so that the last text copied stays and is the last one told of.
        async with self._turn:
            await self._send(text, told)

    async def _send(self, text: str, told: str) -> None:
        data = text.encode("utf-8", errors="replace")
        route = route_of(os.environ, len(data))
        if route is Route.TMUX:
            if await _into_tmux(data, self._root):
                self._say(f"copied {told} to tmux: its prefix and ] paste it", "info")
                return
            write_sequence(self._app, through_tmux(clipboard_sequence(text, {})))
            self._say(f"tmux refused it: sent {told} through it to the terminal", "warning")
        elif route is Route.TERMINAL:
            write_sequence(self._app, clipboard_sequence(text, os.environ))
            self._say(f"sent {told} to the terminal's clipboard", "info")
        else:
            try:
                file = await asyncio.to_thread(self._keep, text)
            except StoreError as problem:
                self._say(str(problem), "error")
                return
            self._say(f"the terminal's clipboard cannot take it: saved {told} in {file}", "warning")


async def _into_tmux(data: bytes, root: Path) -> bool:
    """Put ``data`` into a buffer of tmux, which sends it to the terminal's clipboard where that is allowed
    (``-w``, which tmux has from version 3.2 on)."""
    from session.base.programs import find_program

    program = await asyncio.to_thread(find_program, "tmux", root)
    if program is None:
        return False
    for arguments in (("-w", "-"), ("-",)):
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                "load-buffer",
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError:
            return False
        try:
            async with asyncio.timeout(PATIENCE):
                await process.communicate(data)
        except TimeoutError:
            process.kill()
            await process.wait()
            return False
        if process.returncode == 0:
            return True
    return False


def _size(text: str) -> str:
    lines = text.count("\n") + (not text.endswith("\n"))
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} character{'s' if len(text) > 1 else ''}"
