"""What travels to a worker for one check of one attempt, and what comes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from session.checks.check import Check
from session.checks.finding import Verdict
from session.checks.sandbox.edits import Edits
from session.race.cluster.tools import Tools


@dataclass(frozen=True, slots=True)
class Job:
    """A check of the state ``content`` of a project with ``edits``. ``tools`` are those that a worker must
    have to judge; no environment travels, since workers have their own."""

    name: str
    content: str
    check: Check
    changed: Sequence[str] | None
    edits: Edits = field(repr=False)
    tools: Tools = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of ``worker``: a verdict, or in what its tools differ."""

    worker: str
    verdict: Verdict | None
    differs: str = ""
