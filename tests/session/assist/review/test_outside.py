"""Files that other programs save: a real session, the real partner, a real repository."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.assist.review import outside
from session.assist.review.on_save import Mode
from session.assist.review.outside import OutsideSaves
from session.base.events import FilesChanged, FindingClosed, FindingReported, SaveReviewed, TurnEnded
from session.record.sharing.claim import Claim
from tests.session.assist.review.example import ERROR
from tests.session.assist.review.test_on_save import MEAN, reviews, save, script
from tests.session.talking import Listening, talking

OLD = "def mean(all):\n    return 0\n"
FILES = ("a.py", "b.py", "c.py", "d.py", "e.py")


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(root), *who, *arguments], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> list[frozenset[str]]:
    """The files of each look at what changed; nothing waits between two reviews."""
    done: list[frozenset[str]] = []
    found = OutsideSaves._found

    def finding(self: OutsideSaves, paths: Collection[str]) -> tuple[str, dict[str, tuple[str, ...]]] | None:
        try:
            return found(self, paths)
        finally:
            done.append(frozenset(paths))

    monkeypatch.setattr(outside, "EVERY_SECONDS", 0.0)
    monkeypatch.setattr(OutsideSaves, "_found", finding)
    return done


@asynccontextmanager
async def watched(folder: Path, *answers: tuple[object, ...]) -> AsyncIterator[Listening]:
    """A session in a repository, which watches what other programs save, with the user at the keys."""
    root = folder / "project"
    root.mkdir()
    for name in FILES:
        (root / name).write_text(OLD)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    git(root, "checkout", "-q", "-b", "other")
    (root / "a.py").write_text("def theirs():\n    return 1\n")
    git(root, "commit", "-qam", "second")
    git(root, "checkout", "-q", "main")
    async with talking(root, script(*answers), rate=100_000.0) as it:
        it.session.assist.watch_saves(lambda: it.session.standing.alone)
        it.session.typing()
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        # The watcher runs once it tells of a change.
        (root / "probe.txt").write_text("x")
        await told(it, "probe.txt")
        yield it


async def told(it: Listening, path: str, times: int = 1) -> None:
    """Wait until the watcher told of a file."""
    async with asyncio.timeout(20):
        while sum(path in event.paths for event in it.all(FilesChanged)) < times:
            await asyncio.sleep(0.01)


async def until(fits: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not fits():
            await asyncio.sleep(0.01)


def asked(it: Listening) -> list[str]:
    """What was sent for each review."""
    return [text for each in it.partner.requests if "Review this change" in (text := str(each.body))]


async def test_what_another_program_saves_is_reviewed_against_head_and_then_against_that(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path, (ERROR,), ()) as it:
        (it.root / "a.py").write_text(MEAN)
        assert (await reviews(it, 1)).files == 1
        assert [found.path for found in it.all(FindingReported)] == ["a.py"]
        (it.root / "a.py").write_text(MEAN + "\n\ndef third():\n    return 3\n")
        await reviews(it, 2)
        first, second = asked(it)
        assert "+" in first and "third" not in first and "third" in second


async def test_a_finding_whose_lines_a_checkout_takes_away_is_outdated(tmp_path: Path) -> None:
    async with watched(tmp_path, (ERROR,)) as it:
        (it.root / "a.py").write_text(MEAN)
        await reviews(it, 1)
        git(it.root, "checkout", "-q", "--", "a.py")
        assert (await it.until(FindingClosed)).how == "outdated"
        assert len(it.all(SaveReviewed)) == 1


async def test_what_a_checkout_or_many_changes_at_once_write_is_not(
    tmp_path: Path, looks: list[frozenset[str]]
) -> None:
    async with watched(tmp_path, ()) as it:
        git(it.root, "checkout", "-q", "other")
        await until(lambda: any("a.py" in paths for paths in looks))
        for name in FILES:
            (it.root / name).write_text("def formatted():\n    return 2\n")
        await until(lambda: "e.py" in looks[-1])
        (it.root / "b.py").write_text(OLD + "\n\ndef mine():\n    return 4\n")
        assert (await reviews(it, 1)).files == 1
        (sent,) = asked(it)
        assert "mine" in sent and "theirs" not in sent and "formatted" not in sent


async def test_what_spark_saved_or_landed_is_not_taken_for_another_program_s(tmp_path: Path) -> None:
    async with watched(tmp_path, ()) as it:
        await save(it, MEAN, "b.py")
        await reviews(it, 1)
        it.session.submit("repaint")
        await it.until(TurnEnded)
        await told(it, "a.py")
        (it.root / "c.py").write_text(OLD + "\n\ndef mine():\n    return 4\n")
        assert (await reviews(it, 2)).files == 2, "the hunk's file is reviewed with the next save"
        await told(it, "c.py")
        assert len(asked(it)) == len(it.all(SaveReviewed)) == 2


async def test_nothing_is_reviewed_where_reviews_are_off_or_nobody_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with watched(tmp_path, ()) as it:
        it.session.assist.review.use(Mode.OFF)
        (it.root / "a.py").write_text(MEAN)
        await told(it, "a.py")
        it.session.assist.review.use(Mode.ON)
        monkeypatch.setattr("session.assist.side_requests.ELSEWHERE_SECONDS", 0.0)
        monkeypatch.setattr("session.assist.side_requests.AWAY_SECONDS", 0.0)
        (it.root / "b.py").write_text(MEAN)
        assert (await reviews(it, 1)).stopped == "nobody types"
        assert not asked(it)


async def test_another_spark_reviews_its_own_saves(tmp_path: Path, looks: list[frozenset[str]]) -> None:
    async with watched(tmp_path, ()) as it:
        claim = Claim(it.session.folders.live, "20200101-000000-abcd")
        (it.root / "a.py").write_text(MEAN)
        await until(lambda: any("a.py" in paths for paths in looks))
        claim.release()
        (it.root / "b.py").write_text(MEAN)
        assert (await reviews(it, 1)).files == 1
        (sent,) = asked(it)
        assert "b.py" in sent and "a.py" not in sent
