"""Draws the README's picture from the real app: ``python -m tests.e2e.picture [FILE.svg]``.

The demo's feature is asked for, and the screen is taken while a hunk is being typed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from session.events import Event, HunkTyped
from session.partner.demo import make_sample
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project

PROMPT = "Let a done task be reopened, from the API and from the page"
MOMENT = 'verbButton("Reopen"'
"""The picture is taken when the hunk in flight has come so far."""
SIZE = (140, 38)


async def draw(file: Path) -> None:
    """Run the demo headless and write its screen to ``file``."""
    from tui.app.app import SparkApp

    folder = Path(tempfile.mkdtemp(prefix="spark-picture-"))
    root = folder / "tasks"
    root.mkdir()
    make_sample(root)
    environment = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("STATE", "CONFIG", "CACHE")}
    async with Partner(rate=400) as partner:
        flags = Flags(base_url=partner.url, model="spark-practice", provider="partner")
        session = Session(open_project(root, flags, {**os.environ, **environment}))
        events = session.listen()
        app = SparkApp(session, theme="dark")
        async with app.run_test(size=SIZE) as pilot:
            await pilot.pause(0.5)
            await pilot.press(*PROMPT, "enter")
            async with asyncio.timeout(30):
                await until_typed(events, MOMENT)
            await asyncio.sleep(0.05)
            # The fonts would be fetched from elsewhere; a picture must stand alone.
            svg = re.sub(r"@font-face \{.*?\}\s*", "", app.export_screenshot(title="spark"), flags=re.DOTALL)
            file.write_text(svg, "utf-8")
            await pilot.press("escape")
            await pilot.pause(0.2)


async def until_typed(events: AsyncIterator[Event], text: str) -> None:
    """Read events until the new lines of the hunk in flight hold ``text``."""
    typed: dict[str, str] = {}
    async for event in events:
        if isinstance(event, HunkTyped) and event.kind == "+":
            typed[event.hunk] = typed.get(event.hunk, "") + event.text
            if text in typed[event.hunk]:
                return


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", nargs="?", type=Path, default=Path("docs/spark.svg"))
    asyncio.run(draw(options.parse_args().file))
