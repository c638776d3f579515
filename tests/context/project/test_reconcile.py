"""The snapshot stays correct whatever git does to the folder, and with several processes on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from context.disk.changes import Status
from context.index import index_updater
from context.project.project import Project
from context.project.snapshot import Snapshot
from tests.context.conftest import Repo
from tests.thorough import share

MANY = share(420, 56)
MANY_UNREAD = share(150, 30)
"""The number of files to read from which worker processes are used: fewer than :data:`MANY`."""


def state(snapshot: Snapshot) -> tuple[object, ...]:
    """All data that a window is built from, in a form that can be compared."""
    changes = {path: (change.status, change.base) for path, change in snapshot.changes.items()}
    words = {
        path: round(score, 6) for path, score in snapshot.words.score({"work": 1.0, "item": 2.0}).items()
    }
    return (
        snapshot.paths,
        dict(snapshot.entries),
        changes,
        snapshot.branch,
        dict(snapshot.unread),
        snapshot.history,
        (snapshot.words.files, snapshot.words.length),
        words,
    )


def fresh(root: Path) -> tuple[object, ...]:
    """The state that a new project object finds, which reads all files itself."""
    with pytest.MonkeyPatch.context() as alone:
        alone.setattr(index_updater, "_MANY_UNREAD", MANY * 10)
        return state(Project(root).scan())


def code(name: str) -> str:
    return f"def work_{name}(item):\n    return item\n"


def files(count: int, prefix: str = "") -> dict[str, str]:
    return {f"{prefix}p{at % 7}/m{at}.py": code(f"{prefix.strip('/')}{at}") for at in range(count)}


@pytest.mark.parametrize("cached", [True, False])
def test_branches_rebases_and_mass_renames(
    repo: Repo, tmp_path: Path, cached: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_updater, "_MANY_UNREAD", MANY_UNREAD)
    cache = tmp_path / "cache" if cached else None
    repo.commit(**files(MANY))
    project = Project(repo.root, cache)
    assert state(project.scan()) == fresh(repo.root)
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(**{"p1/m1.py": code("topic"), "new.py": code("new")})
    assert state(project.update([".git/HEAD", "p1/m1.py", "new.py"])) == fresh(repo.root)
    repo.git("checkout", "-q", "main")
    repo.commit(**{"other.py": code("other")})
    assert state(project.reconcile()) == fresh(repo.root)
    repo.git("checkout", "-q", "topic")
    repo.git("rebase", "-q", "main")
    assert state(project.reconcile()) == fresh(repo.root)
    repo.git("checkout", "-q", "-b", "renamed")
    for folder in range(7):
        repo.git("mv", f"p{folder}", f"q{folder}")
    assert state(project.reconcile()) == fresh(repo.root)
    repo.git("commit", "-q", "-m", "rename all")
    assert state(project.update([".git/index", ".git/HEAD"])) == fresh(repo.root)
    repo.git("checkout", "-q", "main")
    assert state(project.reconcile()) == fresh(repo.root)
    project.close()
    assert state(Project(repo.root, cache).scan()) == fresh(repo.root)


def test_changes_without_an_event_are_found(repo: Repo) -> None:
    repo.commit(**files(20))
    project = Project(repo.root)
    project.scan()
    repo.write("p1/m1.py", code("edited"))
    repo.write("untracked.py", code("untracked"))
    (repo.root / "p2/m2.py").unlink()
    found = project.reconcile()
    assert found.entries["p1/m1.py"].names == {"work_edited"}
    assert {path: change.status for path, change in found.changes.items()} == {
        "p1/m1.py": Status.MODIFIED,
        "p2/m2.py": Status.DELETED,
        "untracked.py": Status.UNTRACKED,
    }
    repo.git("checkout", "-q", "--", "p1/m1.py")
    assert project.reconcile().entries["p1/m1.py"].names == {"work_1"}
    repo.write("untracked.py", code("again"))
    assert project.reconcile().entries["untracked.py"].names == {"work_again"}


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_is_back_before_git_is_asked_is_known(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    repo.commit(**{"a.py": "def a(): ...\n", "b.py": "def b(): ...\n"})
    project = Project(repo.root)
    project.scan()
    look = project._updater.stamp_to_read
    looked: list[str] = []

    def looked_too_soon(path: str) -> int | None:
        looked.append(path)
        if len(looked) > times:
            return look(path)
        (repo.root / path).unlink()
        stamp = look(path)
        repo.write(path, "def a(): ...\n")
        return stamp

    monkeypatch.setattr(project._updater, "stamp_to_read", looked_too_soon)
    snapshot = project.update(["a.py"])
    if times > 1:
        # Nobody tells of it again: the next look at the whole finds it.
        snapshot = project.reconcile()
    assert snapshot.paths == ("a.py", "b.py") and snapshot.entries["a.py"].names == {"a"}


def test_changes_without_an_event_are_found_without_git_too(tmp_path: Path) -> None:
    for path, text in files(5).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    project = Project(tmp_path)
    assert not project.scan().git
    (tmp_path / "p1/m1.py").write_text(code("edited"))
    found = project.reconcile()
    assert list(found.changes) == ["p1/m1.py"] and found.entries["p1/m1.py"].names == {"work_edited"}


def test_files_that_the_branch_changed_rank_higher(repo: Repo) -> None:
    repo.commit(**files(4))
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(**{"p1/m1.py": code("topic")})
    repo.write("p2/m2.py", code("unsaved"))
    snapshot = Project(repo.root).scan()
    assert snapshot.branch == {"p1/m1.py"} and list(snapshot.changes) == ["p2/m2.py"]
    assert Project(repo.root / "p1").scan().branch == {"m1.py"}
    repo.git("checkout", "-q", "--detach")
    assert Project(repo.root).scan().branch == frozenset()
    repo.git("checkout", "-q", "topic")
    repo.git("branch", "-q", "-D", "main")
    assert Project(repo.root).scan().branch == frozenset()


def test_the_branch_point_is_found_from_the_remote_main_branch(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**files(4))
    repo.commit(**{"later.py": code("later")})
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.root), str(clone))
    (clone / "p1/m1.py").write_text(code("mine"))
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "mine"], cwd=clone, check=True
    )
    # On main itself, what was not pushed yet.
    assert Project(clone).scan().branch == {"p1/m1.py"}
    shallow = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(shallow))
    snapshot = Project(shallow).scan()
    assert snapshot.branch == frozenset() and "later.py" in snapshot.entries and not snapshot.notes


def test_a_branch_that_changed_very_many_files_is_ignored(repo: Repo) -> None:
    repo.commit(**files(250))
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit(**{path: f"{text}\n# more\n" for path, text in files(250).items()})
    assert Project(repo.root).scan().branch == frozenset()


def test_two_sparks_on_one_project(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**files(MANY))
    script = (
        "import sys; from pathlib import Path; from context.project.project import Project\n"
        "from context.index import index_updater\n"
        "root, cache, who, rounds, index_updater._MANY_UNREAD = *map(Path, sys.argv[1:3]), sys.argv[3],"
        " *map(int, sys.argv[4:])\n"
        "project = Project(root, cache); project.scan()\n"
        "for n in range(rounds):\n"
        "    (root / 'p1/m1.py').write_text(f'def {who}(n): ...\\n' * n)\n"
        "    (root / f'{who}{n}.py').write_text(f'def {who}_{n}(): ...\\n')\n"
        "    s = project.update([f'{who}{n}.py'])\n"
        "    assert s.entries[f'{who}{n}.py'].names == {f'{who}_{n}'}, s.entries[f'{who}{n}.py']\n"
        "    project.close(); project = Project(root, cache); s = project.scan()\n"
        "    assert len(s.entries) == len(s.paths) > n, s.paths\n"
        "    assert all(s.entries[path].outline for path in s.paths if path != 'p1/m1.py'), s.paths\n"
        "project.close()\n"
    )
    command = [sys.executable, "-c", script, str(repo.root), str(tmp_path / "cache")]
    running = [
        subprocess.Popen(
            [*command, who, str(share(8, 3)), str(MANY_UNREAD)],
            stderr=subprocess.PIPE,
        )
        for who in ("one", "two")
    ]
    for process in running:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors.decode()
    assert state(Project(repo.root, tmp_path / "cache").scan()) == fresh(repo.root)


def test_worktrees_are_projects_of_their_own(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**files(6))
    tree = tmp_path / "tree"
    repo.git("worktree", "add", "-q", "-b", "topic", str(tree))
    (tree / "p1/m1.py").write_text(code("tree"))
    cache = tmp_path / "cache"
    here, there = Project(repo.root, cache).scan(), Project(tree, cache).scan()
    assert not here.changes and list(there.changes) == ["p1/m1.py"]
    assert here.entries["p1/m1.py"].names == {"work_1"} and there.entries["p1/m1.py"].names == {"work_tree"}


def test_submodules_and_nested_repositories_are_named_but_not_read(repo: Repo, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    Repo(inner).commit(**{"lib.py": code("lib")})
    repo.commit(**files(3))
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendor/inner")
    repo.git("commit", "-q", "-m", "with a submodule")
    nested = repo.root / "nested"
    nested.mkdir()
    Repo(nested).commit(**{"own.py": code("own")})
    (repo.root / "vendor/inner/lib.py").write_text(code("changed"))
    snapshot = Project(repo.root).scan()
    assert {*snapshot.entries} == {*files(3), ".gitmodules"}
    own = "a folder with a repository of its own"
    assert dict(snapshot.unread) == {"nested": own, "vendor/inner": own}
    assert not snapshot.changes
    inside = Project(repo.root / "vendor/inner").scan()
    assert list(inside.changes) == ["lib.py"]


def test_a_sparse_checkout_has_the_files_that_are_there(repo: Repo) -> None:
    repo.commit(**files(14))
    repo.git("sparse-checkout", "set", "p1", "p2")
    project = Project(repo.root)
    snapshot = project.scan()
    assert {path.split("/")[0] for path in snapshot.paths} == {"p1", "p2"}
    assert not snapshot.changes and not snapshot.unread
    repo.git("sparse-checkout", "disable")
    assert state(project.reconcile()) == fresh(repo.root)
    assert len(project.snapshot.entries) == 14


def test_ignored_files_stay_out_and_come_in_when_the_rule_goes(repo: Repo) -> None:
    repo.commit(**{"a.py": code("a"), ".gitignore": "out/\n*.log\n"})
    repo.write("out/b.py", code("b"))
    repo.write("x.log", "work\n")
    project = Project(repo.root)
    assert {*project.scan().paths} == {"a.py", ".gitignore"}
    assert {*project.update(["out/b.py", "x.log"]).paths} == {"a.py", ".gitignore"}
    repo.write(".gitignore", "*.log\n")
    assert {*project.reconcile().paths} == {"a.py", ".gitignore", "out/b.py"}


def test_a_file_that_became_another_in_the_same_moment_is_read_again(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**{"a.py": code("aaa")})
    project = Project(repo.root, tmp_path / "cache")
    project.scan()
    about = (repo.root / "a.py").stat()
    repo.write("a.py", code("bbb"))
    os.utime(repo.root / "a.py", ns=(about.st_atime_ns, about.st_mtime_ns))
    project.close()
    assert Project(repo.root, tmp_path / "cache").scan().entries["a.py"].names == {"work_bbb"}
