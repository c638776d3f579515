"""A file that a turn leaves with a syntax error is told of, with the line, and a key undoes what broke it."""

from __future__ import annotations

from pathlib import Path

from session.partner.demo import make_sample
from session.partner.load_script import DEMO
from tests.tui.stage import TWO_HUNKS, Stage, stage

BROKEN = TWO_HUNKS.replace('f"Good-bye, {name}"', 'f"Good-bye, {name}')


def words(it: Stage) -> str:
    """The conversation without its line breaks."""
    return " ".join(it.chat.split())


async def test_the_hunk_that_broke_the_file_is_named_and_undone_by_a_key(tmp_path: Path) -> None:
    async with stage(tmp_path, script=BROKEN) as it:
        await it.ask("make it polite")
        await it.done()
        assert "✓ h2" in it.chat, "hunks land while the answer streams"
        told = "greeter.py: syntax error at line 12: "
        await it.until(lambda: told in words(it), "the verdict")
        await it.until(lambda: "undo h2" in it.screen or "Shift+Tab to answer" in it.screen, "the offer")
        await it.answer("y")
        await it.until(lambda: "↶ h2" in it.chat, "the undo")
        text = (it.root / "greeter.py").read_text()
        assert "Hello, {title}" in text and "Bye " in text and "Good-bye" not in text


async def test_a_stopped_turn_is_judged_too_and_the_file_can_be_left(tmp_path: Path) -> None:
    script = BROKEN.replace('say = "Both are polite now.\\n"', f'say = "{"And so on. " * 400}"')
    async with stage(tmp_path, script=script, rate=300) as it:
        await it.ask("make it polite")
        await it.until(lambda: "✓ h2" in it.chat, "the broken hunk")
        assert it.session.running and "syntax error" not in it.chat, "it may be mended by a later hunk"
        await it.pilot.press("escape")
        await it.until(lambda: "syntax error at line 12" in words(it), "the verdict")
        await it.answer("n")
        await it.until(lambda: it.app.panes.held.question is None, "the end of the question")
        assert "Good-bye" in (it.root / "greeter.py").read_text()


async def test_a_refactoring_in_several_hunks_of_one_file_is_not_held_on_its_way(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    make_sample(tmp_path / "project")
    async with stage(tmp_path, files={}, script=DEMO.read_text(), rate=4000) as it:
        await it.ask("Refactor the command line: one function for each command instead of the long if chain")
        await it.until(lambda: len(it.app.feed.held) or not it.session.running, "the end")
        assert not len(it.app.feed.held)
        await it.done()
        assert "✓ h6" in it.chat and "syntax error" not in it.chat
        compile((it.root / "tasks/cli.py").read_text(), "cli.py", "exec")
