"""A real session against a real partner: the set-up that the session's tests share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from session.base.events import Event, TurnEnded
from session.base.storage.folders import config_folder
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import Opening, open_project
from session.tools.settings import Running

E = TypeVar("E")

COLOURS = """\
def red():
    return 1


def green():
    return 2


def blue():
    return 3
"""

RED = '''
[[scenario.hunk]]
id = "red"
path = "colours.py"
lines = """
 def red():
-    return 1
+    return 10
"""
'''
"""A hunk of a script that changes red."""

WORDS = """
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "Just words.\\n"
"""
"""A scenario of a script: what it answers to anything else."""

REPAINT = f'''
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
id = "repaint"
match = ["repaint"]

{RED}
[[scenario.hunk]]
id = "green"
path = "colours.py"
lines = """
 def green():
-    return 2
+    return 20
"""

[[scenario.hunk]]
id = "blue"
path = "colours.py"
lines = """
 def blue():
-    return 3
+    return 30
"""

[[scenario.step]]
say = "Red and green first.\\n"

[[scenario.step]]
patch = ["red", "green"]

[[scenario.step]]
say = """Now a long word about the nature of colour, so that there is time to read and to stop: one two three
four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
twenty, and then the last of them.
"""

[[scenario.step]]
patch = ["blue"]

[[scenario.step]]
say = "All three are done.\\n"
'''

PLAIN = f"""
models = ["spark-practice", "spark-practice-text"]
{WORDS}"""

PATIENCE = 20.0
"""Seconds after which a wait in a test is a failure; nothing is expected to take so long."""


class Listening:
    """A session with everything it has said so far."""

    def __init__(self, session: Session, partner: Partner, root: Path) -> None:
        self.session = session
        self.partner = partner
        self.root = root
        self.events: list[Event] = []
        self._news = asyncio.Event()

    async def follow(self) -> None:
        async for event in self.session.listen():
            self.events.append(event)
            self._news.set()

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[E], fits: Callable[[E], bool] = lambda event: True) -> E:
        """The first event of ``kind`` that fits, past or future."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for event in self.events:
                    if isinstance(event, kind) and fits(event):
                        return event
                await self.news()

    async def news(self) -> None:
        """Wait for the next event."""
        self._news.clear()
        await self._news.wait()

    async def ended(self, turn: str) -> TurnEnded:
        return await self.until(TurnEnded, lambda event: event.turn == turn)

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def requests(self) -> list[object]:
        """The input of each request that asked for an answer."""
        return [request.body["input"] for request in self.partner.requests if request.generate]

    def sent(self, number: int = -1) -> str:
        """The input of one of the requests that asked for an answer, as text."""
        return str(self.requests()[number])


def environment(folder: Path) -> dict[str, str]:
    return {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}


def opening(root: Path, url: str, model: str = "spark-practice", *, review: bool = False) -> Opening:
    flags = Flags(base_url=url, model=model, provider="partner", review=review)
    return open_project(root, flags, environment(root.parent / "xdg"))


def colours_project(folder: Path) -> Path:
    """A project in ``folder`` with the one file that the scripts here change."""
    root = folder / "project"
    root.mkdir()
    (root / "colours.py").write_text(COLOURS)
    return root


def configure(root: Path, text: str) -> None:
    """Write the user's ``config.toml`` for sessions in ``root``."""
    folder = config_folder(environment(root.parent / "xdg"))
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


@asynccontextmanager
async def listened(session: Session, partner: Partner, root: Path) -> AsyncIterator[Listening]:
    """An open session whose events are kept, closed at the end."""
    listening = Listening(session, partner, root)
    following = asyncio.create_task(listening.follow())
    await asyncio.sleep(0)
    await session.open()
    try:
        yield listening
    finally:
        await session.close()
        await following


@asynccontextmanager
async def talking(
    root: Path,
    script: str,
    *,
    rate: float = float("inf"),
    model: str = "spark-practice",
    resume: Path | None = None,
    review: bool = False,
    attended: bool = True,
    run: Running = Running.ASK,
) -> AsyncIterator[Listening]:
    """A session in ``root`` with a partner that plays ``script`` (TOML). Commands ``run`` so, where nothing
    else is set."""
    async with Partner(rate=rate, scripts=parse(script)) as partner:
        session = Session(opening(root, partner.url, model, review=review), resume=resume, attended=attended)
        if session.commands.mode is Running.SANDBOX:
            session.commands.choose(run)
        async with listened(session, partner, root) as listening:
            yield listening
