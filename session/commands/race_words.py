"""``/try``: the words after it, and what they ask of the session."""

from __future__ import annotations

import re
from dataclasses import dataclass

from session.commands.race_commands import RaceCommands, RaceError

ATTEMPTS = 5
"""The attempts of a race whose number is not given."""
_WORDS = re.compile(r"(?:(?P<all>all)\s+)?(?:(?P<count>\d{1,4})(?:\s+|$))?(?P<prompt>.*)", re.DOTALL)
_TAKE = re.compile(r"take\s+(\d{1,4})")


@dataclass(frozen=True, slots=True)
class Try:
    """What ``/try`` asks for: a race, or with ``take`` an attempt of the last one."""

    prompt: str = ""
    attempts: int = ATTEMPTS
    judge_all: bool = False
    take: int = 0


def read_try(argument: str) -> Try:
    """The words after ``/try``."""
    taken = _TAKE.fullmatch(argument.strip())
    if taken is not None:
        return Try(take=int(taken[1]))
    words = _WORDS.fullmatch(argument.strip())
    assert words is not None, "the pattern takes any text"
    count = words["count"]
    return Try(words["prompt"], ATTEMPTS if count is None else int(count), words["all"] is not None)


async def run_try(race: RaceCommands, argument: str) -> str:
    """Begin a race, or take an attempt; returns a line for the user. Raises RaceError."""
    asked = read_try(argument)
    if asked.take:
        race.take(asked.take)
        return ""
    if not asked.prompt.strip():
        raise RaceError("say what the attempts are to do, as in: /try 5 make the failing test pass")
    typed = f"/try {argument.strip()}"
    return await race.start(asked.prompt, asked.attempts, judge_all=asked.judge_all, typed=typed)
