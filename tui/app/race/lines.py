"""Lines about races: what each check said, how each attempt ended, and who won."""

from __future__ import annotations

from session.base.events import (
    AttemptChecked,
    AttemptEnded,
    AttemptStarted,
    BaselineChecked,
    Event,
    RaceEnded,
    RaceStarted,
)
from tui.front.words.figures import dollars, duration, thousands

_STATES = {"green": "passed", "red": "failed", "unclear": "says nothing"}


def race_line(event: Event) -> str | None:
    """One line about an event of a race, or None for other events."""
    match event:
        case RaceStarted(attempts=attempts, checks=checks):
            limits = f"; at most {event.limits}" if event.limits else ""
            judged = ", ".join(checks)
            return f"race of {attempts}, judged by {judged} · {event.estimate}{limits}"
        case AttemptStarted(attempt=number, model=model, effort=effort):
            asked = f"{model}, effort {effort}" if effort else model
            return f"attempt {number} began ({asked})"
        case BaselineChecked(check=check, status=status, seconds=seconds):
            said = "is green" if status == "green" else f"is {status}{_why(event.why)}"
            return f"before: {check} {said} · {seconds:.1f} s"
        case AttemptChecked(attempt=number, check=check, status=status, seconds=seconds):
            said = "red as before" if event.as_before else f"{_STATES[status]}{_why(event.why)}"
            return f"attempt {number}: {check} {said} · {seconds:.1f} s"
        case AttemptEnded(attempt=number, status=status, tokens=tokens):
            return f"attempt {number} {status}{_why(event.why)} · {thousands(tokens)} tokens"
        case RaceEnded():
            return ended_line(event)
        case _:
            return None


def ended_line(event: RaceEnded) -> str:
    """Who won a race, and what it took."""
    won = f"attempt {event.winner} of {event.attempts} won" if event.winner else "no attempt won"
    why = f": {event.why}" if event.why and not event.winner else ""
    cost = f" · {dollars(event.cost)}" if event.cost is not None else ""
    took = f"{thousands(event.tokens)} tokens{cost} · {duration(event.seconds)}"
    return f"{won}{why} · {event.green} green · {took}"


def _why(why: str) -> str:
    return f" ({why})" if why else ""
