"""Git that fails: it is told once, asked again after a pause that grows, and told when it answers again."""

from __future__ import annotations

from pathlib import Path

import pytest

import context.disk.git
import context.disk.git_changes
import context.index.commit_history
import context.project.git_uses
from context.disk.git import GitUnavailable
from context.project.git_uses import FIRST_PAUSE, LONGEST_PAUSE, GitUses
from context.project.project import Project
from tests.context.conftest import Repo
from tests.thorough import share


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(context.project.git_uses, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def slow(words: str = "git log took more than 5 s") -> GitUnavailable:
    problem = GitUnavailable(words)
    problem.slow = True
    return problem


def test_the_pause_grows_until_git_answers(clock: Clock) -> None:
    use = GitUses().history
    pauses: list[float] = []
    for _ in range(8):
        use.begin()
        use.failed(slow())
        began = clock.now
        with pytest.raises(GitUnavailable):
            use.begin()
        while not use.due:
            clock.now += 1.0
        pauses.append(clock.now - began)
    assert pauses == [10.0, 20.0, 40.0, 80.0, 160.0, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    use.worked()
    use.begin()
    use.failed(slow())
    clock.now += FIRST_PAUSE
    assert use.due


def test_git_that_says_what_is_wrong_is_asked_at_any_time_and_by_itself_after_pauses(clock: Clock) -> None:
    uses = GitUses()
    waits = [uses.again_in]
    for number in range(7):
        uses.files.begin()
        uses.files.failed(GitUnavailable(f"git status failed: the index is damaged ({number})"))
        waits.append(uses.again_in)
        assert uses.files.due
        clock.now += uses.again_in or 0.0
        assert uses.again_in == 0.0
    assert waits == [None, 10.0, 20.0, 40.0, 80.0, 160.0, LONGEST_PAUSE, LONGEST_PAUSE]

    uses.files.failed(slow())
    waits = [uses.again_in]
    assert not uses.files.due
    uses.history.failed(GitUnavailable("git log failed: an object is damaged"))
    uses.files.failed(GitUnavailable("the folder is not in a git work tree", expected=True))
    waits.append(uses.again_in)
    uses.files.worked()
    waits.append(uses.again_in)
    uses.history.worked()
    waits.append(uses.again_in)
    assert waits == [FIRST_PAUSE, None, FIRST_PAUSE, None]


def test_a_failure_is_told_once_and_so_is_its_end(clock: Clock) -> None:
    uses = GitUses()
    for words in ("git status took more than 20 s", "git ls-files took more than 20 s"):
        uses.files.failed(slow(words))
        clock.now += LONGEST_PAUSE
    (told,) = uses.take_news()
    assert "git status took more than 20 s; without git" in told
    uses.files.failed(GitUnavailable("git status failed: the index is damaged"))
    uses.files.failed(GitUnavailable("git status failed: the index is damaged"))
    (told,) = uses.take_news()
    assert "the index is damaged" in told and uses.notes[0] == told
    uses.files.worked()
    uses.files.worked()
    (told,) = uses.take_news()
    assert "answers again" in told and not uses.notes


def test_a_folder_without_a_repository_is_no_failure() -> None:
    uses = GitUses()
    uses.files.failed(GitUnavailable("the folder is not in a git work tree", expected=True))
    uses.files.worked()
    assert not uses.take_news()
    assert not uses.notes


def tree_bomb(repo: Repo) -> str:
    """A commit after HEAD with ten folders, each ten times in the next: 10,000 million files."""
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    made = _tree(repo, [f"100644 blob {blob}\tf{at}" for at in range(10)])
    for _ in range(9):
        made = _tree(repo, [f"040000 tree {made}\td{at}" for at in range(10)])
    top = _tree(repo, [f"100644 blob {blob}\ta.py", f"040000 tree {made}\tz"])
    return repo.git("commit-tree", top, "-p", "HEAD", "-m", "bomb").strip()


def _tree(repo: Repo, entries: list[str]) -> str:
    return repo.git("mktree", stdin="".join(f"{entry}\n" for entry in entries)).strip()


def test_a_commit_that_stands_for_files_without_end_is_named(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    repo.git("update-ref", "refs/heads/main", tree_bomb(repo))
    monkeypatch.setattr(context.disk.git, "_PATIENCE", 0.3)
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"] and "more than 10 million files" in snapshot.notes[0]


def test_such_a_commit_is_named_though_it_has_thousands_of_ordinary_folders(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    folders = "\n".join(f"100644 blob {blob}\tf{at}\n" for at in range(share(6_000, 1_500)))
    made = repo.git("mktree", "--batch", stdin=folders).split()
    bomb = repo.git("rev-parse", f"{tree_bomb(repo)}:z").strip()
    inside = _tree(repo, [f"040000 tree {name}\td{at}" for at, name in enumerate([*made, bomb])])
    top = _tree(repo, [f"100644 blob {blob}\ta.py", f"040000 tree {inside}\tz"])
    repo.git("update-ref", "refs/heads/main", repo.git("commit-tree", top, "-m", "bomb").strip())
    monkeypatch.setattr(context.disk.git, "_PATIENCE", 0.3)
    monkeypatch.setattr(context.disk.git, "_LOOKING", 60.0)  # a busy machine reads far fewer in its seconds
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"] and "more than 10 million files" in snapshot.notes[0]


def test_past_commits_without_end_hold_up_one_scan_and_are_told(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, clock: Clock, git_asked: list[str]
) -> None:
    repo.commit(**{"a.py": "a = 1\n", "b.py": "b = 1\n"})
    repo.commit(**{"a.py": "a = 2\n", "b.py": "b = 2\n"})
    plain = repo.git("rev-parse", "HEAD").strip()
    bomb = tree_bomb(repo)
    gone = repo.git("commit-tree", "HEAD^{tree}", "-p", bomb, "-m", "gone").strip()
    repo.git("update-ref", "refs/heads/main", gone)
    monkeypatch.setattr(context.index.commit_history, "HELPFUL", 0.3)
    monkeypatch.setattr(context.disk.git, "_PATIENCE", 0.2)
    project = Project(repo.root)
    snapshot = project.scan()
    assert snapshot.git and snapshot.complete and not snapshot.history.commits
    assert snapshot.notes == project.take_news() and "git log took more than" in snapshot.notes[0]

    git_asked.clear()
    assert project.reconcile().notes == snapshot.notes and "log" not in git_asked
    clock.now += FIRST_PAUSE
    project.reconcile()
    assert "log" in git_asked and project.take_news() == ()

    repo.git("update-ref", "refs/heads/main", plain)
    clock.now += LONGEST_PAUSE
    monkeypatch.undo()
    now = project.reconcile()
    assert now.history.commits == (("a.py", "b.py"),) and now.notes == ()
    assert project.take_news() == ("git answers again about past commits",)


def test_a_branch_without_end_is_told(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    bomb = tree_bomb(repo)
    gone = repo.git("commit-tree", "HEAD^{tree}", "-p", bomb, "-m", "gone").strip()
    repo.git("checkout", "-q", "-b", "work", gone)
    repo.git("update-ref", "refs/heads/main", bomb)
    monkeypatch.setattr(context.disk.git, "_PATIENCE", 0.2)
    monkeypatch.setattr(context.disk.git_changes, "HELPFUL", 0.3)
    monkeypatch.setattr(context.index.commit_history, "HELPFUL", 0.3)
    snapshot = Project(repo.root).scan()
    assert snapshot.git and snapshot.branch == frozenset()
    assert "git diff-tree took more than" in snapshot.notes[0]


def test_a_damaged_history_is_told(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n", "b.py": "b = 1\n"})
    old = repo.git("rev-parse", "HEAD").strip()
    repo.commit(**{"a.py": "a = 2\n", "b.py": "b = 2\n"})
    file = _object(repo, old)
    kept = file.read_bytes()
    file.chmod(0o600)
    file.write_bytes(b"nonsense")
    project = Project(repo.root)
    snapshot = project.scan()
    assert snapshot.git and "past commits do not help" in snapshot.notes[0]
    file.write_bytes(kept)
    assert project.reconcile().history.commits == (("a.py", "b.py"),)
    assert project.take_news()[-1] == "git answers again about past commits"


def _object(repo: Repo, name: str) -> Path:
    return repo.root / ".git" / "objects" / name[:2] / name[2:]
