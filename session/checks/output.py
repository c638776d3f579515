"""Reading the output of a check into findings: places in the project's files with a message each; and why a
command failed: the project's lines it names, and the output cut short.

Pure, but for the patterns, which are data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from context.text.safe import fenced
from context.text.secrets import redact
from session.base.text.sanitize import clean, clean_line
from session.checks.finding import Finding
from session.record.outputs import without_escapes

MOST_FINDINGS = 200
_LONGEST_MESSAGE = 300
_LONGEST_LINE = 1_000
"""Characters of a line that are looked at: longer ones are data, and would take long to match."""
_MOST_DIGITS = 8
_SPACES = re.compile(r"\s+")

Resolve = Callable[[str], str]
"""A path as a tool printed it → the project's file it means, or nothing if it is none."""


def find(output: str, resolve: Resolve) -> tuple[Finding, ...]:
    """The findings in ``output``, each place and message once, in their order."""
    reader = _Reader(resolve)
    for line in without_escapes(output).splitlines():
        reader.read(line[:_LONGEST_LINE])
    return tuple(reader.findings())[:MOST_FINDINGS]


class _Reader:
    """Reads line by line; what it remembers of earlier lines is the message, file or frame they named."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._found: dict[Finding, None] = {}
        self._failures: list[Finding] = []
        self._message = ""
        self._file = ""
        self._place: tuple[str, int] | None = None
        """A place that waits for the message after it."""
        self._frame: tuple[str, int] | None = None
        self._error = ""
        """An exception whose stack follows."""

    def findings(self) -> Iterable[Finding]:
        """The findings; a failed test whose line is not known is told by its file."""
        told = {finding.path for finding in self._found}
        return [*self._found, *(failure for failure in self._failures if failure.path not in told)]

    def read(self, line: str) -> None:
        """Read the next line."""
        if self._place is not None and line.strip():
            place, self._place = self._place, None
            self._add(*place, line)
            return
        for role, pattern in _formats():
            match = pattern.match(line)
            if match is not None and self._take(role, match.groupdict()):
                return

    def _take(self, role: str, groups: dict[str, str | None]) -> bool:
        """Use a line that matches; returns whether it was what it looked like."""
        path = self._resolve(groups.get("path") or "")
        number = line_number(groups.get("line"))
        message = groups.get("message") or ""
        match role:
            case "message":
                code = groups.get("code")
                self._message = f"{code.rstrip(':')} {message}" if code else message
            case "detail":
                if not self._raise(message):
                    self._message = self._message or message
            case "next":
                self._message, self._frame = "", None
            case "error":
                self._error = message
            case "raised":
                return self._raise(message)
            case "entry":
                return bool(self._file) and self._add(self._file, number, message)
            case _ if not path:
                return False
            case "finding":
                return self._add(path, number, message)
            case "place":
                self._locate(path, number, groups.get("kind") or "")
            case "file":
                self._file = path
            case "frame":
                self._frame = (path, number)
            case "at":
                error, self._error = self._error, ""
                return bool(error) and self._add(path, number, error)
            case "failure":
                said = message or "failed"
                test = groups.get("test")
                self._failures.append(Finding(path, 0, _short(f"{test}: {said}" if test else said)))
        return True

    def _locate(self, path: str, number: int, kind: str) -> None:
        message, self._message = self._message or kind, ""
        if message:
            self._add(path, number, message)
        else:
            self._place = (path, number)

    def _raise(self, message: str) -> bool:
        if self._frame is None:
            return False
        place, self._frame = self._frame, None
        return self._add(*place, message)

    def _add(self, path: str, number: int, message: str) -> bool:
        self._found.setdefault(Finding(path, number, _short(message)))
        return True


class ProjectPaths:
    """Finds the project's file that a printed path means. ``roots`` are where commands saw the project."""

    def __init__(self, project: Path, roots: Iterable[Path], files: Iterable[str]) -> None:
        self._project = project
        self._roots = [str(root) for root in (*roots, project)]
        self._files = frozenset(files)
        self._by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._by_name.setdefault(PurePosixPath(path).name, []).append(path)

    def resolve(self, printed: str) -> str:
        """The path relative to the project; empty if ``printed`` names none of its files.

        A bare name or the end of a path counts where only one file fits: some tools print paths relative to
        a package.
        """
        path = printed.strip().replace("\\", "/")
        for root in self._roots:
            path = path.removeprefix(f"{root}/")
        path = path.removeprefix("./")
        if path in self._files:
            return path
        if not path or path.startswith("/") or ".." in PurePosixPath(path).parts:
            return ""
        fits = [
            each
            for each in self._by_name.get(PurePosixPath(path).name, [])
            if each.endswith(f"/{path}") or each == path
        ]
        return fits[0] if len(fits) == 1 else ""


def line_number(printed: str | None) -> int:
    """The line that a tool printed; 0 for none, and for one that no file has."""
    return int(printed) if printed and len(printed) <= _MOST_DIGITS else 0


def _short(message: str) -> str:
    return redact(clean_line(_SPACES.sub(" ", message))).text[:_LONGEST_MESSAGE]


@cache
def _formats() -> tuple[tuple[str, re.Pattern[str]], ...]:
    data = tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8"))
    return tuple((each["role"], re.compile(each["pattern"])) for each in data["format"])


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
