"""The share of problems that k attempts solve, estimated from n attempts at each past commit that could be
tried.

Such a commit changed code together with its tests: its tests are red before it and green after it, and
attempts race to mend them. Commits are tried one after the other until enough of them could be.

Source of the estimate: Chen et al., "Evaluating Large Language Models Trained on Code" (arXiv 2107.03374),
section 2.1, and Wilson, "Probable inference, the law of succession, and statistical inference" (JASA 22,
1927).
"""

from __future__ import annotations

import asyncio
import math
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from context.disk.git import Git, GitUnavailable
from context.disk.source import is_inside
from session.base.events import AttemptAnswered, RaceEnded, TurnEnded
from session.checks.check import Check, Kind
from session.checks.finding import Status
from session.checks.reaching import runnable_tests
from session.checks.runner import CheckRunner
from session.checks.sandbox.command import Edits
from session.checks.sandbox.sandbox import Sandboxes
from session.commands.race_commands import RaceError
from session.session import Session
from session.setup.opening import Opening

_Z = 1.959964
"""Standard deviations within which 95 % of a normal distribution lie."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The share of problems that at least one of ``k`` attempts solves, and its interval of 95 %."""

    k: int
    share: float
    low: float
    high: float


def solved_by(k: int, attempts: int, right: int) -> float:
    """The chance that at least one of ``k`` attempts is right, of which ``right`` of ``attempts`` were.

    It has no bias. Raises ValueError for more attempts than were made.
    """
    if not 0 <= right <= attempts or not 1 <= k <= attempts:
        raise ValueError(f"{k} of {attempts} attempts, {right} of them right, cannot be")
    return 1.0 - math.comb(attempts - right, k) / math.comb(attempts, k)


def coverage(k: int, results: Sequence[tuple[int, int]]) -> Coverage:
    """The coverage of ``k`` attempts over problems, each of which is its attempts and how many were right.

    The interval is Wilson's for the number of problems: what other problems of the same kind would give.
    """
    count = len(results)
    if not count:
        return Coverage(k, 0.0, 0.0, 1.0)
    share = sum(solved_by(k, attempts, right) for attempts, right in results) / count
    middle = (share + _Z**2 / (2 * count)) / (1 + _Z**2 / count)
    reach = _Z / (1 + _Z**2 / count) * math.sqrt(share * (1 - share) / count + (_Z / (2 * count)) ** 2)
    return Coverage(k, share, max(0.0, middle - reach), min(1.0, middle + reach))


def shown(attempts: int) -> list[int]:
    """The numbers of attempts to print the coverage of: all up to 5, then about doubling, and the last."""
    steps = [*range(1, 6), 8, 12, 16, 24, 32, 48, 64]
    return sorted({k for k in steps if k < attempts} | {attempts})


_MOST_FILES = 20
"""Commits that change more files than this are left out: renamings, imports, releases."""
_LARGEST = 5_000_000
"""The largest changed file in bytes; a commit with a larger one is left out."""
_AT_ONCE = 500
"""Files of a commit that are read at a time."""
_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class PastCommit:
    """A commit; ``tests`` and ``code`` are the files it changed, as they were after it."""

    name: str
    subject: str
    tests: Edits
    code: Edits

    @property
    def prompt(self) -> str:
        """What an attempt is asked."""
        listed = "\n".join(f"- {path}" for path in sorted(self.tests))
        return (
            f"{self.subject}\n\nThese tests fail, or the code that they test is missing:\n{listed}\n"
            "Change the code so that they pass. Do not change the tests."
        )


def past_commits(git: Git, check: Check, looked_at: int) -> Iterator[PastCommit]:
    """The commits of the last ``looked_at`` that changed tests of ``check`` and code, the newest first.

    Raises GitUnavailable.
    """
    listed = git.run("rev-list", "--no-merges", "--min-parents=1", f"--max-count={looked_at}", "HEAD", "--")
    for commit in listed.decode("ascii").split():
        changed = _changed(git, commit)
        if changed is None:
            continue
        tests = set(runnable_tests(check, (path for path, content in changed.items() if content is not None)))
        if tests and len(tests) < len(changed):
            subject = git.run("log", "-1", "--format=%s", commit, "--").decode("utf-8", "replace").strip()
            yield PastCommit(
                commit[:12],
                subject,
                {path: changed[path] for path in tests},
                {path: content for path, content in changed.items() if path not in tests},
            )


def write_before(git: Git, commit: PastCommit, folder: Path) -> None:
    """Write the project as it was before ``commit`` into ``folder``, with the commit's tests.

    Links that lead out of the folder, and submodules, are left out. Raises GitUnavailable and OSError.
    """
    listed = git.run("ls-tree", "-r", "-z", f"{commit.name}^", "--", ".")
    found: dict[str, tuple[str, str]] = {}
    for entry in listed.split(b"\0"):
        about, _, raw = entry.partition(b"\t")
        if raw:
            mode, _, name = about.decode("ascii").split()
            found[os.fsdecode(raw)] = mode, name
    paths = list(found)
    for at in range(0, len(paths), _AT_ONCE):
        some = paths[at : at + _AT_ONCE]
        contents = git.blobs((found[path][1] for path in some), _LARGEST)
        for path in some:
            mode, name = found[path]
            if name in contents:
                _write(folder, path, mode, contents[name])
    for path, content in commit.tests.items():
        if content is not None:
            _write(folder, path, _FILE_MODES[0], content)


def _write(folder: Path, path: str, mode: str, content: bytes) -> None:
    file = folder / path
    if not is_inside(path) or not file.parent.resolve().is_relative_to(folder.resolve()):
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    if file.is_symlink():  # the commit put a file in its place, or links made since let it lead out
        file.unlink()
    if mode in _FILE_MODES:
        file.write_bytes(content)
        file.chmod(0o755 if mode == _FILE_MODES[1] else 0o644)
    elif mode == "120000":
        target = os.fsdecode(content)
        if (file.parent / target).resolve().is_relative_to(folder.resolve()):
            file.symlink_to(target)


def _changed(git: Git, commit: str) -> dict[str, bytes | None] | None:
    """The files that ``commit`` changed, as they were after it; None where there is more than files."""
    raw = git.run("diff-tree", "-r", "-z", "--no-renames", "--no-commit-id", "--relative", commit, "--")
    parts = raw.decode("utf-8", "surrogateescape").split("\0")
    names: dict[str, str] = {}
    for about, path in zip(parts[::2], parts[1::2], strict=False):
        _, mode, _, name, _ = about.lstrip(":").split(" ")
        if mode not in (*_FILE_MODES, "000000"):
            return None
        names[path] = name if mode != "000000" else ""
    if not names or len(names) > _MOST_FILES:
        return None
    contents = git.blobs(_given(names.values()), _LARGEST)
    if any(name and name not in contents for name in names.values()):
        return None
    return {path: contents[name] if name else None for path, name in names.items()}


def _given(names: Iterable[str]) -> list[str]:
    return [name for name in names if name]


Open = Callable[[Path, Mapping[str, str]], Opening]
"""Opens the project in a folder, with an environment."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What N attempts at one commit's tests came to. ``problem`` says why there were none."""

    commit: PastCommit
    attempts: int = 0
    right: int = 0
    tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None
    problem: str = ""


async def try_commit(
    git: Git, commit: PastCommit, check: Check, attempts: int, opens: Open, rounds: int | None = None
) -> Trial:
    """Race ``attempts`` attempts at the tests of ``commit``, in a copy of the project as it was before; a red
    one answers again up to ``rounds`` times.

    Raises GitUnavailable, OSError and RaceError.
    """
    judge = replace(check.only(sorted(commit.tests)) if check.takes_tests else check, kind=Kind.TESTS)
    with tempfile.TemporaryDirectory(prefix="spark-bench-") as name:
        folder = Path(name) / "project"
        folder.mkdir()
        await asyncio.to_thread(write_before, git, commit, folder)
        environ = {**os.environ, "XDG_STATE_HOME": str(Path(name) / "state")}
        opening = opens(folder, environ)
        if problem := await _why_no_problem(judge, commit, opening, environ):
            return Trial(commit, problem=problem)
        return await _race(commit, judge, attempts, opening, rounds)


async def _why_no_problem(
    check: Check, commit: PastCommit, opening: Opening, environ: Mapping[str, str]
) -> str:
    """Why the commit cannot be tried; empty where its tests are red before it and green after it."""
    root = opening.workspace.root
    files = await asyncio.to_thread(opening.workspace.files)
    runner = CheckRunner(root, Sandboxes(root, environ), opening.command_environ, lambda: files)
    before = await runner.run(check, sorted(commit.tests))
    if before.status is not Status.RED:
        return f"the tests are {before.status} without its change{_because(before.why)}"
    after = await runner.run(check, sorted(commit.tests), edits=commit.code)
    if after.status is not Status.GREEN:
        return f"the tests are {after.status} with its change{_because(after.why)}"
    return ""


async def _race(
    commit: PastCommit, check: Check, attempts: int, opening: Opening, rounds: int | None
) -> Trial:
    session = Session(opening, attended=False)
    events = session.listen()
    ended: RaceEnded | None = None
    changed_tests: set[int] = set()
    await session.open()
    try:
        await session.race.start(commit.prompt, attempts, [check], judge_all=True, rounds=rounds)
        async for event in events:
            match event:
                case AttemptAnswered(attempt=number, paths=paths):
                    if set(paths) & set(commit.tests):
                        changed_tests.add(number)
                case RaceEnded():
                    ended = event
                case TurnEnded(message=message):
                    if ended is None:
                        return Trial(commit, problem=message or "the race did not begin")
                    break
                case _:
                    pass
    finally:
        await session.close()
    if ended is None:
        return Trial(commit, problem="the race did not end")
    right = session.race.green - changed_tests
    return Trial(commit, ended.attempts, len(right), ended.tokens, ended.seconds, ended.cost)


def _because(why: str) -> str:
    return f" ({why})" if why else ""


class NoCommitsError(Exception):
    """The repository's past commits cannot be read; the message says why."""


async def trials(
    root: Path,
    check: Check,
    attempts: int,
    commits: int,
    looked_at: int,
    opens: Open,
    rounds: int | None = None,
) -> AsyncIterator[Trial]:
    """What ``attempts`` attempts come to at each of the newest ``commits`` commits that can be tried.

    Those that cannot come too, with their problem. Raises :class:`NoCommitsError`.
    """
    try:
        git = Git.open(root)
        tried = 0
        for commit in past_commits(git, check, looked_at):
            if tried == commits:
                return
            try:
                trial = await try_commit(git, commit, check, attempts, opens, rounds)
            except (RaceError, OSError) as problem:
                trial = Trial(commit, problem=str(problem))
            tried += not trial.problem
            yield trial
    except GitUnavailable as problem:
        raise NoCommitsError(str(problem)) from problem
