"""The chat pane under Pilot, fed with what it is fed in use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from themes.loader import load_theme
from tui.chat.chat import ChatView
from tui.chat.transcript.entries import HunkEntry
from tui.chat.transcript.transcript import Prompt
from tui.screen.drawing.palette import Palette


class Host(App[None]):
    """A screen with nothing but the pane."""

    CSS = "ChatView { height: 100%; }"

    def compose(self) -> ComposeResult:
        yield ChatView(Palette(load_theme("dark")))


@asynccontextmanager
async def chat(size: tuple[int, int] = (60, 20)) -> AsyncIterator[tuple[ChatView, Pilot[None]]]:
    app = Host()
    async with app.run_test(size=size) as pilot:
        view = app.query_one(ChatView)
        view.focus()
        await pilot.pause()
        yield view, pilot


def shown(view: ChatView) -> list[str]:
    return [view.render_line(y).text.rstrip() for y in range(view.size.height)]


def fill(view: ChatView, lines: int) -> None:
    for number in range(lines):
        view.text(f"line {number}\n")
    view.settle_now()


async def test_the_view_follows_the_end() -> None:
    async with chat() as (view, _):
        fill(view, 100)
        assert "  line 99" in shown(view)


async def test_a_user_who_scrolled_up_is_not_moved_and_is_told_of_more() -> None:
    async with chat() as (view, pilot):
        fill(view, 100)
        await pilot.press("pageup", "pageup")
        before = shown(view)
        fill(view, 50)
        after = shown(view)
        assert [line[:-1].rstrip() for line in after[:-1]] == [line[:-1].rstrip() for line in before[:-1]]
        assert "more" in after[-1] and "End" in after[-1]
        await pilot.press("end")
        assert "  line 49" in shown(view) and view.following


async def test_scrolling_down_to_the_end_follows_again() -> None:
    async with chat() as (view, pilot):
        fill(view, 40)
        await pilot.press("up")
        assert not view.following
        await pilot.press("pagedown")
        assert view.following


async def test_hunk_lines_change_in_place() -> None:
    async with chat() as (view, _):
        view.hunk("h1", "a.py", "update", "typing")
        view.hunk("h2", "b.py", "add", "typing")
        view.settle_now()
        assert shown(view)[0].startswith("  … h1") and shown(view)[1].startswith("  … h2")
        view.hunk("h2", "b.py", "add", "landed")
        view.hunk("h1", "a.py", "update", "refused", "no_match: the old text is not there")
        view.settle_now()
        assert shown(view)[:2] == [
            "  ✗ h1  a.py no_match: the old text is not there",
            "  ✓ h2  b.py new file",
        ]


@pytest.mark.parametrize("width", range(24, 60))
async def test_the_sign_of_a_verdict_stands_beside_what_judged(width: int) -> None:
    async with chat() as (view, _):
        view.hunk("h1", "some/folder/a.py", "update", "landed", "3–4")
        view.judged("h1", "compile", "green", "")
        (entry,) = [each for each in view.transcript.entries if isinstance(each, HunkEntry)]
        rows = [row.text for row in entry.draw(width)]
        assert any("✓\N{NO-BREAK SPACE}compile" in row for row in rows), rows


async def test_what_spark_wrote_in_the_users_name_is_folded() -> None:
    text = "mend it\n" + "\n".join(f"line {number}" for number in range(20))
    async with chat() as (view, _):
        view.prompt(text, typed="mend it")
        view.settle_now()
        drawn = "\n".join(shown(view))
        assert "mend it" in drawn and "line 2" in drawn and "line 3" not in drawn and "17 more lines" in drawn
        (entry,) = [each for each in view.transcript.entries if isinstance(each, Prompt)]
        assert entry.toggle(0) and any("line 19" in row.text for row in entry.draw(60))
        assert not Prompt(text).toggle(0), "what the user typed is shown"
        assert not Prompt("a\nb\nc\nd\ne", typed="/try 3 a\nb\nc\nd\ne").toggle(0)


async def test_prose_goes_on_after_a_hunk_in_its_own_run() -> None:
    async with chat() as (view, _):
        view.text("before")
        view.hunk("h1", "a.py", "update", "landed", "3–4")
        view.text("after")
        view.settle_now()
        assert [line for line in shown(view) if line] == ["  before", "  ✓ h1  a.py 3–4", "  after"]


async def test_reasoning_is_one_line_until_it_is_unfolded() -> None:
    async with chat() as (view, _):
        view.reasoning("first thought\nsecond thought\n")
        view.text("answer")
        view.settle_now()
        assert shown(view)[0] == "  ▸ thought · 2 lines" and "first thought" not in "".join(shown(view))
        view.fold(unfolded=True)
        view.settle_now()
        assert "    first thought" in shown(view)


async def test_dropped_text_is_never_painted() -> None:
    async with chat() as (view, _):
        view.text("painted")
        view.settle_now()
        view.text(" and not this")
        view.drop_pending()
        view.close_run()
        view.settle_now()
        assert shown(view)[0] == "  painted"


async def test_nothing_is_read_as_markup() -> None:
    async with chat() as (view, _):
        view.prompt("[red]x[/red] [@click=app.bell]y[/]")
        view.text("[bold]not bold[/bold]\n")
        view.remark("[blink]no[/blink]")
        view.hunk("h1", "[u]p[/u]", "update", "refused", "io: [b]")
        view.settle_now()
        drawn = "\n".join(shown(view))
        for text in ("[red]x[/red]", "[bold]not bold[/bold]", "[blink]no[/blink]", "[u]p[/u] io: [b]"):
            assert text in drawn


async def test_a_resize_wraps_anew_and_keeps_the_end_in_sight() -> None:
    async with chat() as (view, pilot):
        view.text("many words " * 60 + "last\n")
        view.settle_now()
        await pilot.resize_terminal(30, 12)
        await pilot.pause()
        assert any("last" in line for line in shown(view))
        assert all(len(line) <= 30 for line in shown(view))


async def test_what_was_said_can_be_copied() -> None:
    async with chat() as (view, _):
        view.prompt("one")
        view.text("old answer\n")
        view.prompt("two")
        view.text("new\n\n```python\nx = 1\n```\n")
        view.hunk("h1", "a.py", "update", "landed")
        view.text("end\n")
        view.settle_now()
        assert view.last_answer() == "new\n\n```python\nx = 1\n```\n\nend"
        assert view.last_code() == "x = 1\n"


async def test_streaming_never_lays_out() -> None:
    async with chat() as (view, pilot):
        fill(view, 5)
        await pilot.pause()
        laid_out: list[object] = []
        view.screen.screen_layout_refresh_signal.subscribe(view, laid_out.append)
        for number in range(200):
            view.text(f"more {number}\n")
            if number % 20 == 0:
                view.settle_now()
                await pilot.pause()
        assert laid_out == []


async def test_a_remark_between_two_words_leaves_no_blank_before_the_second() -> None:
    async with chat() as (view, _):
        view.text("first in")
        view.remark("asked to end")
        view.text(" the signature\n")
        view.settle_now()
        assert [line.rstrip() for line in shown(view) if "the" in line] == ["  the signature"]


async def test_a_file_that_is_replaced_is_not_called_new() -> None:
    async with chat() as (view, _):
        view.hunk("h1", "a.py", "add", "typing")
        view.settle_now()
        assert "a.py new file" in "\n".join(shown(view))
        view.hunk("h1", "a.py", "replace", "held", "exists already: the whole file is replaced")
        view.settle_now()
        assert "? h1  a.py exists already: the whole" in "\n".join(shown(view))
        view.hunk("h1", "a.py", "add", "landed", "1–2")
        view.settle_now()
        assert "✓ h1  a.py replaced 1–2" in "\n".join(shown(view))
