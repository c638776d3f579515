"""Guards: what is held back, what a user's word lets through, and what is known while a hunk streams."""

from __future__ import annotations

from pathlib import Path

import pytest

from edits.files.tree import Tree
from edits.guards.manifests import read_manifest
from edits.guards.protection import LockedLines, Locks, Protection
from edits.hunk import (
    Action,
    Format,
    Guard,
    Held,
    Hunk,
    HunkLine,
    Landed,
    LineKind,
    RefusalCode,
    Refused,
    Status,
)
from edits.landing import Landing
from tests.edits.helpers import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def guarded(project: Project, protection: Protection) -> Landing:
    return Landing(project.root, project.ledger, protection=protection)


def edit(path: str, *lines: str) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


def add(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.ADD, Format.V4A, tuple(HunkLine(LineKind.NEW, line) for line in lines))


def held(landing: Landing, project: Project, hunk: Hunk, guard: Guard) -> Held:
    """The hunk is held and nothing written; it lands once its guard is allowed, and only then."""
    before = project.read()
    result = landing.land(hunk, hunk_id="h1")
    assert isinstance(result, Held), result
    assert (result.guards, result.code, result.hunk) == ((guard,), RefusalCode.LOCKED, "h1")
    others = frozenset(Guard) - {guard}
    assert isinstance(landing.land(hunk, hunk_id="h1", allow=others), Held)
    assert project.read() == before and project.ledger.entries() == []
    assert isinstance(landing.land(hunk, hunk_id="h1", allow={guard}), Landed)
    assert project.read() != before
    return result


@pytest.mark.parametrize("lock", ["src/a.py", "src", "src/", "src/*.py", "*.py"])
def test_a_locked_path_is_held(project: Project, lock: str) -> None:
    project.write({"src/a.py": "x\n", "b.txt": "x\n"})
    landing = guarded(project, Protection(Locks(paths=(lock,))))
    assert isinstance(landing.land(edit("b.txt", "-x", "+y"), hunk_id="h0"), Landed)
    assert isinstance(landing.undo("h0"), Landed)
    fresh = Project(project.folder / "fresh")
    fresh.write({"src/a.py": "x\n"})
    result = held(
        guarded(fresh, Protection(Locks(paths=(lock,)))), fresh, edit("src/a.py", "-x", "+y"), Guard.LOCKED
    )
    assert lock in result.message


def test_a_move_to_a_locked_path_and_a_deletion_in_it_are_held(project: Project) -> None:
    project.write({"a.py": "x\n", "kept/b.py": "x\n"})
    landing = guarded(project, Protection(Locks(paths=("kept",))))
    for hunk in (
        Hunk("a.py", Action.MOVE, Format.V4A, move_to="kept/a.py"),
        Hunk("kept/b.py", Action.DELETE, Format.V4A),
        add("kept/new.py", "x"),
    ):
        assert isinstance(landing.land(hunk, hunk_id="h1"), Held)
    assert project.read() == {"a.py": "x\n", "kept/b.py": "x\n"}


def test_locked_lines_are_held_wherever_they_are_now(project: Project) -> None:
    project.write({"a.py": "one\ntwo\nthree\nfour\n"})
    locks = Locks(lines=(LockedLines("a.py", 1, ("two", "three")),))
    landing = guarded(project, Protection(locks))
    assert isinstance(landing.land(edit("a.py", "-one", "+1", "+1.5"), hunk_id="h0"), Landed)
    assert isinstance(landing.land(edit("a.py", " three", "+3.5", " four"), hunk_id="h2"), Landed)
    for hunk in (edit("a.py", "-two", "+2"), edit("a.py", " two", "+2.5", " three"), edit("a.py", "-three")):
        result = landing.land(hunk, hunk_id="h3")
        assert isinstance(result, Held) and "lines 3-4" in result.message
    assert isinstance(landing.land(Hunk("a.py", Action.DELETE, Format.V4A), hunk_id="h4"), Held)


def test_a_secret_is_held(project: Project) -> None:
    project.write({".env": "KEY=1\n", ".env.example": "KEY=\n", "config/.env.local": "KEY=1\n"})
    landing = guarded(project, Protection(secret=lambda path: path == ".env"))
    for path, old in ((".env.example", "KEY="), ("config/.env.local", "KEY=1")):
        assert isinstance(landing.land(edit(path, f"-{old}", "+KEY=2"), hunk_id="h0", dry_run=True), Landed)
    held(landing, project, edit(".env", "-KEY=1", "+KEY=2"), Guard.SECRET)


def test_a_large_deletion_is_held_and_a_rewrite_is_not(project: Project) -> None:
    lines = [f"line {number}" for number in range(9)]
    project.write({"a.txt": "".join(f"{line}\n" for line in lines), "b.txt": "x\n" * 5})
    landing = guarded(project, Protection(most_deleted=4))
    rewrite = edit("a.txt", *(f"-{line}" for line in lines), *(f"+{line}!" for line in lines))
    assert isinstance(landing.land(rewrite, hunk_id="h0", dry_run=True), Landed)
    assert isinstance(landing.land(Hunk("b.txt", Action.DELETE, Format.V4A), hunk_id="h2"), Held)
    fresh = guarded(project, Protection(most_deleted=4))
    held(fresh, project, edit("a.txt", *(f"-{line}" for line in lines[:5])), Guard.DELETES)


def test_a_new_dependency_is_held_and_a_new_version_is_not(project: Project) -> None:
    project.write({"requirements.txt": "one==1\n"})
    landing = guarded(project, Protection())
    version = edit("requirements.txt", "-one==1", "+One==2")
    assert isinstance(landing.land(version, hunk_id="h0", dry_run=True), Landed)
    result = held(
        guarded(project, Protection()), project, edit("requirements.txt", " one==1", "+two"), Guard.DEPENDENCY
    )
    assert "two" in result.message


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("pyproject.toml", '[project]\ndependencies = ["A_b>=1", "c[x]"]\n', {"a-b", "c"}),
        ("pyproject.toml", '[dependency-groups]\ndev = ["d", {include-group = "e"}]\n', {"d"}),
        ("pyproject.toml", '[tool.poetry.group.dev.dependencies]\nF = "1"\n', {"f"}),
        ("package.json", '{"dependencies": {"a": "1"}, "devDependencies": {"b": "1"}}', {"a", "b"}),
        ("Cargo.toml", '[target.x.dependencies]\nlibc = "0"\n[dev-dependencies]\nx = "1"\n', {"libc", "x"}),
        ("go.mod", "module m\nrequire (\n\tgithub.com/a/b v1.2.3\n)\nrequire golang.org/x/c v0.1.0\n",
         {"github.com/a/b", "golang.org/x/c"}),
        ("requirements-dev.txt", "-r base.txt\n# no\n x-y ~= 1\n", {"x-y"}),
        ("package.json", "[1]", set()),
        ("a.py", "import b", set()),
    ],
)  # fmt: skip
def test_the_dependencies_of_a_manifest(path: str, text: str, names: set[str]) -> None:
    found = read_manifest(path, text)
    assert found is not None and found.names == names


def test_what_a_path_trips_is_known_while_the_hunk_streams(project: Project) -> None:
    project.write({"a.py": "one\n", "kept.py": "x\n", ".env": "x\n"})
    landing = guarded(project, Protection(Locks(paths=("kept.py",)), secret=lambda path: path == ".env"))
    for path in ("../x", ".git/config"):
        result = landing.foresee(path)
        assert isinstance(result, Refused) and not isinstance(result, Held)
        assert result.code is RefusalCode.OUTSIDE_PROJECT
    for path, guard in (("kept.py", Guard.LOCKED), (".env", Guard.SECRET)):
        given = landing.foresee(path)
        assert isinstance(given, Held) and given.guards == (guard,)
    assert landing.foresee("a.py") is None
    assert project.landing.foresee(".env") is None


def test_all_guards_that_a_hunk_trips_are_told_at_once(project: Project) -> None:
    project.write({"requirements.txt": "click\nrich\ntextual\n"})
    landing = guarded(project, Protection(Locks(paths=("*.txt",)), most_deleted=1))
    hunk = edit("requirements.txt", " click", "-rich", "-textual", "+left-pad>=1")
    deletes = edit("requirements.txt", "-click", "-rich", " textual")
    result = landing.land(hunk, hunk_id="h1")
    assert isinstance(result, Held) and result.guards == (Guard.LOCKED, Guard.DEPENDENCY)
    assert result.message == (
        "requirements.txt is locked by the user (*.txt); it adds a dependency: left-pad"
    )
    weighed = landing.weigh(deletes, hunk_id="h2")
    assert isinstance(weighed, Held) and weighed.guards == (Guard.LOCKED, Guard.DELETES)
    for allow in result.guards:
        rest = landing.land(hunk, hunk_id="h1", allow={allow})
        assert isinstance(rest, Held) and set(rest.guards) == {*result.guards} - {allow}
    assert project.ledger.entries() == []
    assert isinstance(landing.land(hunk, hunk_id="h1", allow=result.guards), Landed)


def test_weighing_says_what_landing_would_and_writes_nothing(project: Project) -> None:
    project.write({"a.py": "x\n"})
    landing = guarded(project, Protection())
    before = project.read()
    for hunk in (
        edit("a.py", "-x", "+y"),
        edit("a.py", "-z", "+y"),
        add("b.py", "new"),
        add("../b.py", "new"),
    ):
        weighed = landing.weigh(hunk, hunk_id="h1")
        assert project.read() == before and project.ledger.entries() == []
        dry = guarded(project, Protection()).land(hunk, hunk_id="h1", dry_run=True)
        assert weighed == dry


def links(project: Project) -> None:
    """A locked file and a secret one, and other names for both."""
    project.write({"src/kept.py": "x\n", ".env": "KEY=1\n", "docs/notes.md": "x\n"})
    root = project.root
    (root / "link.py").symlink_to("src/kept.py")
    (root / "linked").symlink_to("src")
    (root / "hard.py").hardlink_to(root / "src/kept.py")
    (root / "docs/env.txt").symlink_to("../.env")
    (root / "docs/hard.txt").hardlink_to(root / ".env")


@pytest.mark.parametrize("path", ["src/kept.py", "link.py", "linked/kept.py", "hard.py", "docs/../link.py"])
@pytest.mark.parametrize(
    "locks",
    [
        Locks(paths=("src/kept.py",)),
        Locks(paths=("src",)),
        Locks(paths=("linked",)),
        Locks(paths=("link.py",)),
        Locks(paths=("hard.py",)),
        Locks(paths=("src/k*.py",)),
        Locks(lines=(LockedLines("src/kept.py", 0, ("x",)),)),
        Locks(lines=(LockedLines("link.py", 0, ("x",)),)),
    ],
)
def test_no_name_of_a_locked_file_gets_around_its_lock(project: Project, path: str, locks: Locks) -> None:
    links(project)
    landing = guarded(project, Protection(locks))
    result = landing.land(edit(path, "-x", "+y"), hunk_id="h1")
    assert isinstance(result, Held) and result.guards == (Guard.LOCKED,)
    assert (landing.foresee(path) is not None) == bool(locks.paths)
    assert (project.root / "src/kept.py").read_text() == "x\n"
    assert isinstance(landing.land(edit("docs/notes.md", "-x", "+y"), hunk_id="h2"), Landed)


@pytest.mark.parametrize("path", ["docs/env.txt", "docs/hard.txt"])
def test_no_name_of_a_secret_file_gets_around_its_guard(project: Project, path: str) -> None:
    links(project)
    landing = guarded(project, Protection(secret=lambda path: path == ".env"))
    assert isinstance(landing.foresee(path), Held)
    result = held(landing, project, edit(path, "-KEY=1", "+KEY=2"), Guard.SECRET)
    assert result.message == f"{path} is .env, which may hold secrets, and is not in git"


def test_where_case_is_ignored_a_lock_holds_every_spelling(project: Project) -> None:
    """Links from the other spelling make this folder behave as a file system that ignores case."""
    project.write({"Src/a.py": "x\n"})
    (project.root / "sRC").symlink_to("Src")
    (project.root / "Src/A.PY").symlink_to("a.py")
    for lock in ("src", "SRC/A.py", "src/*.PY", "SRC/new.py"):
        landing = guarded(project, Protection(Locks(paths=(lock,))))
        edits = [add("Src/New.py", "x")] if "new" in lock else [edit("Src/a.py", "-x", "+y")]
        for hunk in edits:
            assert isinstance(landing.land(hunk, hunk_id="h1"), Held), lock
    other = Project(project.folder / "other")
    other.write({"Src/a.py": "x\n"})
    landing = guarded(other, Protection(Locks(paths=("src", "src/*.PY"))))
    assert isinstance(landing.land(edit("Src/a.py", "-x", "+y"), hunk_id="h1"), Landed)


def test_a_move_that_takes_locked_lines_along_is_held(project: Project) -> None:
    project.write({"a.py": "one\ntwo\n"})
    landing = guarded(project, Protection(Locks(lines=(LockedLines("a.py", 1, ("two",)),))))
    move = Hunk("a.py", Action.MOVE, Format.V4A, move_to="b.py")
    held(landing, project, move, Guard.LOCKED)


@pytest.mark.parametrize(
    "before", [b"one\ntwo\n", b"one\r\ntwo\r\nthree", "\ufeffeins\n".encode("utf-16-le"), b"caf\xe9\n"]
)
def test_a_file_added_over_an_existing_one_is_held_and_undone_byte_for_byte(
    project: Project, before: bytes
) -> None:
    project.write({"a.txt": before})
    landing = guarded(project, Protection(overwrites=True))
    hunk = add("a.txt", "one", "2", "tail")
    result = landing.land(hunk, hunk_id="h1")
    assert isinstance(result, Held) and result.guards == (Guard.OVERWRITES,)
    assert project.read_bytes() == {"a.txt": before}
    landed = landing.land(hunk, hunk_id="h1", allow=result.guards)
    assert isinstance(landed, Landed) and landed.action is Action.UPDATE
    text = Tree(project.root).read_text("a.txt").text
    assert text.replace("\r\n", "\n").rstrip("\n") == "one\n2\ntail"
    again = landing.land(hunk, hunk_id="h2")
    assert isinstance(again, Landed) and again.status is Status.ALREADY_APPLIED
    assert isinstance(landing.undo("h1"), Landed)
    assert project.read_bytes() == {"a.txt": before}


def test_a_file_added_over_an_existing_one_is_refused_where_nobody_can_be_asked(project: Project) -> None:
    project.write({"a.txt": "one\n", "empty.txt": ""})
    for landing in (project.landing, guarded(project, Protection(Locks(paths=("b",))))):
        result = landing.land(add("a.txt", "two"), hunk_id="h1")
        assert isinstance(result, Refused) and result.code is RefusalCode.EXISTS
        assert not isinstance(result, Held) and "a.txt exists already" in result.message
    same = project.landing.land(add("a.txt", "one"), hunk_id="h2")
    assert isinstance(same, Landed) and same.status is Status.ALREADY_APPLIED
    assert isinstance(project.landing.land(add("empty.txt", "x"), hunk_id="h3"), Landed)
    assert project.read() == {"a.txt": "one\n", "empty.txt": "x\n"}
