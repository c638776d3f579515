"""Lines about what judges a change: agreed checks, races of attempts, and the question whether a project's
files may instruct the model and name checks.

Text is shown as exactly what it is: what would be run must be read before it is allowed. Runs of blanks could
push the end of a command off the screen, and characters that cannot be seen could change what it does, so
both are written out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from session.base.events import (
    AttemptAgain,
    AttemptChecked,
    AttemptEnded,
    AttemptStarted,
    BaselineChecked,
    CheckEnded,
    CommandEnded,
    Event,
    HunkChecked,
    RaceEnded,
    RaceStarted,
    WatchTold,
)
from session.base.text.sanitize import is_invisible
from session.project.trust import SETTINGS_FILE, Candidate
from tui.front.keys.keymap import shown as shown_key
from tui.front.words.figures import dollars, duration, thousands

if TYPE_CHECKING:
    from session.checks.check import Check


LONGEST_RUN = 8
"""Blanks in a row that are still shown as blanks."""
_RUN = re.compile(rf"[^\S\n]{{{LONGEST_RUN + 1},}}")
_BLANK_LINES = re.compile(rf"\n{{{LONGEST_RUN + 1},}}")
BAR = "│ "
"""Stands before each line of the project's files."""
_MOST_NAMED = 3
MOST_FINDINGS = 5
"""Findings that are shown of one check."""
WALLS = {
    "bubblewrap": " · in bubblewrap",
    "landlock": " · behind Landlock",
    "seatbelt": " · behind Seatbelt",
    "none": " · without walls",
}
"""What is said of the walls a check ran in, where they are not the usual ones."""
_SAID = {
    "green": "passed",
    "red": "failed",
    "as_before": "failed as before any change",
    "unclear": "says nothing",
}
_STATES = {"green": "passed", "red": "failed", "unclear": "says nothing"}


def exact_lines(text: str) -> list[str]:
    """The lines of ``text``, with long runs of blanks as a count and unseen characters by their names."""
    text = _BLANK_LINES.sub(lambda run: f"\n⟨{len(run[0]) - 1:,} empty lines⟩\n", text)
    return [_RUN.sub(_count, line) for line in map(_named, text.split("\n"))]


def _count(run: re.Match[str]) -> str:
    return f"⟨{len(run[0]):,} blanks⟩"


def _named(line: str) -> str:
    return "".join(_name(character) for character in line)


def _name(character: str) -> str:
    if character == "\t":
        return "    "
    odd_blank = character.isspace() and character != " "
    if not odd_blank and not is_invisible(character):
        return character
    return f"⟨{unicodedata.name(character, f'U+{ord(character):04X}').lower()}⟩"


def trust_title(candidates: Iterable[Candidate]) -> str:
    """What is asked, on one line."""
    paths = [each.path for each in candidates]
    named = ", ".join(map(_on_one_line, paths[:_MOST_NAMED]))
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    does = "would set your model or theme" if paths == [SETTINGS_FILE] else "would instruct the model"
    return f"Not used so far: {named}{more} of this project {does}. Agree?"


def trust_lines(candidates: Iterable[Candidate]) -> list[str]:
    """What the files say, whole: unseen characters by their names, and a bar before each of their lines, so
    that nothing in them looks like spark's own words."""
    lines = []
    for each in candidates:
        said = exact_lines(each.text.removesuffix("\n"))
        many = f"{len(said)} line{'s' if len(said) > 1 else ''}"
        lines.append(f"{_on_one_line(each.path)} ({each.standing}, {many}):")
        lines += [f"{BAR}{line}" for line in said]
    return lines


def _on_one_line(path: str) -> str:
    return " ".join(exact_lines(path))


def checked_detail(event: HunkChecked) -> str:
    """What a check found in a hunk, after the check's name; empty where it found nothing."""
    if event.status == "green":
        return ""
    place = f"line {event.line}: " if event.line else ""
    return f"{place}{event.message}"


def check_line(event: CheckEnded) -> str:
    """How a check of the project ended, with its first findings on lines of their own."""
    said = _SAID.get(event.status, event.status)
    why = f" · {event.why}" if event.why and event.status != "green" else ""
    before = f" · {event.before} found before any change" if event.before else ""
    head = f"{event.check} {said}{why}{before} · {event.seconds:.1f} s{ran_on('', event.walls)}"
    left = len(event.findings) - MOST_FINDINGS
    more = [f"… {left} more"] if left > 0 else []
    return "\n".join([head, *event.findings[:MOST_FINDINGS], *more])


def command_runs() -> str:
    """What the status line says while the user's command runs."""
    return f"your command runs; {shown_key('interrupt')} ends it"


def command_ends() -> str:
    """What the status line says from the key that ends the user's command to its end."""
    return "ending your command and all that it started …"


def command_end(event: CommandEnded) -> tuple[str, str]:
    """The line of a command that has ended, and what is shown below it."""
    places = "".join(f"\n→ {place}" for place in event.places)
    key = shown_key("fix") if event.status == "failed" else ""
    offer = f" · {key} sends it to the model" if key else ""
    return f"! {event.line} · {event.how}{offer}", f"{event.tail}{places}"


def watch_lines(event: WatchTold) -> str:
    """What a watched command says that it did not say before."""
    state = f"{event.left} wrong" if event.left else "all well"
    head = f"watch {event.line} · {event.how} · {state}"
    red = [f"newly red: {line}" for line in event.red]
    return "\n".join([head, *red, *(f"newly green: {line}" for line in event.green)])


def listed_checks(checks: Sequence[tuple[Check, bool]]) -> str:
    """The checks of a project, a line each: name, whether it is agreed to, and the exact command."""
    return "\n".join(
        f"{check.name}{' (agreed)' if agreed else ''}: {exact_command(check)} · from {check.source}"
        for check, agreed in checks
    )


def exact_command(check: Check) -> str:
    """The command on one line, with what cannot be seen written out."""
    return " ⏎ ".join(exact_lines(check.command))


def broken_line(path: str, message: str, hunks: Sequence[str]) -> str:
    """Which file, what is wrong where, and since which hunks."""
    since = f", since {hunk_names(hunks)}" if hunks else ""
    return f"{path}: {message}{since}"


def hunk_names(hunks: Sequence[str]) -> str:
    """``h1``, ``h1 and h2``, ``h1, h2 and h3``, or the first, the last and how many."""
    if len(hunks) > 4:
        return f"{hunks[0]} to {hunks[-1]} ({len(hunks)} hunks)"
    return " and ".join([*([", ".join(hunks[:-1])] if len(hunks) > 1 else []), *hunks[-1:]])


def race_line(event: Event) -> str | None:
    """One line about an event of a race, or None for other events."""
    match event:
        case RaceStarted(attempts=attempts, checks=checks):
            judged = ", ".join(checks)
            return f"race of {attempts}, judged by {judged} · {race_estimate(event)}"
        case AttemptStarted(attempt=number, model=model, effort=effort):
            asked = f"{model}, effort {effort}" if effort else model
            return f"attempt {number} began ({asked})"
        case BaselineChecked(check=check, status=status, seconds=seconds):
            said = "is green" if status == "green" else f"is {status}{_why(event.why)}"
            return f"before: {check} {said} · {seconds:.1f} s{ran_on(event.where, event.walls)}"
        case AttemptChecked(attempt=number, check=check, status=status, seconds=seconds):
            said = "red as before" if event.as_before else f"{_STATES[status]}{_why(event.why)}"
            which = f", answer {event.answer}" if event.answer > 1 else ""
            ran = ran_on(event.where, event.walls)
            return f"attempt {number}{which}: {check} {said} · {seconds:.1f} s{ran}"
        case AttemptAgain(attempt=number, answer=answer, check=check):
            return f"attempt {number} answers again ({answer}): it gets what {check} printed"
        case AttemptEnded(attempt=number, status=status, tokens=tokens):
            which = f", answer {event.answer} of {event.answers}" if event.answers > 1 else ""
            return f"attempt {number} {status}{which}{_why(event.why)} · {thousands(tokens)} tokens"
        case RaceEnded():
            return ended_line(event)
        case _:
            return None


def race_estimate(event: RaceStarted) -> str:
    """What a race is likely to take, what each further answer of a red attempt, and what the limits are."""
    again = f", {event.round_estimate} for each further answer" if event.rounds else ""
    most = f" (at most {event.rounds} of a red attempt)" if event.rounds else ""
    limits = f"; at most {event.limits}" if event.limits else ""
    return f"{event.estimate}{again}{most}{limits}"


def ran_on(where: str, walls: str = "") -> str:
    """Where a check ran, unless that is this machine, and in which walls, unless they are the usual ones."""
    return (f" · on {where}" if where not in ("", "here") else "") + WALLS.get(walls, "")


def ended_line(event: RaceEnded, width: int | None = None) -> str:
    """Who won a race, and what it took: as much of that as there is room for in ``width`` cells."""
    won = f"attempt {event.winner} of {event.attempts} won" if event.winner else "no attempt won"
    why = f": {event.why}" if event.why and not event.winner else ""
    parts = [f"{won}{why}", f"{thousands(event.tokens)} tokens", duration(event.seconds)]
    if event.cost is not None:
        parts.insert(2, dollars(event.cost))
    if event.again:
        parts.insert(1, f"{event.again} answered again")
    if event.green or not event.why:
        parts.insert(1, f"{event.green} green")
    while width is not None and len(" · ".join(parts)) > width and len(parts) > 1:
        parts.pop()
    return " · ".join(parts)


def _why(why: str) -> str:
    return f" ({why})" if why else ""
