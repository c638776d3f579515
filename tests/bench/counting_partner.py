"""A partner in a process of its own: each of its edits counts up the first line of a file.

Run as ``python -m tests.bench.counting_partner RATE``: it prints its URL. Each line on its standard input
cuts all connections, and is answered with a line once they are closed. It ends with its standard input.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache

from edits.hunk import Action
from session.partner.script import Patch, Say, Scenario, Script
from session.partner.script_text import read_lines
from session.partner.server.server import Partner

_ASKED = re.compile(r"c(\d+)x(\d+)n(\d+)")


def prompt(number: int, step: int, asked: int) -> str:
    """Asks that the file ``f<number>.txt`` counts on from ``step``. ``asked`` differs from prompt to prompt:
    what was refused or undone once is sent again then."""
    return f"change c{number}x{step}n{asked}"


def first_text(number: int) -> str:
    """The text of a file before the first prompt."""
    return f"{0:04} {number}\n"


class CountingScript(Script):
    """A scenario for each step of each file, made when it is asked for: to look for it among thousands, for
    every prompt of a long conversation, took seconds a turn."""

    __slots__ = ()

    def choose(self, words: str, exhausted: frozenset[str] = frozenset()) -> Scenario | None:
        """See :meth:`Script.choose`; of several prompts in one message the last counts."""
        asked = _ASKED.findall(words)
        return _scenario(*map(int, asked[-1])) if asked else None


@cache
def _scenario(number: int, step: int, asked: int) -> Scenario:
    lines = f"-{step:04} {number}\n+{step + 1:04} {number}\n"
    return Scenario(
        id=f"{number}-{step}-{asked}",
        prompt="",
        match=(),
        steps=(Say("Counting."), Patch(("hunk",)), Say("Done.")),
        hunks={"hunk": read_lines(f"f{number}.txt", Action.UPDATE, lines, "")},
    )


@dataclass(frozen=True, slots=True)
class CountingPartner:
    """The running partner, as its user sees it."""

    url: str
    _process: asyncio.subprocess.Process

    async def cut(self) -> None:
        """Close every connection, as a server going away does; new ones are welcome."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(b"cut\n")
        assert await self._process.stdout.readline(), "the partner has ended"


@asynccontextmanager
async def counting_partner(rate: float) -> AsyncIterator[CountingPartner]:
    """Run one. It takes neither memory nor time of the process that is measured."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bench.counting_partner",
        str(rate),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        yield CountingPartner(url, process)
    finally:
        process.stdin.close()
        await process.wait()


async def _serve(rate: float) -> None:
    async with Partner(rate=rate, scripts=CountingScript("counting")) as partner:
        print(partner.url, flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            await partner.drop_clients()
            print("cut", flush=True)


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1])))
