"""Reviews on save: a real session, the real partner, real files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from session.assist.review.on_save import Mode
from session.base.events import (
    FindingClosed,
    FindingReported,
    HunkLanded,
    HunkUndone,
    Notice,
    SaveReviewed,
    TurnEnded,
)
from tests.session.assist.review.example import ERROR
from tests.session.talking import Listening, talking

MEAN = "def mean(all):\n    return sum(all) / len(all)\n\n\ndef other():\n    return 1\n"
ELSEWHERE = {**ERROR, "path": "b.py"}
HUNK = """
[[scenario]]
match = ["repaint"]
[[scenario.hunk]]
id = "mean"
path = "a.py"
lines = '''
 def mean(all):
-    return 0
+    return sum(all) / len(all)
'''
[[scenario.step]]
say = "One moment, it needs a few words before it can be done, which takes a while to say.\\n"
[[scenario.step]]
patch = ["mean"]
"""


def script(*answers: tuple[object, ...]) -> str:
    """The partner's answers to the reviews, one after the other; the last is given from then on."""
    parts = [HUNK]
    for number, found in enumerate(answers):
        said = "".join(f"{json.dumps(each)}\n" for each in found) or "nothing"
        times = "times = 1" if number < len(answers) - 1 else ""
        parts.append(f"""
[[scenario]]
id = "review{number}"
match = ["review this change"]
{times}
[[scenario.step]]
say = {json.dumps(said)}
""")
    return 'models = ["spark-practice", "spark-practice-text"]\n' + "".join(parts)


@asynccontextmanager
async def reviewed(
    folder: Path, *answers: tuple[object, ...], rate: float = 100_000.0
) -> AsyncIterator[Listening]:
    async with opened(folder, script(*answers), rate) as it:
        yield it


@asynccontextmanager
async def opened(folder: Path, toml: str, rate: float) -> AsyncIterator[Listening]:
    root = folder / "project"
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text("def mean(all):\n    return 0\n")
    async with talking(root, toml, rate=rate) as it:
        async with asyncio.timeout(20):
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
        yield it


async def save(it: Listening, text: str, path: str = "a.py") -> None:
    it.session.typing()
    await it.session.files.save(await it.session.files.read(path), text)


async def reviews(it: Listening, count: int) -> SaveReviewed:
    async with asyncio.timeout(20):
        while len(it.all(SaveReviewed)) < count:
            await asyncio.sleep(0.01)
    return it.all(SaveReviewed)[-1]


async def test_a_save_is_reviewed_and_the_finding_told_with_its_lines(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR, ELSEWHERE)) as it:
        await save(it, MEAN)
        ended = await reviews(it, 1)
        (found,) = it.all(FindingReported)
        assert (found.path, found.start, found.end, found.severity) == ("a.py", 2, 2, "error")
        assert found.lines == ("    return sum(all) / len(all)",) and found.by == "model"
        assert (ended.files, ended.findings, ended.unusable, ended.stopped) == (1, 1, 1, "")


async def test_only_what_changed_since_the_last_review_is_sent(tmp_path: Path) -> None:
    async with reviewed(tmp_path, ()) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        await save(it, MEAN + "\n\ndef third():\n    return 3\n")
        await reviews(it, 2)
        sent = [
            str(request.body) for request in it.partner.requests if "Review this change" in str(request.body)
        ]
        assert len(sent) == 2
        assert "     2 + " in sent[0] and "     2 + " not in sent[1] and "third" in sent[1]


async def test_the_same_finding_is_told_once(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        await save(it, MEAN.replace("def mean(all):", "def mean(all):  # of numbers"))
        await reviews(it, 2)
        assert len(it.all(FindingReported)) == 1 and not it.all(FindingClosed)


async def test_a_finding_whose_lines_are_changed_is_outdated(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,), ()) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        await save(it, MEAN.replace("sum(all) / len(all)", "0.0"))
        await reviews(it, 2)
        (closed,) = it.all(FindingClosed)
        assert closed.how == "outdated" and len(it.session.assist.review.findings) == 0


async def test_a_fix_lands_as_a_hunk_that_can_be_undone(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        name = it.all(FindingReported)[0].finding
        assert await it.session.assist.review.land(name) == ""
        assert "if all else 0" in (it.root / "a.py").read_text()
        landed = await it.until(HunkLanded)
        assert it.all(FindingClosed)[-1].how == "landed"
        await it.session.hunks.undo_turn(landed.turn)
        assert (await it.until(HunkUndone)).hunk == landed.hunk
        assert (it.root / "a.py").read_text() == MEAN
        assert "not open" in await it.session.assist.review.land(name)


async def test_a_fix_that_no_longer_fits_is_refused_and_stays_open(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        name = it.all(FindingReported)[0].finding
        (it.root / "a.py").write_text("gone\n")
        assert await it.session.assist.review.land(name)
        assert (it.root / "a.py").read_text() == "gone\n"
        assert it.session.assist.review.findings.get(name) is not None


async def test_what_was_dismissed_stays_dismissed_wherever_its_lines_go(tmp_path: Path) -> None:
    lower = {**ERROR, "start": 5, "end": 5, "kind": "zero-division"}
    async with reviewed(tmp_path, (ERROR,), (lower,)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        await it.session.assist.review.dismiss(it.all(FindingReported)[0].finding)
        await save(it, "# one\n# two\n# three\n" + MEAN.replace("other", "another"))
        await reviews(it, 2)
        assert len(it.all(FindingReported)) == 1
    async with reviewed(tmp_path, (ERROR,)) as it:
        await save(it, "x = 1\n")
        await save(it, MEAN)
        await reviews(it, 1)
        assert not it.all(FindingReported), "it is kept for the project"
        sent = str(it.partner.requests[-1].body)
        assert "dismissed" in sent and "An empty list divides by zero." in sent


async def test_a_damaged_file_of_dismissals_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        (it.session.folders.state / "dismissed.json").write_text("{")
        await save(it, MEAN)
        async with asyncio.timeout(20):
            while not any("cannot be read" in event.text for event in it.all(Notice)):
                await asyncio.sleep(0.01)
        (it.session.folders.state / "dismissed.json").unlink()
        await save(it, MEAN + "\n")
        await reviews(it, 1)
        assert it.all(FindingReported)


async def test_the_models_hunks_are_part_of_what_a_save_reviews(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        (it.root / "b.py").write_text("b = 1\n")
        it.session.submit("repaint")
        await it.until(TurnEnded)
        assert not it.all(SaveReviewed), "a landing is no save"
        await save(it, "b = 2\n", "b.py")
        await reviews(it, 1)
        sent = str(it.partner.requests[-1].body)
        assert "a.py" in sent and "return sum(all)" in sent and "-     return 0" in sent
        assert it.all(FindingReported)


async def test_a_review_gives_way_to_an_answer_and_is_made_after_it(tmp_path: Path) -> None:
    filler = "so many words " * 400
    slow = json.dumps(ERROR) + "\n" + filler
    toml = script(()).replace('say = "nothing"', f"say = {json.dumps(slow)}")
    async with opened(tmp_path, toml, 500.0) as it:
        await save(it, MEAN)
        await it.until(FindingReported)
        it.session.submit("repaint")
        await it.until(TurnEnded)
        assert not it.all(SaveReviewed)
        await reviews(it, 1)
        asked = [request for request in it.partner.requests if "Review this change" in str(request.body)]
        assert len(asked) == 2 and len(it.all(FindingReported)) == 1


async def test_a_save_during_an_answer_is_reviewed_after_it(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,), rate=200.0) as it:
        it.session.submit("repaint")
        await it.session.files.save(await it.session.files.read("a.py"), "x = 1\n")
        ended = await it.until(TurnEnded)
        await reviews(it, 1)
        order = [event for event in it.events if isinstance(event, TurnEnded | SaveReviewed)]
        assert order[0] is ended


async def test_off_reviews_nothing_and_on_again_only_what_is_changed_from_then_on(tmp_path: Path) -> None:
    async with reviewed(tmp_path, ()) as it:
        review = it.session.assist.review
        review.use(Mode.OFF)
        await save(it, MEAN)
        review.use(Mode.SECURITY)
        await save(it, MEAN + "x = 1\n")
        await reviews(it, 1)
        asked = [request for request in it.partner.requests if "Review this change" in str(request.body)]
        assert len(asked) == 1 and "len(all)" in str(asked[0].body)
        assert "     2 + " not in str(asked[0].body) and "security" in str(asked[0].body).lower()


async def test_files_that_no_model_may_see_are_not_sent(tmp_path: Path) -> None:
    async with reviewed(tmp_path, ()) as it:
        await it.session.context.remove("a.py")
        await save(it, MEAN)
        (it.root / ".env").write_text("KEY=1\n")
        await save(it, "KEY=2\n", ".env")
        await asyncio.sleep(0.3)
        assert not [each for each in it.partner.requests if "Review this change" in str(each.body)]


@pytest.mark.parametrize("fix", [None, ERROR["fix"]])
async def test_a_finding_without_a_fix_says_so(tmp_path: Path, fix: Any) -> None:
    async with reviewed(tmp_path, ({**ERROR, "fix": fix},)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        told = await it.session.assist.review.land(it.all(FindingReported)[0].finding)
        assert told == ("" if fix else "this finding has no fix")


async def test_an_agreed_check_finds_what_it_finds_before_the_model_is_done(tmp_path: Path) -> None:
    config = tmp_path / "xdg" / "config" / "spark" / "config.toml"
    config.parent.mkdir(parents=True)
    command = "grep -q len {files} && echo a.py:2:12: error: a length && exit 1; exit 0"
    config.write_text(
        f'[[checks]]\nname = "lengths"\ncommand = "{command}"\nkind = "lint"\nfiles = ["*.py"]\n'
    )
    async with reviewed(tmp_path, (ERROR,)) as it:
        it.session.typing()
        assert [(check.name, agreed) for check, agreed in await it.session.checks.listed()] == [
            ("lengths", False)
        ]
        await save(it, "def mean(all):\n    return len(all)\n")
        await reviews(it, 1)
        assert not [each for each in it.all(FindingReported) if each.by == "lengths"], "nobody agreed to it"
        await it.session.checks.agree("lengths")
        await save(it, MEAN)
        found = await it.until(FindingReported, lambda event: event.by == "lengths")
        assert (found.path, found.start, found.kind, found.severity) == ("a.py", 2, "lengths", "warning")
        assert found.message == "a length"
        await reviews(it, 2)
        await it.session.assist.review.dismiss(found.finding)
        assert it.all(FindingClosed)[-1].how == "dismissed"


def saying(text: str) -> str:
    return script(()).replace('say = "nothing"', f"say = {json.dumps(text)}")


async def sent(it: Listening) -> list[str]:
    return [str(each.body) for each in it.partner.requests if "Review this change" in str(each.body)]


@pytest.mark.parametrize(
    "text", ["I'm sorry, but I can't help with that.", "It divides by zero.", "```\n```"]
)
async def test_an_answer_that_is_no_review_is_told_and_closes_nothing(tmp_path: Path, text: str) -> None:
    async with opened(tmp_path, saying(text), 100_000.0) as it:
        await save(it, MEAN)
        ended = await reviews(it, 1)
        assert ended.stopped == "not understood" and ended.findings == 0
        (told,) = [each.text for each in it.all(Notice) if "not reviewed" in each.text]
        assert told.startswith("what you saved is not reviewed: the model's answer is")
        await save(it, MEAN + "x = 1\n")
        await reviews(it, 2)
        assert "sum(all)" in (await sent(it))[1], "it is asked for again with the next save"


async def test_what_is_pasted_undone_and_pasted_again_is_reviewed_once(tmp_path: Path) -> None:
    pasted = MEAN + "\n".join(f"x{number} = {number}" for number in range(200)) + "\n"
    async with reviewed(tmp_path, ()) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        for text in (pasted, MEAN, pasted, MEAN):
            await save(it, text)
            await asyncio.sleep(0.1)
        await save(it, MEAN + "y = 1\n")
        await reviews(it, 3)
        bodies = await sent(it)
        assert len(bodies) == 3 and "x100" in bodies[1] and "x100" not in bodies[2]


async def test_a_fault_that_comes_back_is_told_again(tmp_path: Path) -> None:
    async with reviewed(tmp_path, (ERROR,)) as it:
        await save(it, MEAN)
        await reviews(it, 1)
        await save(it, "def mean(all):\n    return 0\n")
        async with asyncio.timeout(20):
            while not it.all(FindingClosed):
                await asyncio.sleep(0.01)
        await save(it, MEAN)
        await reviews(it, 2)
        assert len(it.all(FindingReported)) == 2


async def test_a_huge_change_is_not_sent_on_save_and_the_next_one_in_it_is(tmp_path: Path) -> None:
    huge = "\n".join(f"value_{number} = {number}" for number in range(6_000)) + "\n"
    async with reviewed(tmp_path, ()) as it:
        await save(it, huge)
        async with asyncio.timeout(20):
            while not any("spark review asks" in event.text for event in it.all(Notice)):
                await asyncio.sleep(0.01)
        assert not await sent(it)
        await save(it, huge + "y = 1\n")
        await reviews(it, 1)
        (body,) = await sent(it)
        assert "y = 1" in body and "value_10 " not in body
