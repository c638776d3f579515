"""How long a session goes on without a screen: a table; and word of one that ended so, for whoever opens the
project next.

It works on while a turn runs or waits, for a limited time; somebody who follows it stops that clock. Nothing
is left when its turns are over. Whoever follows then takes the session over.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path

from session.base.storage.private_files import StoreError, open_to_read, replace_private
from session.base.text.sanitize import clean_line
from session.record.archive import read_turns
from session.record.journal.parts import SUFFIX


class State(Enum):
    """Where a session without a screen stands."""

    ALONE = auto()
    """A turn runs, and nobody follows it: the clock runs."""
    FOLLOWED = auto()
    """A turn runs, and somebody follows it."""
    ENDING = auto()
    """The turn was stopped, and its last write finishes."""
    OVER = auto()
    """Nothing runs any more: the session is closed, and the process ends."""


class Signal(Enum):
    """What can happen to it."""

    JOINED = auto()
    """The first follower came."""
    LEFT = auto()
    """The last follower went."""
    LIMIT = auto()
    """The time is over."""
    END = auto()
    """The process was asked to end."""
    IDLE = auto()
    """No turn runs or waits any more."""


TABLE: dict[tuple[State, Signal], State] = {
    (State.ALONE, Signal.JOINED): State.FOLLOWED,
    (State.ALONE, Signal.LEFT): State.ALONE,
    (State.ALONE, Signal.LIMIT): State.ENDING,
    (State.ALONE, Signal.END): State.ENDING,
    (State.ALONE, Signal.IDLE): State.OVER,
    (State.FOLLOWED, Signal.JOINED): State.FOLLOWED,
    (State.FOLLOWED, Signal.LEFT): State.ALONE,
    (State.FOLLOWED, Signal.LIMIT): State.FOLLOWED,
    (State.FOLLOWED, Signal.END): State.ENDING,
    (State.FOLLOWED, Signal.IDLE): State.OVER,
    (State.ENDING, Signal.JOINED): State.ENDING,
    (State.ENDING, Signal.LEFT): State.ENDING,
    (State.ENDING, Signal.LIMIT): State.ENDING,
    (State.ENDING, Signal.END): State.ENDING,
    (State.ENDING, Signal.IDLE): State.OVER,
    **{(State.OVER, signal): State.OVER for signal in Signal},
}
"""The next state, for every state and signal."""


class Unattended:
    """The life of one session without a screen."""

    def __init__(self, *, followed: bool) -> None:
        self.state = State.FOLLOWED if followed else State.ALONE

    def advance(self, signal: Signal) -> bool:
        """Go to the next state; true if it is another one."""
        before, self.state = self.state, TABLE[self.state, signal]
        return self.state is not before


ENDED = ".ended"
_LONGEST = 200


def leave_word(folder: Path, name: str, line: str) -> None:
    """Say in a line how the session ``name`` ended. Raises StoreError."""
    file = folder / f"{name}{ENDED}"
    try:
        replace_private(file, line.encode("utf-8", "replace"))
    except OSError as problem:
        raise StoreError(f"cannot write {file}: {problem.strerror}") from problem


def forget_word(folder: Path, name: str) -> None:
    """Tell nothing of the session ``name`` any more: whoever resumes it sees how it ended."""
    with suppress(OSError):
        (folder / f"{name}{ENDED}").unlink(missing_ok=True)


def killed_word(sessions: Path, name: str, landed: Callable[[str], Sequence[str]]) -> str:
    """A line about the session ``name``, whose process was ended by force: what its last turn had landed, as
    ``landed`` says by the turn's name, and what was lost. Empty where no turn ran. Raises StoreError."""
    newest = deque(read_turns(sessions / f"{name}{SUFFIX}"), maxlen=1)
    if not newest or newest[0].status:
        return ""
    last = newest[0]
    hunks = landed(last.turn)
    kept = f"{', '.join(hunks)} had landed and stay" if hunks else "nothing had landed"
    lost = f"; {', '.join(last.open)} had not landed and is lost" if last.open else ""
    return (
        f"session {name} was ended by force in the middle of turn {last.turn}: {kept}{lost}: "
        f"spark resume {name} goes on"
    )


def take_words(folder: Path) -> list[str]:
    """What was left, a line for each session; each is told once."""
    told = []
    for file in sorted(folder.glob(f"*{ENDED}")):
        try:
            with open_to_read(file) as content:
                line = clean_line(content.read(_LONGEST).decode("utf-8", "replace"))
            file.unlink()
        except OSError:
            continue  # another process told it
        told.append(
            f"session {file.stem} went on without a screen and is over ({line}): spark resume {file.stem}"
        )
    return told
