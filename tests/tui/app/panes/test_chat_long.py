"""A long conversation takes a bounded amount of memory: old rows are dropped, and nothing else changes."""

from __future__ import annotations

import gc
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from session.base.text.pieces import SHORTEST, Pieces
from tests.thorough import share
from tests.tui.app.panes.test_chat import chat, shown
from tui.chat.chat import ChatView
from tui.chat.transcript import answer as answers
from tui.chat.transcript import transcript as transcripts
from tui.chat.transcript.answer import Answer, last_block, whole_text
from tui.chat.transcript.entries import HunkEntry, Reasoning
from tui.chat.transcript.markdown import MarkdownStream
from tui.chat.transcript.tables import Table
from tui.chat.transcript.transcript import Gone, Transcript

LINES = some.sampled_from(
    [
        "",
        "prose with `code` and some words",
        "- an item",
        "## Heading",
        "```python",
        "```",
        "~~~",
        "    four",
        "x = 1",
    ]
)


def streamed(pieces: list[str]) -> tuple[list[Answer], Transcript]:
    transcript = Transcript(40)
    last = Answer()
    entries = [last]
    transcript.add(last)
    for piece in pieces:
        delta = piece
        while delta:
            if last.full:
                last.close()
                last = Answer(last)
                entries.append(last)
                transcript.add(last)
            delta = last.feed(delta)
        transcript.settle()
    last.close()
    transcript.settle()
    return entries, transcript


@settings(max_examples=share(150, 40), deadline=None)
@given(
    lines=some.lists(LINES, max_size=60),
    size=some.integers(1, 400),
    longest=some.integers(20, 300),
)
def test_a_long_answer_in_several_entries_reads_as_one(lines: list[str], size: int, longest: int) -> None:
    text = "".join(f"{line}\n" for line in ["begin", *lines, "end"])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(answers, "LONGEST", longest)
        entries, transcript = streamed([text[at : at + size] for at in range(0, len(text), size)])
    whole = MarkdownStream(40)
    whole.feed(text)
    whole.settle(closed=True)
    rows = [transcript.row(number) for number in range(transcript.total)]
    assert [row.text if row is not None else "" for row in rows] == [row.text for row in whole.rows]
    assert whole_text(entries) == text.strip("\n")
    assert last_block(entries) == (whole.blocks[-1] if whole.blocks else "")
    assert len(entries) > 1 or len(text) <= longest + max(map(len, lines), default=0) + 10


async def test_only_the_newest_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MOST_ROWS", 1_000)
    async with chat() as (view, _):
        for number in range(30_000):
            view.text(f"line {number}\n")
            if number % 200 == 0:
                view.settle_now()
        view.settle_now()
        assert view.transcript.total < 1_000 + transcripts._SLACK + answers.LONGEST // 8
        assert "  line 29999" in shown(view)
        assert len(view.transcript.entries) < 20
        view.scroll_rows_by(-view.transcript.total)
        assert "rows are not kept on the screen here; spark" in shown(view)[0]
        gone = int(shown(view)[0].split()[1].replace(",", ""))
        second = next(line.split() for line in shown(view) if line.startswith("  line "))
        assert abs(gone - int(second[1])) < 30, "it says how many rows are gone"


async def test_what_is_read_stays_where_it_is_while_old_rows_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MOST_ROWS", 1_000)
    monkeypatch.setattr(answers, "LONGEST", 2_000)
    async with chat() as (view, _):
        for number in range(1_900):
            view.text(f"line {number}\n")
        view.settle_now()
        view.scroll_rows_by(-300)
        before = shown(view)[:-1]
        dropped = view.transcript.total
        for number in range(1_900, 4_000):
            view.text(f"line {number}\n")
            if number % 100 == 0:
                view.settle_now()
                assert [row[:20] for row in shown(view)[:-1]] == [row[:20] for row in before]
        assert dropped


@pytest.mark.parametrize("up", [0, 900, 1_900])
async def test_however_far_up_the_user_reads_the_rows_are_few(
    monkeypatch: pytest.MonkeyPatch, up: int
) -> None:
    monkeypatch.setattr(transcripts, "MOST_ROWS", 1_000)
    monkeypatch.setattr(answers, "LONGEST", 1_000)
    async with chat() as (view, _):
        view.prompt("count")
        for number in range(1_900):
            view.text(f"line {number}\n")
        view.settle_now()
        if up:
            view.scroll_rows_by(-up)
        before = [row[:20] for row in shown(view)[:-1]]
        for number in range(1_900, 5_000):
            view.text(f"line {number}\n")
            if number % 50 == 0:
                view.hunk(f"h{number}", "a.py", "update", "landed")
                view.settle_now()
                assert view.transcript.total < 1_000 + transcripts._SLACK + 400
                assert not up or [row[:20] for row in shown(view)[:-1]] == before
        view.close_run()
        view.settle_now()
        entries = view.transcript.entries
        told = sum(each.count for each in entries if isinstance(each, Gone))
        lines = [row.text for each in entries if isinstance(each, Answer) for row in each.rows]
        missing = 5_000 - len([line for line in lines if line.startswith("  line ")])
        assert missing <= told <= missing * 1.1, "blank rows and those of hunks count too"
        view.action_to_end()
        assert "  line 4999" in "\n".join(shown(view))
        gone = [entry for entry in view.transcript.entries if isinstance(entry, Gone)]
        assert 1 <= len(gone) <= 2
        assert all(view.hunk_named(entry.hunk) is entry for entry in hunks(view))


def hunks(view: ChatView) -> list[HunkEntry]:
    return [entry for entry in view.transcript.entries if isinstance(entry, HunkEntry)]


async def test_a_hunk_whose_line_is_gone_can_still_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MOST_ROWS", 100)
    monkeypatch.setattr(transcripts, "_SLACK", 10)
    monkeypatch.setattr(answers, "LONGEST", 500)
    async with chat() as (view, _):
        view.hunk("h1", "a.py", "update", "landed")
        for number in range(500):
            view.text(f"line {number}\n")
        view.settle_now()
        assert view.hunk_named("h1") is None
        view.hunk("h1", "a.py", "update", "undone")
        view.settle_now()
        assert any("↶ h1" in line for line in shown(view))


def test_reasoning_is_counted_whole_and_kept_in_part() -> None:
    entry = Reasoning(unfolded=False)
    for number in range(20_000):
        entry.feed(f"thought {number} about")
        entry.feed(" it\n\n")
    entry.settle(60)
    assert "thinking · 20,000 lines" in entry.rows[0].text
    assert "thought 19999 about it" in entry.rows[1].text
    entry.toggle(0)
    entry.settle(60)
    assert "left out" in entry.rows[1].text and len(entry.rows) < 20_000
    assert "thought 19999 about it" in entry.rows[-1].text


@given(pieces=some.lists(some.text(max_size=30), max_size=50), most=some.integers(0, 200))
def test_pieces_keep_the_newest_text(pieces: list[str], most: int) -> None:
    kept, bounded = Pieces(), Pieces(most)
    for piece in pieces:
        kept.append(piece)
        bounded.append(piece)
    assert kept.text() == "".join(pieces) and len(kept) == len("".join(pieces))
    assert len(bounded) <= max(most, SHORTEST + 30)
    assert bounded.gone + len(bounded) == len(kept)
    assert bounded.gone or bounded.text() == kept.text()


def test_of_a_long_text_the_newest_is_kept_and_the_rest_is_said_to_be_gone() -> None:
    pieces = Pieces(10_000)
    for number in range(10_000):
        pieces.append(f"{number} ")
    text = pieces.text()
    assert text.startswith("[the beginning of this text is left out]\n") and text.endswith(" 9998 9999 ")
    assert 7_000 < len(text) < 11_000
    pieces.clear()
    assert pieces.text() == "" and not len(pieces)


def test_of_short_texts_little_more_than_the_text_is_kept() -> None:
    before = kept_tables()
    entries, texts = [Answer() for _ in range(50)], [Pieces() for _ in range(50)]
    for entry, text in zip(entries, texts, strict=True):
        entry.feed("Two words.")
        entry.close()
        entry.settle(60)
        text.append("Two words.")
    assert kept_tables() == before, "an answer without a table keeps one"
    for text in texts:
        assert sum(sys.getsizeof(part) for part in gc.get_referents(text) if part is not Pieces) < 300


def kept_tables() -> int:
    gc.collect()  # those of earlier tests may wait to be collected
    return sum(type(each) is Table for each in gc.get_objects())  # a dead weak proxy cannot be asked more
