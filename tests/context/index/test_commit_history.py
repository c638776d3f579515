from __future__ import annotations

from context.disk.git import Git
from context.index.commit_history import History, parse_log, read_history
from context.project.project import Project
from tests.context.conftest import Repo


def test_files_that_change_together_are_found(repo: Repo) -> None:
    repo.commit(**{"a.py": "0", "b.py": "0", "c.py": "0"})
    for at in range(3):
        repo.commit(**{"a.py": f"a{at}", "b.py": f"b{at}"})
    repo.commit(**{"c.py": "1"})
    repo.commit(**{"a.py": "last", "c.py": "2"})
    together = Project(repo.root).scan().history.together(["a.py"])
    assert set(together) == {"b.py", "c.py"}
    assert 1 > together["b.py"] > together["c.py"] > 0


def test_the_first_commit_and_huge_ones_are_ignored(repo: Repo) -> None:
    repo.commit(**{"a.py": "0", "b.py": "0"})
    repo.commit(**{f"f{at}.py": "1" for at in range(40)}, **{"a.py": "1"})
    assert Project(repo.root).scan().history.together(["a.py"]) == {}


def test_history_is_extended_and_follows_a_branch_switch(repo: Repo) -> None:
    repo.commit(**{"a.py": "0", "b.py": "0", "c.py": "0"})
    repo.commit(**{"a.py": "1", "b.py": "1"})
    git = Git.open(repo.root)
    first = read_history(git, History())
    assert read_history(git, first) is first
    repo.git("checkout", "-q", "-b", "other")
    repo.commit(**{"a.py": "2", "c.py": "2"})
    second = read_history(git, first)
    assert second.commits == (("a.py", "c.py"), ("a.py", "b.py"))
    repo.git("checkout", "-q", "main")
    third = read_history(git, second)
    assert third.commits == first.commits and third.head == first.head


def test_a_repository_without_commits_has_no_history(repo: Repo) -> None:
    assert read_history(Git.open(repo.root), History()) == History()
    snapshot = Project(repo.root).scan()
    assert snapshot.history == History() and not snapshot.notes


def test_a_folder_inside_the_repository_sees_its_own_paths(repo: Repo) -> None:
    repo.commit(**{"sub/a.py": "0", "out.py": "0"})
    repo.commit(**{"sub/a.py": "1", "sub/b.py": "1", "out.py": "1"})
    assert Project(repo.root / "sub").scan().history.commits == (("a.py", "b.py"),)


def test_names_with_any_characters() -> None:
    log = b"\x01Say it\n\x02\0\na b.py\0c\xff.py\0\x01none\x02\0\x01\x02\0\nd.py\0"
    assert parse_log(log) == ((("a b.py", "c\udcff.py"), "Say it"), (("d.py",), ""))
