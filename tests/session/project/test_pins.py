"""Pins and removals: commands, events, the requests to the server, and the explanation of the window."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from session.base.events import (
    ContextPinned,
    ContextRemoved,
    ContextRestored,
    ContextUnpinned,
    Notice,
    ReadingProgress,
    TurnEnded,
)
from session.project.pins import PinError, Pins
from session.turn.window_report import ReportedPiece
from tests.session.talking import COLOURS, PLAIN, REPAINT, Listening, configure, talking

SMALL = '[models."small"]\nprovider = "partner"\nwindow = 9000\noutput_reserve = 1000\nedit_format = "v4a"\n'
SHAPES = "def circle():\n    return 'round'\n\n\ndef square():\n    return 'four'\n"
TASTES = "def sweet():\n    return 'sugar'\n\n\ndef sour():\n    return 'lemon'\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "deep").mkdir(parents=True)
    (root / "colours.py").write_text(COLOURS)
    (root / "deep" / "shapes.py").write_text(SHAPES)
    (root / "tastes.py").write_text(TASTES)
    (root / "picture.bin").write_bytes(b"\x00\x01\x02")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *command], cwd=root, check=True)
    return root


async def known(it: Listening) -> None:
    """Wait until the project has been read."""
    await it.session._reading.ready.wait()


async def turn(it: Listening, text: str) -> TurnEnded:
    it.session.submit(text)
    return await it.ended(f"t{sum(1 for event in it.events if isinstance(event, TurnEnded)) + 1}")


async def test_a_pinned_file_is_sent_once_until_it_changes(root: Path) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        await turn(it, "one")
        assert "return 'sugar'" not in it.sent()
        await it.session.context.pin("tastes.py")
        await turn(it, "two")
        assert it.sent().count("return 'sugar'") == 1
        for text in ("three", "four"):
            await turn(it, text)
            assert "return 'sugar'" not in it.sent()
            if text == "three":
                await it.session.context.unpin("tastes.py")
        assert sum("return 'sugar'" in str(request) for request in it.requests()) == 1


async def test_a_removed_file_is_never_sent(root: Path) -> None:
    (root / "tastes.py").write_text(TASTES + "\n\ndef bitter():\n    return 'gall'\n")
    async with talking(root, PLAIN) as it:
        await known(it)
        await it.session.context.remove("tastes.py")
        await turn(it, "what is bitter in @tastes.py ?")
        assert "gall" not in it.sent() and "def bitter" not in it.sent() and "tastes.py" in it.sent()
        notice = await it.until(Notice)
        assert notice.text.startswith("tastes.py is named in the prompt and was not shown")
        await it.session.context.restore("tastes.py")
        await turn(it, "and now in @tastes.py ?")
        assert "gall" in it.sent()


async def test_an_image_in_the_prompt_is_refused_in_a_line(root: Path) -> None:
    (root / "logo.PNG").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    async with talking(root, PLAIN) as it:
        await known(it)
        await turn(it, "what is in @logo.PNG ?")
        notice = await it.until(Notice)
        told = "logo.PNG is named in the prompt and was not shown: it is an image, and spark sends text alone"
        assert notice.text == told


async def test_pins_are_kept_by_one_name_and_told_as_events(root: Path) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        context = it.session.context
        await context.pin("@shapes.py")
        await context.pin("deep/shapes.py:5-6")
        await context.pin("circle")
        names = list(context.pinned)
        assert names == ["deep/shapes.py", "deep/shapes.py:5-6", "circle"]
        await context.remove("deep/")
        assert [list(context.pinned), list(context.removed)] == [[], ["deep/"]]
        await context.pin("deep/shapes.py")
        assert list(context.removed) == ["deep/"]  # the pin is the later word on that one file
        await context.restore("all")
        await context.unpin("shapes.py")
        kinds = (ContextPinned, ContextUnpinned, ContextRemoved, ContextRestored)
        last = ContextUnpinned("deep/shapes.py")
        await it.until(ContextUnpinned, lambda _: it.events.count(last) == 2)
        told = [event for event in it.events if isinstance(event, kinds)]
        assert told[:3] == [
            ContextPinned(name) for name in ("deep/shapes.py", "deep/shapes.py:5-6", "circle")
        ]
        assert not Pins(told).pinned and not Pins(told).removed


REFUSALS = (
    ("pin", "nothing.py", "nothing.py names nothing in this project; give a path, path:10-20"),
    ("pin", " ", "an empty word names nothing"),
    ("pin", "picture.bin", "picture.bin cannot be shown: "),
    ("pin", "tastes.py", "tastes.py is pinned already"),
    ("pin", "no\x1b[31mthing", "holds control characters"),
    ("unpin", "deep/shapes.py", "deep/shapes.py is not pinned; deep/ is"),
    ("unpin", "colours.py", "colours.py is not pinned"),
    ("remove", "circle", "circle: files, folders and patterns can be taken out, not lines or symbols"),
    ("remove", "colours.py:1-3", "not lines or symbols"),
    ("restore", "all", "nothing is taken out"),
)


async def test_a_wrong_target_is_refused_with_the_reason(root: Path) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        await it.session.context.pin("tastes.py")
        await it.session.context.pin("deep/")
        for command, target, message in REFUSALS:
            with pytest.raises(PinError) as problem:
                await getattr(it.session.context, command)(target)
            assert message in str(problem.value) and "\x1b" not in str(problem.value)
        assert it.session.context.pinned == ("tastes.py", "deep/") and not it.session.context.removed


async def test_pins_survive_a_resumed_session(root: Path) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        await it.session.context.pin("tastes.py")
        await it.session.context.remove("deep/shapes.py")
        await turn(it, "one")
        file = it.session.folders.sessions / f"{it.session.name}.jsonl"
    async with talking(root, PLAIN, resume=file) as it:
        assert it.session.context.pinned == ("tastes.py",)
        assert it.session.context.removed == ("deep/shapes.py",)
        await known(it)
        it.session.submit("two")
        await it.ended("t2")
        assert "return 'sugar'" in it.sent() and "def circle" not in it.sent()


def of(parts: tuple[ReportedPiece, ...], path: str) -> list[tuple[str, bool]]:
    return [(part.why, part.earlier) for part in parts if part.path == path]


async def test_a_window_is_explained_before_and_after_it_is_sent(root: Path) -> None:
    async with talking(root, REPAINT) as it:
        await known(it)
        context = it.session.context
        last = await context.explain(None)
        assert last.problem and not last.parts
        await context.pin("tastes.py")
        await context.remove("deep/*")
        now = await context.explain("repaint @colours.py")
        assert of(now.parts, "tastes.py") == [("pinned; whole", False)]
        assert of(now.parts, "colours.py") == [("named in the request; whole", False)]
        assert [(left.path, left.why) for left in now.left_out if left.path.startswith("deep")] == [
            ("deep/shapes.py", "removed by you")
        ]
        assert now.pins == {"tastes.py": "tastes.py"} and now.removals == {"deep/shapes.py": "deep/*"}
        assert now.tokens <= now.budget and now.tokens == sum(part.tokens for part in now.parts) + now.talk
        assert now.complete and now.known == now.total == 4
        await turn(it, "repaint @colours.py")
        last = await context.explain(None)
        assert [part for part in last.parts if part.path] == [part for part in now.parts if part.path]
        # The answer and what became of its hunks are in it now.
        assert last.talk > now.talk and last.tokens > now.tokens
        now = await context.explain("")
        assert of(now.parts, "tastes.py") == [("pinned; whole", True)]
        assert not [part for part in now.parts if not part.earlier]
        assert now.tokens >= last.tokens


async def test_a_compacted_conversation_holds_nothing_of_what_was_sent(root: Path) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        await turn(it, "one @tastes.py")
        await turn(it, "two")
        assert of((await it.session.context.explain(None)).parts, "tastes.py")
        await it.session.compaction.compact()
        last = await it.session.context.explain(None)
        assert "started afresh" in last.problem and not last.parts
        now = await it.session.context.explain("three")
        assert not any(part.earlier for part in now.parts) and now.tokens <= now.budget


async def test_explaining_changes_nothing(root: Path) -> None:
    async with talking(root, PLAIN) as one:
        await known(one)
        await turn(one, "one")
        plain = one.requests()
    async with talking(root, PLAIN) as it:
        await known(it)
        for _ in range(3):
            await it.session.context.explain("something @colours.py else")
        it.session.submit("one")
        explained = await it.session.context.explain("beside a turn")
        assert explained.tokens
        await it.ended("t1")
        assert it.requests() == plain


async def test_a_request_that_does_not_fit_is_explained_too(root: Path) -> None:
    configure(root, SMALL)
    async with talking(root, PLAIN, model="small") as it:
        await known(it)
        explained = await it.session.context.explain("many words " * 5_000)
        assert "does not fit" in explained.problem and not explained.parts


async def test_a_long_first_reading_reports_its_progress(tmp_path: Path) -> None:
    root = tmp_path / "large"
    for folder in range(12):
        (root / f"f{folder}").mkdir(parents=True)
        for number in range(100):
            text = "".join(f"def name_{folder}_{number}_{at}(): ...\n" for at in range(20))
            (root / f"f{folder}" / f"m{number}.py").write_text(text)
    async with talking(root, PLAIN) as it:
        first = await it.until(ReadingProgress)
        # A window can be had meanwhile, from what is known.
        explained = await it.session.context.explain("hello")
        assert explained.parts
        last = await it.until(ReadingProgress, lambda event: event.known == event.total)
        told = it.all(ReadingProgress)
        assert 0 <= first.known < first.total and last.total == 1200
        assert told[-1] == last and [event.known for event in told] == sorted(event.known for event in told)
        assert (await it.session.context.explain("hello")).complete
        assert not any(
            record_is_progress(line)
            for line in (it.session.folders.sessions / f"{it.session.name}.jsonl").read_text().splitlines()
        )


def record_is_progress(line: str) -> bool:
    return '"reading"' in line


async def test_commands_given_together_are_carried_out_in_their_order_and_before_the_next_prompt(
    root: Path,
) -> None:
    async with talking(root, PLAIN) as it:
        await known(it)
        context = it.session.context
        given = (context.pin("tastes.py"), context.remove("tastes.py"), context.pin("deep/"))
        doing = asyncio.gather(*given)
        await asyncio.sleep(0)
        it.session.submit("one")
        await it.ended("t1")
        await doing
        told = [event for event in it.events if isinstance(event, ContextPinned | ContextRemoved)]
        assert told == [ContextPinned("tastes.py"), ContextRemoved("tastes.py"), ContextPinned("deep/")]
        assert "def circle" in it.sent() and "return 'sugar'" not in it.sent()
