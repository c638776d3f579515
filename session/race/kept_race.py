"""The last race of a project on disk: its attempts with their verdicts, so that one can be taken later."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Format, Hunk
from session.base.storage.private_files import StoreError, replace_private

FILE = "race.json"
_VERDICT = re.compile(r"(?P<check>.+?) (?P<standing>green|as_before|red|unclear)(?:: |$)")


@dataclass(frozen=True, slots=True)
class KeptAttempt:
    """One attempt. ``diff`` is what it changes, ``said`` the text of its answer, and ``verdicts`` are what
    the checks said, a line each."""

    number: int
    status: str
    why: str
    tokens: int
    lines: int
    verdicts: tuple[str, ...]
    diff: str
    said: str

    @property
    def standings(self) -> dict[str, str]:
        """How it stands with each check that judged it."""
        found = (_VERDICT.match(each) for each in self.verdicts)
        return {match["check"]: match["standing"] for match in found if match is not None}

    def edits(self) -> tuple[Hunk, ...]:
        """The change as hunks."""
        parser = AutoParser(Format.UNIFIED)
        events = [*parser.feed(self.diff), *parser.close(clean=True)]
        return tuple(event.hunk for event in events if isinstance(event, Completed))


@dataclass(frozen=True, slots=True)
class KeptRace:
    """A race: its request, and the session and turn whose hunks are those of attempt ``taken`` (or 0)."""

    prompt: str
    session: str
    turn: str
    taken: int
    attempts: tuple[KeptAttempt, ...]


def keep(folder: Path, race: KeptRace) -> None:
    """Keep ``race`` in the place of the last one. Raises StoreError."""
    try:
        replace_private(folder / FILE, json.dumps(asdict(race)).encode("utf-8", "surrogatepass"))
    except OSError as problem:
        raise StoreError(f"the race cannot be kept in {folder / FILE}: {problem.strerror}") from problem


def read_race(folder: Path) -> KeptRace | None:
    """The last race of the project whose state is in ``folder``; None where there was none. Raises
    StoreError where its file cannot be read."""
    file = folder / FILE
    try:
        data = json.loads(file.read_text("utf-8", "surrogatepass"))
        attempts = tuple(map(_attempt, data.pop("attempts")))
        return KeptRace(**data, attempts=attempts)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as problem:
        raise StoreError(f"the last race in {file} cannot be read ({problem}); remove that file") from problem


def _attempt(data: dict[str, object]) -> KeptAttempt:
    verdicts = data.pop("verdicts")
    if not isinstance(verdicts, Sequence):
        raise TypeError("verdicts that are no list")
    return KeptAttempt(**data, verdicts=tuple(map(str, verdicts)))  # type: ignore[arg-type] # wrong kinds raise
