"""What the partner finds and rewrites: the whole way from a saved file to a landed fix, without a script."""

from __future__ import annotations

import asyncio
from pathlib import Path

from session.assist.review.on_save import Mode
from session.base.events import FindingReported, Notice, SaveReviewed
from tests.session.talking import Listening, talking

EMPTY = 'models = ["spark-practice", "spark-practice-text"]\n'
CODE = """import subprocess


def mean(all):
    subprocess.run(all, shell=True)
    return sum(all) / len(all)
"""


async def saved(it: Listening) -> None:
    async with asyncio.timeout(20):
        while not it.session.context.snapshot.complete:
            await asyncio.sleep(0.01)
    it.session.typing()
    await it.session.files.save(await it.session.files.read("a.py"), CODE)
    await it.until(SaveReviewed)


async def test_the_partner_finds_faults_in_what_was_saved_and_a_fix_lands(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text("x = 1\n")
    async with talking(tmp_path / "project", EMPTY) as it:
        await saved(it)
        found = {each.kind: each for each in it.all(FindingReported)}
        assert {kind: each.start for kind, each in found.items()} == {
            "command-injection": 5,
            "division-by-zero": 6,
        }
        assert await it.session.assist.review.land(found["command-injection"].finding) == ""
        assert it.text("a.py") == CODE.replace("shell=True", "shell=False")


async def test_a_review_of_security_finds_holes_alone(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text("x = 1\n")
    async with talking(tmp_path / "project", EMPTY) as it:
        it.session.assist.review.use(Mode.SECURITY)
        await saved(it)
        assert [each.kind for each in it.all(FindingReported)] == ["command-injection"]


async def test_selected_lines_get_a_comment(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/a.py").write_text(CODE)
    async with talking(tmp_path / "project", EMPTY) as it:
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        it.session.typing()
        lines = CODE.splitlines()[4:6]
        it.session.assist.refactors.start("a.py", 5, lines, "say what it does")
        await it.until(Notice, lambda event: "1 hunk landed" in event.text)
        assert it.text("a.py").splitlines()[4] == "    # say what it does"
