"""One turn without a terminal: what ``spark exec`` runs."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass

from session.base.events import Event, HunkRefused, PhaseChanged, TurnEnded
from session.base.storage.error_log import log_faults_to
from session.base.storage.private_files import StoreError
from session.checks.check import Check
from session.commands.race_commands import RaceError
from session.session import Session
from session.setup.opening import Opening
from tui.front.event_loop import run
from tui.front.exits import CONFIGURATION, FAILED, OUTPUT_CLOSED, exit_code, leave
from tui.front.printing import drop_output, say
from tui.front.words.silence import telling_silence
from tui.line.event_printers import Printer
from tui.screen.terminal.signals import SIGNALS, CommandSignals


@dataclass(frozen=True, slots=True)
class Racing:
    """What ``--attempts``, ``--check`` and ``--all`` ask for; without ``checks``, the agreed ones."""

    attempts: int
    checks: Sequence[Check] | None = None
    judge_all: bool = False


def run_exec(opening: Opening, prompt: str, show: Printer, racing: Racing | None = None) -> int:
    """Run one turn, or a race of attempts, show its events, and return the exit code."""
    try:
        return run(_exec(opening, prompt, show, racing))
    except RaceError as problem:
        leave(str(problem), CONFIGURATION)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


async def _exec(opening: Opening, prompt: str, show: Printer, racing: Racing | None) -> int:
    session = Session(opening, attended=False)
    log_faults_to(opening.workspace.folders.error_log)
    events = session.listen()
    code = FAILED
    # The turn ends as interrupted; a second signal ends the program.
    with CommandSignals(session.interrupt, (signal.SIGINT, *SIGNALS)) as signals:
        await session.open()
        try:
            if racing is None:
                session.submit(prompt)
            else:
                how = racing.judge_all
                await session.race.start(prompt, racing.attempts, racing.checks, judge_all=how)
            code = await _shown(events, show, session.interrupt)
        finally:
            await session.close()
    return signals.code or code


async def _shown(events: AsyncIterator[Event], show: Printer, stop: Callable[[], object]) -> int:
    """Show the events of the turn up to its end; returns the exit code. Where nobody reads what is printed
    any more, ``stop`` ends the turn as Esc does."""
    refused = closed = False
    async with telling_silence(lambda line: say(f"spark: {line}", err=True)) as heard:
        async for event in events:
            heard(event)
            try:
                if not isinstance(event, PhaseChanged) and not closed:
                    show(event)
            except BrokenPipeError:
                closed = True
                drop_output()
                say("spark: standard output was closed, so the turn was stopped; what landed stays", err=True)
                stop()
            refused = refused or isinstance(event, HunkRefused)
            if isinstance(event, TurnEnded):
                stopped = closed and event.status == "interrupted"
                return OUTPUT_CLOSED if stopped else exit_code(event.status, event.code, refused=refused)
    return FAILED
