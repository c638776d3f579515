"""Workers that lie: what they answer, or raise, in place of a verdict. Imported by real workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from session.checks.finding import Finding, Status, Verdict
from session.race.cluster.worker import Answer, Job, judge

WHICH = "lie:"
"""In front of the name of a lie, as a comment of a check's command."""
HIDING = "a\x1b[2Jb \x1b]52;c;aGk=\x07 \x9b31m \u202e c"


class OddAnswer(Answer):
    """An answer of another kind."""


class Unpacked(RuntimeError):
    """An exception that is another one where it arrives."""

    def __init__(self, kind: type[BaseException]) -> None:
        super().__init__(kind)
        self._kind = kind

    def __reduce__(self) -> tuple[Any, ...]:
        return self._kind, ("a worker ends this spark",)


class Silent(Exception):
    """An exception that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


def _raised(problem: BaseException) -> Answer:
    raise problem


def _verdict(**changed: Any) -> Callable[[Verdict], Any]:
    return lambda honest: replace(honest, **changed)


def _finding(**changed: Any) -> Callable[[Verdict], Any]:
    return lambda honest: replace(honest, findings=(replace(Finding("calc.py", 1, "x"), **changed),))


VERDICTS: dict[str, Callable[[Verdict], Any]] = {
    "a text for a verdict": lambda honest: "green",
    "a verdict for another check": lambda honest: replace(honest, check=replace(honest.check, name="other")),
    "a verdict for nothing": _verdict(check=None),
    "a text for a status": _verdict(status="green"),
    "a time that is none": lambda honest: replace(honest, seconds=float("nan")),
    "a time before it began": lambda honest: replace(honest, seconds=-1.0),
    "a text for a time": _verdict(seconds="1"),
    "a number for a text": _verdict(why=1),
    "a list for findings": _verdict(findings=[1]),
    "findings that are none": _verdict(findings=("calc.py:1: x",)),
    "too many findings": lambda honest: replace(honest, findings=(Finding("calc.py", 1, "x"),) * 201),
    "a finding outside": _finding(path="/etc/passwd"),
    "a finding outside by ..": _finding(path="../other/calc.py"),
    "a finding in no file": _finding(path=""),
    "a finding with a zero": _finding(path="a\0b"),
    "a finding in a line that is none": _finding(line=-1),
    "a finding in a line of many digits": _finding(line=10**5_000),
    "bytes for a message": _finding(message=b"x"),
}
ANSWERS: dict[str, Callable[[str, Verdict], Any]] = {
    "nothing": lambda worker, honest: None,
    "a dictionary": lambda worker, honest: {"verdict": honest},
    "an answer of another kind": lambda worker, honest: OddAnswer(worker, honest),
    "neither a verdict nor why": lambda worker, honest: Answer(worker, None),
    "a name that no worker has": lambda worker, honest: Answer("tcp://192.0.2.1:1", None, "too old"),
    "a number for a name": lambda worker, honest: Answer(1, None, "too old"),  # type: ignore[arg-type]
    "SystemExit": lambda worker, honest: _raised(Unpacked(SystemExit)),
    "KeyboardInterrupt": lambda worker, honest: _raised(Unpacked(KeyboardInterrupt)),
    "CancelledError": lambda worker, honest: _raised(Unpacked(asyncio.CancelledError)),
    "StopIteration": lambda worker, honest: _raised(Unpacked(StopIteration)),
    "an exception without words": lambda worker, honest: _raised(Silent()),
    "an exception that hides": lambda worker, honest: _raised(RuntimeError(HIDING)),
    "an exception of a million characters": lambda worker, honest: _raised(RuntimeError("x" * 1_000_000)),
}
TEXTS: dict[str, Callable[[Verdict], Verdict]] = {
    "texts that hide": lambda honest: replace(
        honest,
        status=Status.RED,
        findings=(Finding(f"{HIDING}.py", 1, HIDING),),
        why=HIDING,
        last=HIDING,
        note=HIDING,
    ),
    "texts of a million characters": lambda honest: replace(
        honest,
        status=Status.RED,
        findings=(Finding("calc.py", 1, "x" * 1_000_000),) * 2,
        why="x" * 1_000_000,
        last="x\n" * 500_000,
        note="x" * 1_000_000,
    ),
}


async def lie(job: Job, manifest: bytes, *packs: bytes) -> Any:
    """The lie that the check names; the truth of a project without edits."""
    answer = await judge(job, manifest, *packs)
    honest = answer.verdict
    if not job.edits or honest is None:
        return answer
    which = job.check.command.partition(WHICH)[2]
    if which in ANSWERS:
        return ANSWERS[which](answer.worker, honest)
    return Answer(answer.worker, (VERDICTS | TEXTS)[which](honest))
