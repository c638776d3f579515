"""The review on a real session: verdicts in any order, a word of why, editing before landing."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base import events as said
from tests.tui.stage import GREETER, Stage, stage
from tui.app.review.review_book import ReviewBook, Reviewed, hunk_row, patch_lines, side_by_side, unified
from tui.app.review.review_screen import ReviewScreen


async def review(it: Stage) -> ReviewScreen:
    await it.pilot.press("shift+f8")
    await it.until(lambda: isinstance(it.app.screen, ReviewScreen), "the review")
    screen = it.app.screen
    assert isinstance(screen, ReviewScreen)
    await it.until(lambda: screen.takes_keys.is_set() and screen._lines, "the change")
    return screen


def squeezed(it: Stage) -> list[str]:
    return [" ".join(line.split()).replace("+ title", "+    title") for line in it.screen.splitlines()]


async def reviewing(it: Stage) -> ReviewScreen:
    """A turn whose hunks are both held, and the review of them."""
    it.session.review = True
    await it.ask("make it polite")
    await it.until(lambda: it.session.running and len(it.app.feed.book.held) == 1, "the first hunk")
    return await review(it)


async def test_landed_hunks_are_listed_with_what_they_changed(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await review(it)
        assert "2 hunks of the last turn" in it.screen
        await it.until(lambda: '+    title = "dear"' in it.screen, "the change")
        assert '-    return "Hello " + name' in it.screen
        await it.pilot.press("s")
        await it.until(lambda: any("name │ +    title" in line for line in squeezed(it)), "both sides")
        await it.pilot.press("s", "y", "t")
        await it.until(lambda: "kept" in it.screen and "of the session" in it.screen, "the verdict")
        await it.pilot.press("enter")
        await it.until(lambda: it.app.focused is it.app.editor, "the editor")
        assert it.app.editor.path == "greeter.py"


async def test_the_change_stands_below_the_list_where_the_screen_is_narrow(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(80, 24)) as it:
        await it.ask("make it polite")
        await it.done()
        screen = await review(it)
        await it.until(lambda: '+    title = "dear"' in it.screen, "the change below")
        assert screen.query_one("#pieces").size.height == 2 == len(screen._listed)
        foot = it.screen.splitlines()[-1]
        assert foot.endswith("Enter open") and "y keep" in foot, "no half hint"
        await it.pilot.press("space")
        await it.until(lambda: "h2" not in it.screen, "the change alone")
        await it.pilot.press("space")
        await it.pilot.resize_terminal(80, 15)
        await it.until(lambda: "title" not in it.screen and "h2" in it.screen, "the list alone")


async def test_a_landed_hunk_is_rejected_with_a_word_that_the_model_gets(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        screen = await review(it)
        chosen = screen._listed[0].hunk
        await it.pilot.press("n", *"not y or n", "enter")
        await it.until(lambda: it.app.feed.book.named(chosen).state == "undone", "the undo")  # type: ignore[union-attr]
        report = it.session._memory.report()
        assert f"{chosen} undone_by_user greeter.py: not y or n" in report
        (turn,) = it.session._memory.past_turns.past().turns
        assert "undone_by_user greeter.py: not y or n" in turn.text(), "so it outlives the session"
        await it.pilot.press("q")
        await it.until(lambda: "told with your next prompt" in " ".join(it.chat.split()), "the remark")


async def test_held_hunks_are_applied_and_rejected_and_the_word_redirects(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await reviewing(it)
        await it.pilot.press("n", *"talk less", "enter")
        await it.until(lambda: "I rejected h1 in greeter.py: talk less" in it.chat, "the redirect")
        assert (it.root / "greeter.py").read_text() == GREETER
        await it.done()
        assert "talk less" not in it.session._memory.report()
        assert it.chat.count("talk less") == 1, "the word reaches the model once"


async def test_a_rejection_without_a_word_lets_the_turn_go_on(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await reviewing(it)
        await it.pilot.press("n", "escape")
        assert isinstance(it.app.screen, ReviewScreen) or not it.session.running
        if it.session.running:
            await it.pilot.press("n", "enter")


async def test_all_that_is_held_is_applied_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await reviewing(it)
        await it.pilot.press("a")
        await it.until(lambda: 'title = "dear"' in (it.root / "greeter.py").read_text(), "the first")
        await it.until(lambda: [each.hunk for each in it.app.feed.book.held] == ["h2"], "the second question")
        await it.pilot.press("a")
        await it.until(lambda: "Good-bye" in (it.root / "greeter.py").read_text(), "the second")


async def test_a_held_hunk_lands_as_the_user_edited_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "edit.sh"
    script.write_text('#!/bin/sh\nsed -i s/dear/honoured/ "$1"\n')
    script.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(script))
    async with stage(tmp_path) as it:
        await reviewing(it)
        await it.pilot.press("e")
        await it.until(lambda: 'title = "honoured"' in (it.root / "greeter.py").read_text(), "the edit")
        assert (it.root / "greeter.py").read_text().count('"""A greeting."""') == 1


def test_a_patch_loses_its_head_and_keeps_its_hunks() -> None:
    patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n same\n"
    lines = patch_lines(patch)
    assert lines[:4] == [("@", "@ -1 +1 @@"), ("-", "old"), ("+", "new"), (" ", "same")]
    assert [row.text.rstrip() for row in unified(lines[1:4], 20)] == ["-old", "+new", " same"]
    first, second = side_by_side(lines[1:4], 23)
    assert first.text == "-old       │ +new      " and "same" in second.text


def test_text_of_a_model_stays_text() -> None:
    rows = side_by_side([("+", "\x1b[31mred\u202e\t|")], 60)
    assert "\x1b" not in rows[0].text and "\u202e" not in rows[0].text


def test_an_unknown_hunk_is_no_one() -> None:
    assert ReviewBook().named("h1") is None and ReviewBook().listed(whole_session=False) == []


def test_what_landed_stands_in_the_order_of_the_answer() -> None:
    book = ReviewBook()
    for name in ("h1", "h2", "h3"):
        book.take(said.HunkOpened(turn="t1", hunk=name, path="a.py", action="update"))
    for each, size in zip(book.listed(whole_session=True), (2, 9, 5), strict=True):
        each.state, each.added = "landed", size
    assert [each.hunk for each in book.listed(whole_session=True)] == ["h1", "h2", "h3"]


def test_what_comes_and_goes_is_told_in_its_colours() -> None:
    row = hunk_row(Reviewed("h1", "t1", "a.py", state="landed", added=3, removed=2), False, 60, ansi=False)
    assert {(" +3", "success"), (" −2", "error")} <= set(row.spans)
