"""Locks hold for every command that lands edits."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from edits.files.aliases import aliases
from edits.guards.protection import LockedLines
from session.base.events import HunkRefused
from session.commands.apply import apply_stream
from session.project.locks import LockError, LockStore
from session.project.workspace import open_workspace
from tests.conftest import RunSpark

PATCH = """\
*** Begin Patch
*** Update File: app.py
@@
-    return 'Hello ' + name
+    return 'Good day ' + name
*** Update File: notes.md
@@
-second
+SECOND
*** End Patch
"""


def store(project: Path, own_folders: Path, files: Callable[[], Iterable[str]] | None = None) -> LockStore:
    workspace = open_workspace(project)
    return LockStore(project, workspace.folders.state, files or workspace.files)


def applied(project: Path) -> list[HunkRefused]:
    """What is refused when the patch is applied to the project as it is."""
    events = apply_stream(open_workspace(project), io.BytesIO(PATCH.encode()), "auto")
    return [event for event in events if isinstance(event, HunkRefused)]


def test_apply_refuses_what_is_locked_and_lands_the_rest(
    project: Path, own_folders: Path, run_spark: RunSpark
) -> None:
    store(project, own_folders).add("app.py:2")
    ran = run_spark("apply", "-C", str(project), given=PATCH)
    assert ran.code == 1
    assert "refused app.py: lines 2-2 of app.py are locked" in ran.out
    assert "Hello" in (project / "app.py").read_text()
    assert "SECOND" in (project / "notes.md").read_text()


def test_locked_lines_are_known_by_their_text_when_lines_come_above(project: Path, own_folders: Path) -> None:
    store(project, own_folders).add("app.py:2")
    (project / "app.py").write_text("# above\n\n" + (project / "app.py").read_text())
    assert [each.path for each in applied(project)] == ["app.py"]
    assert "Hello" in (project / "app.py").read_text()


@pytest.mark.parametrize(
    "damage", ["not json", "[]", "[" * 100_000, '{"paths": 3}', '{"paths": [], "lines": [{}]}']
)
def test_damaged_locks_are_an_error_and_never_taken_for_none(
    project: Path, own_folders: Path, damage: str
) -> None:
    locks = store(project, own_folders)
    locks.add("app.py")
    (file,) = own_folders.rglob("locks.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(damage)
    with pytest.raises(LockError, match=r"locks\.json"):
        locks.read()
    before = (project / "app.py").read_text()
    with pytest.raises(LockError, match=r"locks\.json"):
        applied(project)
    assert (project / "app.py").read_text() == before


def test_apply_ends_where_the_locks_are_damaged(
    project: Path, own_folders: Path, run_spark: RunSpark
) -> None:
    store(project, own_folders).add("app.py")
    (file,) = own_folders.rglob("locks.json")
    file.write_text("not json")
    ran = run_spark("apply", "-C", str(project), given=PATCH)
    assert ran.code == 3 and "locks.json" in ran.err
    assert "Hello" in (project / "app.py").read_text()


def test_a_lock_set_twice_is_there_once_and_all_are_taken_away(project: Path, own_folders: Path) -> None:
    locks = store(project, own_folders)
    locks.add("src/*.py")
    locks.add("src/*.py")
    locks.add("notes.md:1-3")
    assert locks.shown() == ("src/*.py", "notes.md:1-3")
    locks.remove("notes.md:1-3")
    assert locks.shown() == ("src/*.py",)
    locks.remove("all")
    assert locks.shown() == ()


@pytest.mark.parametrize("spelled", ["./app.py", "src/../app.py", "{root}/app.py", "{root}//./app.py"])
def test_a_path_is_locked_however_it_is_written(project: Path, own_folders: Path, spelled: str) -> None:
    locks = store(project, own_folders)
    assert locks.add(spelled.format(root=project)) == "app.py is locked"
    assert locks.shown() == ("app.py",)
    (refused,) = applied(project)
    assert "app.py is locked by the user (app.py)" in refused.message
    assert locks.remove(spelled.format(root=project)) == "app.py is no longer locked"
    assert locks.shown() == ()


def test_locks_that_were_kept_as_typed_hold(project: Path, own_folders: Path) -> None:
    locks = store(project, own_folders)
    locks.add("app.py")
    (file,) = own_folders.rglob("locks.json")
    file.write_text(json.dumps({"paths": ["./app.py", "/elsewhere"], "lines": []}))
    assert [each.path for each in applied(project)] == ["app.py"]
    assert locks.shown() == ("app.py", "/elsewhere")
    locks.remove("/elsewhere")
    locks.remove("app.py")
    assert locks.shown() == ()


def test_a_project_reached_through_a_link_takes_absolute_paths(
    project: Path, own_folders: Path, tmp_path: Path
) -> None:
    (tmp_path / "way").symlink_to(project)
    assert store(project, own_folders).add(f"{tmp_path}/way/*.py") == "*.py is locked"


@pytest.mark.parametrize("target", ["../other.py", "/etc/passwd", "/etc/*.py", "out/a.py", "out", "", "a\nb"])
def test_what_is_outside_the_project_is_not_locked(
    project: Path, own_folders: Path, tmp_path: Path, target: str
) -> None:
    (project / "out").symlink_to(tmp_path)
    locks = store(project, own_folders)
    with pytest.raises(LockError, match=r"outside the project|is not a file name"):
        locks.add(target)
    for lines in ("../other.py:1", "/etc/passwd:1-2"):
        with pytest.raises(LockError, match="outside the project"):
            locks.add(lines)
    assert locks.shown() == ()


@pytest.mark.parametrize(
    ("target", "missing"),
    [
        ("new.py", "no such file yet"),
        ("made/new.py", "no such file yet"),
        ("made/*.rs", "matches no listed file yet"),
    ],
)
def test_a_lock_on_a_name_that_has_no_file_yet_says_so_and_holds(
    project: Path, own_folders: Path, target: str, missing: str
) -> None:
    locks = store(project, own_folders)
    assert locks.add(target) == f"{target} is locked ({missing})"
    name = target.replace("*", "x")
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("x")
    assert locks.read().of_file(aliases(project, name)) == (target, name)
    assert locks.add(target) == f"{target} is locked"


def test_a_pattern_is_compared_to_the_listed_files_alone(project: Path, own_folders: Path) -> None:
    (project / "made").mkdir()
    (project / "made" / "new.rs").write_text("x")
    listed: list[str] = []
    locks = store(project, own_folders, lambda: listed)
    assert locks.add("made/*.rs") == "made/*.rs is locked (matches no listed file yet)"
    listed.append("made/new.rs")
    assert locks.add("made/*.rs") == "made/*.rs is locked"
    assert locks.read().of_file(aliases(project, "made/new.rs")) is not None


def test_lines_of_a_file_that_is_not_there_are_not_locked(project: Path, own_folders: Path) -> None:
    with pytest.raises(LockError, match=r"new\.py does not exist"):
        store(project, own_folders).add("new.py:1-2")


def test_a_file_whose_name_looks_like_a_pattern_or_like_lines_is_locked_by_it(
    project: Path, own_folders: Path
) -> None:
    locks = store(project, own_folders)
    for name in ("[id].py", "a:1"):
        (project / name).write_text("x\n")
        assert locks.add(name) == f"{name} is locked"
    assert locks.read().of_file(aliases(project, "[id].py")) is not None


def test_only_the_lines_named_are_unlocked(project: Path, own_folders: Path) -> None:
    (project / "a.py").write_text("".join(f"line {number}\n" for number in range(1, 11)))
    locks = store(project, own_folders)
    locks.add("notes.md:1")
    locks.add("a.py:2-8")
    assert locks.remove("./a.py:4-5") == "lines 4-5 of a.py are no longer locked"
    assert locks.shown() == ("notes.md:1-1", "a.py:2-3", "a.py:6-8")
    assert locks.read().lines[1:] == (
        LockedLines("a.py", 1, ("line 2", "line 3")),
        LockedLines("a.py", 5, ("line 6", "line 7", "line 8")),
    )
    with pytest.raises(LockError, match=r"lines 9-10 of a\.py are not locked"):
        locks.remove("a.py:9-10")
    locks.remove("a.py:1-7")
    assert locks.shown() == ("notes.md:1-1", "a.py:8-8")
    locks.remove("a.py")
    assert locks.shown() == ("notes.md:1-1",)


def test_locked_lines_are_shown_and_unlocked_where_they_are_now(project: Path, own_folders: Path) -> None:
    (project / "a.py").write_text("one\ntwo\nthree\n")
    locks = store(project, own_folders)
    locks.add("a.py:1-2")
    (project / "a.py").write_text("zero\n\none\ntwo\nthree\n")
    assert locks.shown() == ("a.py:3-4",)
    with pytest.raises(LockError):
        locks.remove("a.py:1-2")
    locks.remove("a.py:4")
    assert locks.shown() == ("a.py:3-3",)
    locks.add("a.py")
    with pytest.raises(LockError, match=r"the lock on a\.py holds all of it"):
        locks.remove("a.py:5")
