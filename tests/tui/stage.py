"""A real stage for the screen: a project on disk, the partner on a socket, a session, the app under Pilot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import pytest
from textual import events
from textual.pilot import Pilot

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from session.tools.settings import Running
from tui.app.app import SparkApp
from tui.app.overlays.offer_screen import FindOffers
from tui.app.panes import held_bar
from tui.app.panes.held_bar import ARMED_AFTER, KEYS_UP_AFTER
from tui.app.panes.status import NO_KEY

GREETER = '''"""Says hello."""


def greet(name: str) -> str:
    """A greeting."""
    return "Hello " + name


def part(name: str) -> str:
    """A farewell."""
    return "Bye " + name
'''

POLITE = """
[[scenario]]
id = "polite"
prompt = "make it polite"
match = ["polite"]

[[scenario.hunk]]
id = "greet"
path = "greeter.py"
lines = '''
     \"\"\"A greeting.\"\"\"
-    return "Hello " + name
+    title = "dear"
+    return f"Hello, {title} {name}"
'''
"""
"""A scenario with a hunk called ``greet``, and no step yet."""

PART = """
[[scenario.hunk]]
id = "part"
path = "greeter.py"
lines = '''
     \"\"\"A farewell.\"\"\"
-    return "Bye " + name
+    return f"Good-bye, {name}"
'''
"""
"""A further hunk of a scenario, in the other function."""

TWO_HUNKS = (
    POLITE
    + PART
    + """
[[scenario.step]]
say = "First the **greeting**.\\n"

[[scenario.step]]
patch = ["greet"]

[[scenario.step]]
say = "Then the farewell, after a word or two about manners, which are a good thing to have.\\n"

[[scenario.step]]
patch = ["part"]

[[scenario.step]]
say = "Both are polite now.\\n"

[[scenario]]
id = "talk"
prompt = "just talk"
match = ["talk"]

[[scenario.step]]
say = '''
## Manners

A list:

- one thing
- another thing

```python
def code() -> int:
    return 42
```

The end of the talk.
'''
"""
)


class Clock:
    """A clock that goes on by itself, and that a test puts forward."""

    def __init__(self) -> None:
        self._ahead = 0.0

    def __call__(self) -> float:
        """The time, on the monotonic clock."""
        return monotonic() + self._ahead

    def forward(self, seconds: float) -> None:
        """Let time pass."""
        self._ahead += seconds


@contextmanager
def clock_of_questions() -> Iterator[Clock]:
    """The clock by which a question has stood long enough to be answered."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held_bar, "monotonic", clock := Clock())
        yield clock


async def until(true: Callable[[], object], what: str) -> None:
    """Wait for something to become true; fails after ten seconds."""
    for at in range(1015):
        if true():
            return
        await asyncio.sleep(0.004 if at < 25 else 0.01)
    raise AssertionError(f"{what} never came")


@dataclass
class Stage:
    """What a test drives and looks at."""

    app: SparkApp
    pilot: Pilot[int]
    session: Session
    partner: Partner | None
    root: Path
    clock: Clock

    async def until(self, true: Callable[[], object], what: str = "it") -> None:
        """Wait for something to become true; fails after ten seconds."""
        try:
            await until(true, what)
        except AssertionError as error:
            raise AssertionError(f"{error}:\n{self.screen}") from None

    def key(self, key: str, character: str | None = None) -> None:
        """Press a key without waiting for anything."""
        self.app.post_message(events.Key(key, character))

    async def ask(self, text: str) -> None:
        """Type a prompt and send it."""
        self.app.composer.focus()
        self.app.composer.insert(text)
        self.key("enter", "\r")
        await self.until(lambda: self.session.running, "the turn")

    async def ask_in_vain(self, text: str) -> None:
        """Send a prompt that nobody will answer."""
        self.app.composer.insert(text)
        self.key("enter", "\r")
        await self.until(lambda: "The turn failed" in self.chat, "the failure")

    async def answer(self, key: str) -> None:
        """Answer what needs an OK, as soon as the bar that asks takes keys."""
        await self.until(lambda: self.app.panes.held.question is not None, "the question")
        asked = self.app.panes.held.question
        await self.pilot.press("shift+tab")
        for _ in range(100):
            self.clock.forward(ARMED_AFTER + KEYS_UP_AFTER)
            await self.pilot.press(key)
            if self.app.panes.held.question != asked:
                return
        raise AssertionError(f"nothing was answered:\n{self.screen}")

    async def done(self) -> None:
        """Wait for the turn's end, and for its last frame."""
        await self.until(lambda: not self.session.running and not self.app.status.status.phase, "the end")
        await self.app.shown_file.order.settled()
        await self.pilot.pause()
        self.app.chat.settle_now()
        await self.pilot.pause()

    @property
    def screen(self) -> str:
        """What is on the screen, as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in lines)

    @property
    def chat(self) -> str:
        """The whole conversation, as text."""
        chat = self.app.chat.transcript
        return "\n".join((row.text if (row := chat.row(at)) else "").rstrip() for at in range(chat.total))


@asynccontextmanager
async def stage(
    folder: Path,
    *,
    files: dict[str, str] | None = None,
    script: str = TWO_HUNKS,
    rate: float = 1000.0,
    size: tuple[int, int] = (120, 36),
    theme: str = "dark",
    prompt: str | None = None,
    server: bool = True,
    resume: str | None = None,
    offers: FindOffers | None = None,
    model: str | None = None,
    provider: str | None = None,
    run: Running = Running.ASK,
) -> AsyncIterator[Stage]:
    """The app on a project in ``folder``; without a ``server`` there is no key and nobody to talk to. The
    model's commands ``run`` so."""
    root = folder / "project"
    root.mkdir(exist_ok=True)
    given = {"greeter.py": GREETER} if files is None else files
    for path, text in ({} if resume else given).items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    environ = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    partner = Partner(rate=rate, scripts=parse(script)) if server else None
    if partner is not None:
        await partner.serve()
    flags = Flags(base_url=partner.url if partner is not None else None, model=model, provider=provider)
    opening = open_project(root, flags, environ)
    journal = opening.workspace.folders.sessions / f"{resume}.jsonl" if resume else None
    session = Session(opening, resume=journal)
    session.commands.choose(run)
    app = SparkApp(session, theme=theme, prompt=prompt, offers=offers)
    try:
        with clock_of_questions() as clock:
            async with app.run_test(size=size) as pilot:
                it = Stage(app, pilot, session, partner, root, clock)
                link = "ready" if server else "failed" if offers is None else NO_KEY
                await it.until(lambda: app.status.status.link == link, f"the link {link}")
                yield it
                await session.close()
    finally:
        if partner is not None:
            await partner.close()
