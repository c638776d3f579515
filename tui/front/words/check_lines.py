"""Lines about agreed checks, and about files that a turn left with a syntax error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from session.base.events import CheckEnded, CommandEnded, HunkChecked, WatchTold
from tui.front.keys.keymap import shown as shown_key
from tui.front.words.trust_lines import exact_lines

if TYPE_CHECKING:
    from session.checks.check import Check
    from tui.front.port import SessionPort

MOST_FINDINGS = 5
"""Findings that are shown of one check."""

WALLS = {"landlock": " · behind Landlock", "none": " · without walls"}
"""What is said of the walls a check ran in, where they are not the usual ones."""
_SAID = {
    "green": "passed",
    "red": "failed",
    "as_before": "failed as before any change",
    "unclear": "says nothing",
}


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
    walls = WALLS.get(event.walls, "")
    head = f"{event.check} {said}{why}{before} · {event.seconds:.1f} s{walls}"
    left = len(event.findings) - MOST_FINDINGS
    more = [f"… {left} more"] if left > 0 else []
    return "\n".join([head, *event.findings[:MOST_FINDINGS], *more])


def what_failed(session: SessionPort, *, failed: bool = True) -> str:
    """What asks the model to mend the command that failed, else what checks found; empty where all is well.
    Without ``failed`` also the output of a command that did not fail. It counts as sent."""
    if prompt := session.shell.request():
        session.shell.sent()
        return prompt
    if prompt := session.checks.request():
        return prompt
    prompt = session.shell.request(failed=failed)
    session.shell.sent()
    return prompt


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
