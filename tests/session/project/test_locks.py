"""What the user locked is kept for every command that lands edits."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from session.project.locks import LockError, LockStore
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


def store(project: Path, own_folders: Path) -> LockStore:
    from session.storage.folders import project_folders

    return LockStore(project, project_folders(project).state)


def test_apply_refuses_what_is_locked_and_lands_the_rest(
    project: Path, own_folders: Path, run_spark: RunSpark
) -> None:
    store(project, own_folders).add("app.py:2")
    ran = run_spark("apply", "-C", str(project), given=PATCH)
    assert ran.code == 1
    assert "(locked)" in ran.out and "lines 2-2 of app.py are locked" in ran.out
    assert "Hello" in (project / "app.py").read_text()
    assert "SECOND" in (project / "notes.md").read_text()


def test_locked_lines_are_known_by_their_text_when_lines_come_above(
    project: Path, own_folders: Path, run_spark: RunSpark
) -> None:
    store(project, own_folders).add("app.py:2")
    (project / "app.py").write_text("# above\n\n" + (project / "app.py").read_text())
    assert run_spark("apply", "-C", str(project), given=PATCH).code == 1
    assert "Hello" in (project / "app.py").read_text()


@pytest.mark.parametrize(
    "damage", ["not json", "[]", "[" * 100_000, '{"paths": 3}', '{"paths": [], "lines": [{}]}']
)
def test_damaged_locks_are_said_and_never_taken_for_none(
    project: Path, own_folders: Path, run_spark: RunSpark, damage: str
) -> None:
    locks = store(project, own_folders)
    locks.add("app.py")
    (file,) = own_folders.rglob("locks.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text(damage)
    with pytest.raises(LockError, match=r"locks\.json"):
        locks.read()
    before = (project / "app.py").read_text()
    ran = run_spark("apply", "-C", str(project), given=PATCH)
    assert ran.code == 3 and "locks.json" in ran.err
    assert (project / "app.py").read_text() == before


def test_a_lock_set_twice_is_there_once_and_all_are_taken_away(project: Path, own_folders: Path) -> None:
    locks = store(project, own_folders)
    locks.add("src/*.py")
    locks.add("src/*.py")
    locks.add("notes.md:1-3")
    assert locks.shown() == ("src/*.py", "notes.md:1-3")
    locks.remove("notes.md:1")
    assert locks.shown() == ("src/*.py",)
    locks.remove("all")
    assert locks.shown() == ()
