"""Replays real editing through the real app: ``python -m tests.bench.typing_replay CLONE...``.

The commits of each clone are turned into keystrokes: a changed file is opened as it was before, and each of
its hunks is typed where it belongs, old lines erased and new ones written key by key at a steady pace. The
partner answers at 1,000 tokens a second over a real socket. Printed for each clone: how long keys take to be
drawn (``--off``: without suggestions); how many suggestions were shown, and how many keys typed what one
said; how many drawn lines showed one that did not fit the text (stale, which must be 0); requests a minute;
and what share of their tokens a server's prompt cache would have held (prefixes from 1,024 tokens on, in
steps of 128), with the cost for the cheapest fast model of the catalogue. Prints; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual import events
from textual.strip import Strip

from session.assist.side_model import cheapest_fast
from session.assist.suggest.suggestion import Insertion, place_at
from session.models.catalogue import load_catalogue
from session.partner.script import Scenario, Step
from session.partner.server.requests import Request
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from session.wire.protocol.items import text_of
from tui.app.app import SparkApp
from tui.editor.editor import EditorPane
from tui.editor.virtual_lines import Ghost

CHARACTERS_PER_TOKEN = 4
LEAST_CACHED, CACHED_STEP = 1_024, 128
NO_LIMIT = "[side]\ntokens_per_hour = 1000000000\ntokens_per_day = 1000000000\n"
"""The budget must not end what is measured."""
_LARGEST = 300_000
_SOURCE = (".py", ".go", ".js", ".ts", ".rs", ".c", ".rb", ".java")
_NAMES = {" ": "space", "\t": "tab"}


@dataclass(frozen=True)
class Change:
    """A file before a commit and after it."""

    path: str
    before: str
    after: str


@dataclass
class Figures:
    """What a replay measured."""

    keys: int = 0
    seconds: float = 0.0
    echo: list[float] = field(default_factory=list)
    drawn: int = 0
    stale: int = 0
    shown: int = 0
    typed: int = 0
    requests: list[str] = field(default_factory=list)
    answered: int = 0


def git(folder: Path, *arguments: str) -> str:
    """The output of a git command."""
    return subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    ).stdout


def changes(folder: Path, most: int) -> Iterator[Change]:
    """Changed source files of the last commits, newest first."""
    found = 0
    for commit in git(folder, "log", "--no-merges", "--format=%H", "-n", "400").split():
        for line in git(folder, "diff-tree", "-r", "--no-commit-id", "--name-status", commit).splitlines():
            status, _, path = line.partition("\t")
            if status != "M" or Path(path).suffix not in _SOURCE:
                continue
            before, after = git(folder, "show", f"{commit}^:{path}"), git(folder, "show", f"{commit}:{path}")
            if 0 < len(before) < _LARGEST and "\r" not in before + after:
                yield Change(path, before, after)
                found += 1
                if found == most:
                    return


class Replay:
    """One app on one project, and keys for it."""

    def __init__(self, app: SparkApp, session: Session, pace: float) -> None:
        self.app, self.session, self.pace = app, session, pace
        self.figures = Figures()
        self._drawn = asyncio.Event()
        self._watch()

    def _watch(self) -> None:
        """Look at every line that is drawn: does its ghost text fit the text at that instant?"""
        editor, figures = self.app.editor, self.figures
        render, suggest = EditorPane.render_line, EditorPane.suggest

        def rendering(pane: EditorPane, y: int) -> Strip:
            if pane is editor and (ghost := pane.ghost) and (ghost.text or ghost.lines or ghost.struck):
                made = self.app.controls.ghosts.shown
                figures.drawn += 1
                now = place_at(pane.path, pane.buffer.lines, *pane.cursor_location)
                fits = made is not None and made.place == now
                if made is not None and not isinstance(made, Insertion):
                    lines = pane.buffer.lines[made.first : made.first + len(made.old)]
                    fits = fits and tuple(lines) == made.old
                figures.stale += not fits
            self._drawn.set()
            return render(pane, y)

        def suggesting(pane: EditorPane, ghost: Ghost) -> None:
            suggest(pane, ghost)
            figures.shown += pane.ghost.text != "" or bool(pane.ghost.lines)

        EditorPane.render_line = rendering  # type: ignore[method-assign,assignment]
        EditorPane.suggest = suggesting  # type: ignore[method-assign,assignment]

    async def key(self, name: str, character: str | None = None) -> None:
        """Press a key, wait until it is drawn, and then until the next is due."""
        began = time.perf_counter()
        before = self.app.controls.ghosts.shown
        self._drawn.clear()
        self.app.editor.post_message(events.Key(name, character))
        try:
            async with asyncio.timeout(1.0):
                await self._drawn.wait()
        except TimeoutError:
            return
        took = time.perf_counter() - began
        self.figures.keys += 1
        self.figures.echo.append(took)
        typed = isinstance(before, Insertion) and character is not None and before.text.startswith(character)
        self.figures.typed += typed
        await asyncio.sleep(max(0.0, self.pace - took))

    async def type(self, text: str) -> None:
        """Type a text."""
        for character in text:
            if character == "\n":
                await self.key("enter", "\r")
            else:
                await self.key(_NAMES.get(character, character if character.isalnum() else "x"), character)

    async def edit(self, change: Change) -> None:
        """Type the difference between the two states of a file, from the top."""
        old, new = change.before.split("\n"), change.after.split("\n")
        editor, moved = self.app.editor, 0
        for tag, start, end, first, last in difflib.SequenceMatcher(
            None, old, new, autojunk=False
        ).get_opcodes():
            if tag == "equal":
                continue
            row = start + moved
            if tag != "insert":
                editor.move_cursor((row, 0))
                editor.move_cursor((min(row + end - start, editor.document.line_count - 1), 0), select=True)
                await self.key("delete")
            editor.move_cursor((row, 0))
            for line in new[first:last]:
                editor.move_cursor((row, 0))
                await self.key("enter", "\r")
                editor.move_cursor((row, 0))
                await self.type(line)
                row += 1
            moved += (last - first) - (end - start)


async def replay(clone: Path, given: argparse.Namespace) -> Figures:
    """Replay the last changes of a clone."""
    with tempfile.TemporaryDirectory(prefix="spark-replay-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        root = folder / "project"
        subprocess.run(["git", "clone", "-q", str(clone), str(root)], check=True)
        environ = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
        (folder / "config" / "spark").mkdir(parents=True)
        (folder / "config" / "spark" / "config.toml").write_text(NO_LIMIT)
        wanted = list(changes(root, given.files))
        for change in wanted:
            (root / change.path).parent.mkdir(parents=True, exist_ok=True)
            (root / change.path).write_text(change.before, "utf-8")
        async with Partner(rate=given.rate) as partner:
            opening = open_project(root, Flags(base_url=partner.url, provider="partner"), environ)
            session = Session(opening)
            app = SparkApp(session, theme="dark")
            async with app.run_test(size=(120, 40)) as pilot:
                await pilot.pause()
                while not session.context.snapshot.complete:
                    await asyncio.sleep(0.1)
                replayed = Replay(app, session, given.pace)
                figures = replayed.figures
                listen(partner, figures)
                session.side.switch(on=not given.off)
                began = time.monotonic()
                for change in wanted:
                    if not await app.shown_file.open(change.path):
                        continue
                    app.editor.focus()
                    await replayed.edit(change)
                    if figures.keys >= given.keys:
                        break
                figures.seconds = time.monotonic() - began
                figures.answered = session.side.account.this_hour().turns
        await session.close()
    return figures


def listen(partner: Partner, figures: Figures) -> None:
    """Keep the text of every request that asks for an answer."""
    answer = partner.model.answer

    def answering(
        request: Request, items: tuple[dict[str, Any], ...]
    ) -> tuple[tuple[Step, ...], Scenario | None]:
        figures.requests.append(request.instructions + "".join(map(text_of, items)))
        return answer(request, items)

    partner.model.answer = answering  # type: ignore[method-assign]


def cached(texts: list[str]) -> tuple[int, int]:
    """Tokens of all requests, and those that a prompt cache would have held."""
    total = held = 0
    before: list[str] = []
    for text in texts:
        longest = max((_same(text, other) for other in before[-8:]), default=0) // CHARACTERS_PER_TOKEN
        total += len(text) // CHARACTERS_PER_TOKEN
        held += longest // CACHED_STEP * CACHED_STEP if longest >= LEAST_CACHED else 0
        before.append(text)
    return total, held


def _same(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def report(name: str, figures: Figures, pace: float) -> None:
    """Print what was measured."""
    ordered = sorted(figures.echo) or [0.0]
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    print(f"\n{name}: {figures.keys:,} keys in {figures.seconds:.0f} s, {pace * 1000:.0f} ms a key", end="")
    print(f", load {os.getloadavg()[1]:.1f}")
    print(
        f"  a key is drawn after: median {statistics.median(ordered) * 1e3:.2f} ms, p99 {high * 1e3:.2f} ms"
    )
    print(f"  drawn lines with a suggestion {figures.drawn:,}, of them stale {figures.stale}")
    print(f"  suggestions shown {figures.shown:,}; keys that typed what was shown {figures.typed:,}")
    count, minutes = len(figures.requests), figures.seconds / 60 or 1.0
    total, held = cached(figures.requests)
    print(f"  requests {count:,}, {count / minutes:.1f} a minute; {total // max(1, count):,} tokens each")
    print(f"  {100 * held / max(1, total):.0f} % of {total:,} tokens would be cached")
    catalogue = load_catalogue()
    model = cheapest_fast(catalogue, "openai")
    if model is not None and model.price is not None:
        price = model.price.cost(total, held, 40 * count, 0)
        print(f"  {model.name}: ${price:.4f}, ${price / minutes * 60:.3f} an hour")


def main() -> None:
    """Run the replay."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("clones", nargs="+", type=Path)
    parser.add_argument("--files", type=int, default=40, help="changed files to replay at most")
    parser.add_argument("--keys", type=int, default=4_000, help="keys after which a clone is done")
    parser.add_argument("--pace", type=float, default=0.12, help="seconds from key to key")
    parser.add_argument("--rate", type=float, default=1000.0, help="tokens a second")
    parser.add_argument("--off", action="store_true", help="without suggestions, to compare")
    given = parser.parse_args()
    for clone in given.clones:
        report(clone.resolve().parent.name, asyncio.run(replay(clone, given)), given.pace)


if __name__ == "__main__":
    main()
