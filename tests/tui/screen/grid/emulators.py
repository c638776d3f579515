"""Terminals to compare screens in: pyte in this process, and what a real tmux shows."""

from __future__ import annotations

import os
import re
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyte

from tests.emulator import Emulator

Cell = tuple[str, frozenset[str]]
"""A character, and how it is drawn. A blank has only what shows on one."""

_SHOWN_ON_BLANKS = ("on ", "underscore", "reverse", "strikethrough", "4", "7", "9", "53")


def cell(text: str, drawn: frozenset[str]) -> Cell:
    """A cell as it looks."""
    if text != " ":
        return text, drawn
    return text, frozenset(each for each in drawn if each.startswith(_SHOWN_ON_BLANKS))


class Pyte:
    """A terminal in this process. It knows no links and no REP."""

    def __init__(self, width: int, height: int) -> None:
        self._emulator = Emulator(width, height)
        self._emulator.feed("\x1b[?7l")
        self.screen = self._emulator.screen

    def feed(self, data: str) -> None:
        """Write to it."""
        self._emulator.feed(data)

    def cells(self) -> list[list[Cell]]:
        """What it shows."""
        return [
            [self._cell(self.screen.buffer[y][x]) for x in range(self.screen.columns)]
            for y in range(self.screen.lines)
        ]

    def _cell(self, char: pyte.screens.Char) -> Cell:
        drawn = {
            name
            for name in ("bold", "italics", "underscore", "strikethrough", "reverse", "blink")
            if getattr(char, name)
        }
        if char.fg != "default":
            drawn.add(f"fg {char.fg}")
        if char.bg != "default":
            drawn.add(f"on {char.bg}")
        return cell(char.data, frozenset(drawn))


class Tmux:
    """A pane of a real tmux, which a pipe writes to."""

    def __init__(self, socket: str, pane: str, pipe: Path, height: int) -> None:
        self._socket, self._pane, self._height = socket, pane, height
        self._out = os.open(pipe, os.O_WRONLY)
        self._count = 0

    def feed(self, data: str) -> None:
        """Write to it, and wait until it has taken all."""
        self._count += 1
        mark = f"taken-{self._count}"
        rest = f"{data}\x1b]2;{mark}\x1b\\".encode()
        while rest:
            rest = rest[os.write(self._out, rest) :]
        end = time.monotonic() + 30
        while self._tmux("display-message", "-p", "-t", self._pane, "#{pane_title}").strip() != mark:
            assert time.monotonic() < end, "tmux does not take what is written"
            time.sleep(0.002)

    def cells(self) -> list[list[Cell]]:
        """What it shows."""
        text = self._tmux("capture-pane", "-p", "-e", "-N", "-t", self._pane)
        return parsed(text, self._height)

    def close(self) -> None:
        """Write no more."""
        os.close(self._out)

    def _tmux(self, *arguments: str) -> str:
        return subprocess.run(
            ["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, check=True, timeout=20
        ).stdout


def parsed(captured: str, height: int) -> list[list[Cell]]:
    """The cells of what ``capture-pane -e`` prints."""
    rows: list[list[Cell]] = []
    drawn: dict[str, str] = {}
    for line in captured.split("\n")[:height]:
        row: list[Cell] = []
        for sequence, text in re.findall(r"\x1b\[([0-9;:]*)m|(.)", line):
            if text in ("\x0e", "\x0f"):
                continue
            if text:
                row.append(cell(text, frozenset(drawn.values())))
            else:
                _draw(drawn, sequence.split(";"))
        while row and row[-1] == (" ", frozenset()):
            row.pop()
        rows.append(row)
    return rows


def _draw(drawn: dict[str, str], codes: list[str]) -> None:
    """Follow a sequence that changes how cells are drawn."""
    while codes:
        code = codes.pop(0)
        if code in ("", "0"):
            drawn.clear()
        elif code in ("38", "48"):
            count = 4 if codes[0] == "2" else 2
            colour, codes[:] = ";".join(codes[:count]), codes[count:]
            drawn[code] = f"{'fg' if code == '38' else 'on'} {colour}"
        elif re.fullmatch(r"3[0-7]|9[0-7]", code):
            drawn["38"] = f"fg {code}"
        elif re.fullmatch(r"4[0-7]|10[0-7]", code):
            drawn["48"] = f"on {code}"
        elif code in ("39", "49"):
            drawn.pop(str(int(code) - 1), None)
        elif code.split(":")[0] in ("1", "2", "3", "4", "5", "7", "8", "9", "53"):
            drawn["a" + code] = code
        else:
            ends = {
                "22": ("1", "2"),
                "23": ("3",),
                "24": ("4",),
                "25": ("5",),
                "27": ("7",),
                "28": ("8",),
                "29": ("9",),
                "55": ("53",),
            }
            for ended in ends[code]:
                for key in [key for key in drawn if key == "a" + ended or key.startswith(f"a{ended}:")]:
                    del drawn[key]


@contextmanager
def two_panes(folder: Path, width: int, height: int) -> Iterator[tuple[Tmux, Tmux]]:
    """Two terminals of a tmux server of their own."""
    socket = f"spark-grid-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    pipes = [folder / "one", folder / "two"]
    commands = []
    for pipe in pipes:
        os.mkfifo(pipe)
        commands.append(f"stty raw -echo; cat {pipe}; exec sleep 600")
    size = ["-x", str(width), "-y", str(height)]
    environ = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environ.pop("TMUX", None)
    run = ["tmux", "-u", "-L", socket, "-f", "/dev/null"]
    try:
        for name, command in zip(("one", "two"), commands, strict=True):
            subprocess.run(
                [*run, "new-session", "-d", "-s", name, *size, command], check=True, env=environ, timeout=20
            )
        panes = [
            Tmux(socket, f"{name}:", pipe, height - 1)
            for name, pipe in zip(("one", "two"), pipes, strict=True)
        ]
        try:
            yield panes[0], panes[1]
        finally:
            for pane in panes:
                pane.close()
    finally:
        subprocess.run(["tmux", "-L", socket, "kill-server"], capture_output=True, check=False, timeout=20)
