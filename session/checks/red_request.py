"""What asks a model to mend what checks found: short, each message once, in a fence as all data. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from context.text.safe import fenced_lines

MOST_MESSAGES = 20
"""Different messages that are sent at once."""
MOST_PLACES = 4
"""Places that are named for one message."""


@dataclass(frozen=True, slots=True)
class Red:
    """A finding: its place as ``path:line`` or ``path``, which may be empty; what is wrong; the check."""

    place: str
    message: str
    check: str


def red_request(found: Iterable[Red]) -> str:
    """The request about ``found``, or nothing where that is empty."""
    said: dict[str, list[Red]] = {}
    for each in found:
        said.setdefault(each.message, []).append(each)
    if not said:
        return ""
    lines = [_line(message, reds) for message, reds in said.items()]
    more = [f"… and {len(lines) - MOST_MESSAGES} more"] if len(lines) > MOST_MESSAGES else []
    told = fenced_lines([*lines[:MOST_MESSAGES], *more])
    return f"These checks fail. Mend what they found:\n{told}".rstrip()


def _line(message: str, reds: list[Red]) -> str:
    places = list(dict.fromkeys(red.place for red in reds))
    checks = ", ".join(dict.fromkeys(red.check for red in reds))
    first = f"{places[0]}: " if places[0] else ""
    others = places[1:MOST_PLACES]
    left = len(places) - 1 - len(others)
    tail = f"; the same at {', '.join(others)}{f' and {left} more places' if left else ''}" if others else ""
    return f"- {first}{message} ({checks}){tail}"
