"""Several hunks that need the user's OK at once: verdicts in any order, and what the review says of them."""

from __future__ import annotations

from pathlib import Path

from tests.tui.app.review.test_review import review
from tests.tui.stage import GREETER, TWO_HUNKS, Stage, stage
from tui.app.review.review_book import replaced_lines
from tui.app.review.review_screen import ReviewScreen

AT_ONCE = (
    TWO_HUNKS.replace('patch = ["greet"]', 'patch = ["greet", "part", "notes"]').replace(
        '[[scenario.step]]\npatch = ["part"]\n', ""
    )
    + """
"""
).replace(
    '[[scenario.step]]\nsay = "First',
    """[[scenario.hunk]]
id = "notes"
path = "notes.txt"
action = "add"
lines = '''
+kept
+new
'''

[[scenario.step]]
say = "First""",
)


async def held(it: Stage) -> ReviewScreen:
    (it.root / "notes.txt").write_text("kept\nold\n")
    it.session.review = True
    await it.ask("make it polite")
    await it.until(lambda: len(it.app.feed.book.held) == 3, "all three questions")
    return await review(it)


def state(it: Stage, hunk: str) -> str:
    found = it.app.feed.book.named(hunk)
    return found.state if found is not None else ""


async def choose(it: Stage, screen: ReviewScreen, hunk: str) -> None:
    await it.pilot.press(*["up"] * 3)
    at = [each.hunk for each in screen._listed].index(hunk)
    await it.pilot.press(*["down"] * at)
    await it.until(lambda: screen._each is not None and screen._each.hunk == hunk, hunk)


async def test_verdicts_in_any_order_and_each_is_seen(tmp_path: Path) -> None:
    async with stage(tmp_path, script=AT_ONCE) as it:
        screen = await held(it)
        await choose(it, screen, "h2")
        await it.pilot.press("y")
        await it.until(lambda: "→ h2" in it.screen and "agreed" in it.screen, "the verdict")
        assert (it.root / "greeter.py").read_text() == GREETER, "the one before it in its file comes first"
        await choose(it, screen, "h2")
        await it.pilot.press("y")
        await it.until(lambda: "you agreed to it" in it.screen, "why not")
        await choose(it, screen, "h3")
        await it.pilot.press("y")
        await it.until(lambda: (it.root / "notes.txt").read_text() == "kept\nnew\n", "the other file")
        await choose(it, screen, "h1")
        await it.pilot.press("n", "enter")
        await it.until(lambda: "Good-bye" in (it.root / "greeter.py").read_text(), "the second hunk")
        assert "dear" not in (it.root / "greeter.py").read_text() and state(it, "h1") == "dropped"


async def held_notes(it: Stage) -> ReviewScreen:
    """Have the change of the notes held as the first, and open the list."""
    (it.root / "notes.txt").write_text("kept\nold\n")
    await it.ask("make it polite")
    await it.until(lambda: state(it, "h1") == "held", "the question")
    return await review(it)


async def test_a_hunk_behind_a_held_one_waits_and_can_be_rejected(tmp_path: Path) -> None:
    script = AT_ONCE.replace('["greet", "part", "notes"]', '["notes", "greet", "part"]')
    async with stage(tmp_path, script=script) as it:
        screen = await held_notes(it)
        await it.until(lambda: it.screen.count("  waiting") == 2, "those behind it")
        await choose(it, screen, "h2")
        await it.pilot.press("y")
        await it.until(lambda: "it lands once the hunks before it have ended" in it.screen, "why not")
        await it.pilot.press("n", "a", "ctrl+u", "enter")
        await it.until(lambda: state(it, "h2") == "dropped", "the verdict")
        assert (it.root / "notes.txt").read_text() == "kept\nold\n", "a letter of the word is no key"
        await choose(it, screen, "h1")
        await it.pilot.press("y")
        await it.until(lambda: "Good-bye" in (it.root / "greeter.py").read_text(), "the last hunk")
        assert "dear" not in (it.root / "greeter.py").read_text()
        assert (it.root / "notes.txt").read_text() == "kept\nnew\n"


async def test_a_whole_hunk_stopped_behind_a_held_one_is_not_called_unfinished(tmp_path: Path) -> None:
    script = AT_ONCE.replace('["greet", "part", "notes"]', '["notes", "greet"]')
    async with stage(tmp_path, script=script) as it:
        screen = await held_notes(it)
        await it.until(lambda: "  waiting" in it.screen, "the one behind it")
        assert "? h1  notes.txt" in it.screen and "… h2  greeter.py" in it.screen, "ids stand apart"
        await it.pilot.press("q")
        await it.until(lambda: it.app.screen is not screen, "the panes")
        await it.pilot.press("ctrl+c")
        await it.done()
        chat = " ".join(it.chat.split())
        assert "h1 notes.txt stopped before your OK; nothing of it was written" in chat
        assert "h2 greeter.py stopped before its turn; nothing of it was written" in chat


async def test_a_held_hunk_that_replaces_a_file_shows_what_goes(tmp_path: Path) -> None:
    async with stage(tmp_path, script=AT_ONCE) as it:
        screen = await held(it)
        await choose(it, screen, "h3")
        await it.until(lambda: "-old" in it.screen and "+new" in it.screen, "both")
        assert "-kept" not in it.screen, "it stays as it is"
        await it.pilot.press("q")
        await it.pilot.press("shift+tab")
        it.app.feed._flights.held("h3")
        await it.until(lambda: it.app.editor.path == "notes.txt" and it.app.editor.flight is not None, "it")
        shown = it.app.editor.buffer
        assert shown.base is not None and shown.text == "kept\nold\n", "not as a new file"
        flight = it.app.editor.flight
        assert flight is not None and flight.overlay(len(shown.lines)).removed == {0, 1, 2}


async def test_a_word_for_a_hunk_that_is_not_held_any_more_is_not_lost(tmp_path: Path) -> None:
    async with stage(tmp_path, script=AT_ONCE) as it:
        screen = await held(it)
        await choose(it, screen, "h3")
        await it.pilot.press("n", *"too late")
        assert it.session.answer("h3", land=False)
        await it.pilot.press("enter")
        await it.until(lambda: "too late to reject h3" in it.screen, "the reason, on the screen in front")
        assert it.app.composer.draft == "too late"


def test_a_replaced_file_is_shown_as_what_changes_in_it() -> None:
    lines = replaced_lines("one\ntwo\nthree\n", ["one", "2", "three"])
    assert [line for line in lines if line[0] in "-+"] == [("-", "two"), ("+", "2")]
    assert replaced_lines("same\n", ["same"]) == [(" ", "same")]
