"""``spark diff`` on real hunks, and its patch in the hands of ``git apply``."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import RunSpark


def block(path: str, old: str, new: str) -> str:
    return f"{path}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n"


def git(project: Path, *arguments: str, stdin: str | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=project, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout


FIRST = block("app.py", "    return 'Hello ' + name\n", "    return f'Hello {name}'\n")
SECOND = block("app.py", "print(greet('you'))\n", "print(greet('all'))\n")
THIRD = block("new.txt", "", "one\ntwo\n")


def test_the_patch_of_hunks_is_what_changed_and_git_takes_it(run_spark: RunSpark, project: Path) -> None:
    assert run_spark("diff", cwd=project).code == 2, "nothing has landed yet"
    before = (project / "app.py").read_text()
    assert run_spark("apply", cwd=project, given=FIRST + SECOND + THIRD).code == 0
    after = (project / "app.py").read_text()
    whole = run_spark("diff", cwd=project)
    assert whole.code == 0 and whole.err == ""
    (project / "new.txt").unlink()
    (project / "app.py").write_text(before)
    git(project, "apply", "-", stdin=whole.out)
    assert (project / "app.py").read_text() == after
    assert (project / "new.txt").read_text() == "one\ntwo\n"

    one = run_spark("diff", "h2", cwd=project)
    assert "+print(greet('all'))" in one.out and "+    return" not in one.out
    last = run_spark("diff", "--last", "1", cwd=project)
    assert "new.txt" in last.out and "app.py" not in last.out
    stat = run_spark("diff", "--stat", cwd=project)
    assert " app.py  +2 -2\n" in stat.out and " 2 files changed  +4 -2\n" in stat.out


def test_an_undone_hunk_and_the_users_own_edits_are_left_out(run_spark: RunSpark, project: Path) -> None:
    before = (project / "app.py").read_text()
    assert run_spark("apply", cwd=project, given=FIRST).code == 0
    (project / "app.py").write_text("# mine\n" + (project / "app.py").read_text())
    assert run_spark("apply", cwd=project, given=SECOND).code == 0
    assert run_spark("undo", "h1", cwd=project).code == 0
    ran = run_spark("diff", cwd=project)
    assert "greet('all')" in ran.out and "+# mine" not in ran.out and "f'Hello" not in ran.out
    (project / "app.py").write_text(before)
    git(project, "apply", "-", stdin=ran.out)
    assert (project / "app.py").read_text() == before.replace("'you'", "'all'")
    assert run_spark("undo", "h2", cwd=project).code == 0
    none = run_spark("diff", cwd=project)
    assert (none.code, none.out) == (0, "") and "change nothing" in none.err


def test_what_is_not_there_is_told(run_spark: RunSpark, project: Path) -> None:
    assert run_spark("apply", cwd=project, given=FIRST).code == 0
    for arguments, problem in (
        (["h9"], "there is no hunk h9; the last is h1"),
        (["--turn", "3"], "turn 3 landed no hunk"),
        (["--session", "x"], "session x landed no hunk"),
    ):
        ran = run_spark("diff", *arguments, cwd=project)
        assert (ran.code, ran.out) == (2, "") and problem in ran.err
    assert run_spark("diff", "h1", "--last", "1", cwd=project).code == 2
