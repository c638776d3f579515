"""``spark race`` and ``/try take`` after ``spark exec``: attempts are kept with their verdicts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.base.events import HunkLanded, RaceEnded
from session.commands.race_commands import RaceError
from tests.conftest import RunSpark
from tests.session.race.attempts.races import ADD, RIGHT, RIGHT_SUM, WRONG, project, script
from tests.session.talking import environment, talking


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "project")


async def test_attempts_are_listed_and_taken_after_a_restart(run_spark: RunSpark, root: Path) -> None:
    env = environment(root.parent / "xdg")
    none = run_spark("race", cwd=root, env=env)
    assert none.code == 0 and "there was no race yet" in none.err
    async with talking(root, script(WRONG, RIGHT)) as it:
        await it.session.race.start("mend add", 2, [RIGHT_SUM], judge_all=True)
        await it.ended("t1")
        winner = it.all(RaceEnded)[0].winner
    assert RIGHT in (root / "calc.py").read_text()
    listed = run_spark("race", "--json", cwd=root, env=env)
    rows = [json.loads(line) for line in listed.out.splitlines()]
    assert {row["status"] for row in rows} == {"won", "red"} and [
        r["number"] for r in rows if r["taken"]
    ] == [winner]
    assert any("tests red" in verdict for row in rows for verdict in row["verdicts"])
    other = next(row["number"] for row in rows if not row["taken"])
    assert f"+    {WRONG}" in run_spark("race", str(other), cwd=root, env=env).out
    assert f"{other}  red" in run_spark("race", cwd=root, env=env).out
    async with talking(root, script(WRONG)) as it:
        with pytest.raises(RaceError, match="has landed already"):
            it.session.race.take(winner or 0)
        it.session.race.take(other)
        await it.ended("t1")
        assert it.text("calc.py") == ADD.replace("return a - b", WRONG), "in place of the winner"
        assert it.all(HunkLanded)
        it.session.race.take(winner or 0)
        await it.ended("t2")
        assert RIGHT in it.text("calc.py")
