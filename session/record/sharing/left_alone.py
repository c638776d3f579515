"""Word of a session that ended while nobody watched, for whoever opens the project next."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from session.base.storage.private_files import StoreError, open_to_read, replace_private
from session.base.text.sanitize import clean_line
from session.record.journal.parts import SUFFIX
from session.record.past_turns import read_turns

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
