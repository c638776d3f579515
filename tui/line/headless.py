"""One turn without a terminal: what ``spark exec`` runs."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass

from session.base.events import (
    Event,
    HunkLanded,
    HunkRefused,
    HunkUndone,
    PhaseChanged,
    TurnEnded,
    TurnJudged,
)
from session.base.storage.error_log import log_faults_to
from session.base.storage.private_files import StoreError
from session.checks.check import Check
from session.commands.check_commands import CheckError
from session.commands.race_commands import RaceError
from session.session import Session
from session.setup.opening import Opening
from tui.front.event_loop import run
from tui.front.exits import CONFIGURATION, DONE, FAILED, OUTPUT_CLOSED, OUTPUT_FULL, exit_code, leave
from tui.front.printing import drop_output, say
from tui.front.words.silence import telling_silence
from tui.line.event_printers import Printer
from tui.screen.terminal.signals import SIGNALS, CommandSignals

_MOST_NAMED = 5
"""The most hunks that are named where a reader went away."""


@dataclass(frozen=True, slots=True)
class Racing:
    """What ``--attempts``, ``--check`` and ``--all`` ask for; without ``checks``, the agreed ones."""

    attempts: int
    checks: Sequence[Check] | None = None
    judge_all: bool = False
    rounds: int | None = None
    """How often a red attempt answers again; by default as the settings say."""


@dataclass(frozen=True, slots=True)
class Fixing:
    """What ``--fix`` asks for: the most rounds, and without ``checks``, the agreed ones."""

    rounds: int
    checks: Sequence[Check] | None = None


def run_exec(opening: Opening, prompt: str, show: Printer, judged: Racing | Fixing | None = None) -> int:
    """Run one turn, a race of attempts, or rounds until the checks are green; show their events, and return
    the exit code."""
    try:
        return run(_exec(opening, prompt, show, judged))
    except (RaceError, CheckError, StoreError) as problem:
        leave(str(problem), CONFIGURATION)


async def _exec(opening: Opening, prompt: str, show: Printer, judged: Racing | Fixing | None) -> int:
    session = Session(opening, attended=False)
    log_faults_to(opening.workspace.folders.error_log)
    events = session.listen()
    code = FAILED
    # The turn ends as interrupted; a second signal ends the program.
    with CommandSignals(session.interrupt, (signal.SIGINT, *SIGNALS)) as signals:
        await session.open()
        try:
            if isinstance(judged, Racing):
                await session.race.start(
                    prompt,
                    judged.attempts,
                    judged.checks,
                    judge_all=judged.judge_all,
                    rounds=judged.rounds,
                )
            else:
                if judged is not None:
                    await session.checks.follow(judged.checks, judged.rounds)
                session.submit(prompt)
            code = await _shown(events, show, session.interrupt, judging=isinstance(judged, Fixing))
        finally:
            await session.close()
    return signals.code or code


async def _shown(
    events: AsyncIterator[Event], show: Printer, stop: Callable[[], object], *, judging: bool
) -> int:
    """Show the events of the turn up to its end; returns the exit code. Where nobody reads what is printed
    any more, ``stop`` ends the turn as Esc does, and standard error says what it had done. With ``judging`` a
    turn that changed something ends with its verdict, and the rounds that follow are shown too."""
    refused = landed = False
    closed: OSError | None = None
    red = 0
    stays: dict[str, str] = {}
    async with telling_silence(lambda line: say(f"spark: {line}", err=True)) as heard:
        async for event in events:
            heard(event)
            try:
                if not isinstance(event, PhaseChanged) and closed is None:
                    show(event)
            except OSError as problem:
                closed = problem
                drop_output()
                stop()
            if isinstance(event, HunkLanded):
                landed, stays[event.hunk] = True, event.path
            elif isinstance(event, HunkUndone):
                stays.pop(event.hunk, None)
            refused = refused or isinstance(event, HunkRefused)
            if isinstance(event, TurnJudged):
                red, landed, refused = event.red, False, False
                if not event.again:
                    if closed is not None:
                        say(f"spark: {_left_by(stays, 'ended', closed)}", err=True)
                    return FAILED if red else DONE
            if isinstance(event, TurnEnded) and not (
                judging and (landed or red) and event.status == "completed"
            ):
                stopped = event.status == "interrupted"
                if closed is not None:
                    how = "was stopped" if stopped else "ended"
                    say(f"spark: {_left_by(stays, how, closed)}", err=True)
                if closed is not None and stopped:
                    return OUTPUT_CLOSED if isinstance(closed, BrokenPipeError) else OUTPUT_FULL
                return exit_code(event.status, event.code, refused=refused) or (FAILED if red else DONE)
    return FAILED


def _left_by(stays: Mapping[str, str], how: str, closed: OSError) -> str:
    """What a turn did whose output can go nowhere; ``stays`` are its hunks with their files."""
    gone = isinstance(closed, BrokenPipeError)
    what = "was closed" if gone else f"cannot be written ({closed.strerror or closed})"
    said = f"standard output {what}, and the turn {how}; "
    if not stays:
        return said + "it changed nothing"
    listed = ", ".join(f"{hunk} in {path}" for hunk, path in list(stays.items())[:_MOST_NAMED])
    more = f" and {len(stays) - _MOST_NAMED} more" if len(stays) > _MOST_NAMED else ""
    verb, back = ("stays", "it") if len(stays) == 1 else ("stay", "the last")
    return f"{said}{listed}{more} {verb} (spark undo takes {back} back)"
