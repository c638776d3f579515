"""A feed with its real panes in an app that shows none of them: events in, what the panes hold out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields

from textual.app import App

from edits.files.text import decode
from session.base import events as said
from session.base.events import Event
from session.project.opened import FileProblem, Merged, OpenFile
from themes.loader import load_theme
from tui.app.control.background import BackgroundTasks
from tui.app.control.feed import Feed
from tui.app.panes.held_bar import HeldBar
from tui.app.panes.status import Status, StatusLine
from tui.chat.chat import ChatView
from tui.editor.disk_changes import DiskChanges
from tui.editor.editor import EditorPane
from tui.editor.flights import Flights
from tui.editor.marks import Marks
from tui.editor.shown_file import ShownFile
from tui.screen.drawing.palette import Palette

MODEL_WINDOW = 1000
"""The window of the model at the start, in tokens."""
FILES = {"a.py": "one\ntwo\nthree\n", "b.py": "b\n"}
PROMPT = said.PromptSubmitted("t1", "do it")
STARTED = said.TurnStarted("s", "t1", "m", "low", 100)
USAGE = said.Usage("t1", 100, 50, 40, 10, model="m", tokens_per_second=20.0, cost=0.02)
HELD = said.HunkHeld("t1", "h1", "a.py", "overwrites", "a.py exists")


class Texts:
    """Files that are in memory alone: those of a test, by path."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    async def read(self, path: str) -> OpenFile:
        """Read a file. Raises FileProblem."""
        if path not in self.texts:
            raise FileProblem(f"{path} is not there")
        text = self.texts[path]
        return OpenFile(path, text, text, "utf-8", "\n", False, decode(text.encode(), path))

    async def make(self, path: str) -> OpenFile:
        """Make an empty file."""
        self.texts[path] = ""
        return await self.read(path)

    async def save(self, opened: OpenFile, text: str) -> OpenFile:
        """Write a file."""
        self.texts[opened.path] = text
        return await self.read(opened.path)

    async def merge(self, base: str, mine: str, theirs: str) -> Merged:
        """Take theirs."""
        return Merged(theirs, ())


@dataclass
class Fed:
    """A feed, its panes, and what it called."""

    feed: Feed
    chat: ChatView
    status: StatusLine
    held: HeldBar
    file: ShownFile
    called: list[str] = field(default_factory=list)

    async def take(self, events: Sequence[Event]) -> None:
        """Give the feed events, and wait for what they make of the files."""
        for event in events:
            self.feed.take(event)
        await self.file.order.settled()

    @property
    def said(self) -> list[str]:
        """The rows of the chat that have text."""
        transcript = self.chat.transcript
        transcript.settle()
        rows = (transcript.row(at) for at in range(transcript.total))
        return [row.text.strip() for row in rows if row is not None and row.text.strip()]

    @property
    def state(self) -> dict[str, object]:
        """The fields of the status line that are not as at the start; a speed that changes is ``live``."""
        live = self.feed.tick()
        now, first = self.status.status, Status(window=MODEL_WINDOW)
        told = {each.name: getattr(now, each.name) for each in fields(Status)}
        if live:
            told["speed"] = "live"
        return {name: value for name, value in told.items() if value != getattr(first, name)}


@asynccontextmanager
async def app() -> AsyncIterator[None]:
    """An app in which panes can be made, with nothing on its screen."""
    async with App[None]().run_test():
        yield


async def fed(texts: dict[str, str] | None = None) -> Fed:
    """A new feed on new panes."""
    palette = Palette(load_theme("dark"))
    chat, status, held = ChatView(palette), StatusLine(palette), HeldBar(palette)
    editor = EditorPane(palette, Marks())
    tasks = BackgroundTasks(status.say)
    file = ShownFile(editor, editor.marks, Texts(texts or {}), status.say, tasks.start)
    flights = Flights(file)
    feed = Feed(chat, file, flights, DiskChanges(file, flights), status, held, MODEL_WINDOW)
    it = Fed(feed, chat, status, held, file)
    feed.on_turn = lambda running: it.called.append("turn begins" if running else "turn ends")
    feed.on_landed_turn = lambda: it.called.append("landed turn")
    feed.on_waiting = lambda title: it.called.append(f"waiting: {title}")
    feed.on_broken = lambda event: it.called.append(f"broken: {event.path}")
    feed.on_unanswered = lambda prompt: it.called.append(f"unanswered: {prompt}")
    feed._figures()
    return it


def opened(hunk: str = "h1", path: str = "a.py", action: str = "update") -> said.HunkOpened:
    return said.HunkOpened("t1", hunk, path, action)


def landed(
    hunk: str = "h1",
    status: str = "applied",
    start: int = 2,
    end: int = 3,
    action: str = "update",
    moved_to: str | None = None,
) -> said.HunkLanded:
    return said.HunkLanded("t1", hunk, "a.py", status, 1, start, end, action, moved_to, 1, 1, "+two")


def ended(status: str = "completed", message: str | None = None) -> said.TurnEnded:
    return said.TurnEnded("t1", status, message)


@dataclass(frozen=True)
class Row:
    """Events, and after them: the chat, what of the status line is not as at the start, what was called, the
    hunk that is drawn in the editor, and the file that is shown there."""

    name: str
    events: Sequence[said.Event]
    said: list[str]
    state: dict[str, object]
    called: list[str] = field(default_factory=list)
    drawn: str = ""
    shown: str = ""


async def check(table: Sequence[Row]) -> None:
    """Give each row's events to a feed of its own, and compare."""
    async with app():
        for row in table:
            it = await fed(dict(FILES))
            await it.take(row.events)
            flight = it.file.editor.flight
            drawn = flight.hunk if flight is not None else ""
            assert (it.said, it.state, it.called, drawn, it.file.path) == (
                row.said,
                row.state,
                row.called,
                row.drawn,
                row.shown,
            ), row.name
