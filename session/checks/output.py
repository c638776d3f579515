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
from session.base.text.sanitize import clean_line
from session.checks.excerpt import excerpt, frame_patterns
from session.checks.finding import Finding
from session.checks.mentions import mentions
from session.record.outputs import overwritten, without_escapes

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
    for line in overwritten(without_escapes(output)).splitlines():
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
        self._quoting = False
        """Whether pytest quotes a syntax error, whose text follows its place."""

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
                if self._quoting:
                    return True
                if not self._raise(message):
                    self._message = self._message or message
            case "next":
                self._message, self._frame, self._quoting = "", None, False
            case "error":
                self._error = message
            case "raised":
                return self._raise(message)
            case "quoted":
                self._quoting = True
                self._frame = (path, number) if path else self._frame
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
        place, self._frame, self._quoting = self._frame, None, False
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


MOST_PLACES = 8
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
        """See :func:`mentions`."""
        return mentions((place.path, place.line) for place in self.places[:MOST_PLACES])

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
    text = overwritten(without_escapes(output))
    places: dict[tuple[str, int], Finding] = {}
    findings = find(text, resolve)
    for finding in (*findings, *_frames(text, resolve)):
        if finding.line:
            places.setdefault((finding.path, finding.line), finding)
    return Failure(command, code, tuple(places.values()), excerpt(text), findings)


def _frames(text: str, resolve: Resolve) -> Iterator[Finding]:
    """The frames of tracebacks in the project's files, the last printed first."""
    found: list[Finding] = []
    for line in text.splitlines():
        for pattern in frame_patterns():
            match = pattern.search(line[:_TRIED])
            path = resolve(match["path"]) if match is not None else ""
            if match is not None and path:
                found.append(Finding(path, line_number(match["line"]), "in a traceback"))
                break
    return reversed(found)
