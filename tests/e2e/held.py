"""A partner that waits in the middle of its answer until the test has seen what there is to see."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from session.partner.load_script import DEMO, load
from session.partner.script import Patch, Scenario, Script, Stall
from session.partner.server.server import Partner
from tests.session.local_servers import aside

_LONGER_THAN_ANY_TEST = 3600.0


class Held:
    """The demo's partner: it answers at once up to where it waits, and the rest after :meth:`let_go`."""

    def __init__(self, patches: int) -> None:
        self._partner = Partner(rate=float("inf"), scripts=_with_stalls(load(DEMO), patches))
        self.url = ""

    def command(self, spark: Path, root: Path) -> list[str]:
        """The command that opens a project with this partner, asking nothing about its files."""
        asks = ["--provider", "partner", "--model", "spark-practice", "--base-url", self.url]
        return [str(spark), "-C", str(root), "--trust", *asks]

    def let_go(self) -> None:
        """Send the rest of this answer, and all of those to come."""
        self._loop.call_soon_threadsafe(self._partner.model.going.set)

    async def __aenter__(self) -> Held:
        self._loop = asyncio.get_running_loop()
        await self._partner.serve()
        self.url = self._partner.url
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._partner.close()


@contextmanager
def held_partner(patches: int = 1) -> Iterator[Held]:
    """Serve the demo's answers in a thread, each held after its first ``patches`` edits and a few words."""
    with aside(Held(patches)) as held:
        yield held


def _with_stalls(script: Script, patches: int) -> Script:
    return replace(script, scenarios=tuple(_with_stall(scenario, patches) for scenario in script.scenarios))


def _with_stall(scenario: Scenario, patches: int) -> Scenario:
    places = [at for at, step in enumerate(scenario.steps) if isinstance(step, Patch)]
    if len(places) <= patches:
        return scenario
    # After the words that follow the patch: in the middle of an answer's text.
    at = places[patches - 1] + 2
    steps = (*scenario.steps[:at], Stall(_LONGER_THAN_ANY_TEST), *scenario.steps[at:])
    return replace(scenario, steps=steps)
