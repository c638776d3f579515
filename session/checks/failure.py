"""TODO"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from context.text.safe import fenced
from context.text.secrets import redact
from session.base.text.printed import without_escapes
from session.base.text.sanitize import clean
from session.checks.finding import Finding
from session.checks.output import Resolve, find, line_number

AROUND = 4
"""Lines of a file that are shown above and below a place."""
MOST_PLACES = 8
MOST_LINES = 80
"""Lines of output that are kept."""
LAST = 12
"""The last lines of output, which are always kept."""
LONGEST_LINE = 300
LOUD = re.compile(
    r"error|exception|panic|fail|assert|undefined|cannot|not found|expected|^E\s", re.IGNORECASE
)
"""What is in lines that say why something failed."""
_TRIED = 1_000
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A command that failed. ``places`` are lines of the project that its output names, findings first;
    ``findings`` are what it says is wrong."""

    command: str
    code: int
    places: tuple[Finding, ...]
    excerpt: str
    findings: tuple[Finding, ...] = ()

    @property
    def mentions(self) -> tuple[str, ...]:
        """The places as mentions with some lines around them, overlapping ones as one."""
        spans: dict[str, list[tuple[int, int]]] = {}
        for place in self.places[:MOST_PLACES]:
            start, end = max(1, place.line - AROUND), place.line + AROUND
            spans.setdefault(place.path, []).append((start, end))
        return tuple(
            f"@{_quoted(path)}:{start}-{end}" for path, each in spans.items() for start, end in _joined(each)
        )

    def prompt(self) -> str:
        """What asks a model to find the cause and mend it."""
        named = f"\n\nIt names these places: {' '.join(self.mentions)}" if self.places else ""
        ended = (
            f"was ended by signal {self.code - 128}" if self.code > 128 else f"failed with exit {self.code}"
        )
        return (
            f"This command {ended}. Find the cause and mend it.\n\n    {self.command}{named}\n\n"
            f"What it printed, cut to what matters:\n{fenced('', self.excerpt)}"
        )


def read_failure(command: str, code: int, output: str, resolve: Resolve) -> Failure:
    """Why ``command`` failed, from its ``output``. ``resolve`` gives the project's file that a printed path
    means, or nothing."""
    text = without_escapes(output)
    places: dict[tuple[str, int], Finding] = {}
    findings = find(text, resolve)
    for finding in (*findings, *_frames(text, resolve)):
        if finding.line:
            places.setdefault((finding.path, finding.line), finding)
    return Failure(command, code, tuple(places.values()), excerpt(text), findings)


def excerpt(text: str) -> str:
    """The lines of ``text`` that say why: those with places or loud words, and the last ones; without control
    sequences and keys."""
    lines = [line.rstrip()[:LONGEST_LINE] for line in redact(clean(text)).text.splitlines()]
    lines = [line for at, line in enumerate(lines) if line or (at and lines[at - 1])]
    kept = set(range(max(0, len(lines) - LAST), len(lines)))
    for at, line in enumerate(lines):
        if len(kept) >= MOST_LINES:
            break
        if LOUD.search(line) or any(pattern.search(line) for pattern in _patterns()):
            kept |= {each for each in (at - 1, at, at + 1) if 0 <= each < len(lines)}
    shown: list[str] = []
    before = -1
    for at in sorted(kept):
        if at > before + 1:
            shown.append(f"… {at - before - 1} lines")
        shown.append(lines[at])
        before = at
    return "\n".join(shown)


def _frames(text: str, resolve: Resolve) -> Iterator[Finding]:
    """The frames of tracebacks in the project's files, the last printed first."""
    found: list[Finding] = []
    for line in text.splitlines():
        for pattern in _patterns():
            match = pattern.search(line[:_TRIED])
            path = resolve(match["path"]) if match is not None else ""
            if match is not None and path:
                found.append(Finding(path, line_number(match["line"]), "in a traceback"))
                break
    return reversed(found)


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    data = tomllib.loads(Path(__file__).with_name("frames.toml").read_text("utf-8"))
    return tuple(re.compile(each["pattern"]) for each in data["frame"])
