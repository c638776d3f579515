"""A long conversation takes a bounded amount of memory: old rows are dropped, and nothing else changes."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from session.base.storage.unnamed_files import Stored, UnnamedFiles
from session.base.text.pieces import SHORTEST, Pieces
from tests.open_files import unnamed_in
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
from tui.screen.drawing import packed_rows
from tui.screen.drawing.packed_rows import PackedRows, Shelf, ShelvedText
from tui.screen.drawing.rows import Row

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


def streamed(pieces: list[str], shelf: Shelf) -> tuple[list[Answer], Transcript]:
    transcript = Transcript(40)
    last = Answer(shelf=shelf)
    entries = [last]
    transcript.add(last)
    for piece in pieces:
        delta = piece
        while delta:
            if last.full:
                last.close()
                last = Answer(last, shelf)
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
    on_disk=some.booleans(),
)
def test_a_long_answer_in_several_entries_reads_as_one(
    lines: list[str], size: int, longest: int, on_disk: bool
) -> None:
    text = "".join(f"{line}\n" for line in ["begin", *lines, "end"])
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
        patched.setattr(answers, "LONGEST", longest)
        patched.setattr(answers, "_PACKED_FROM", longest // 2)
        patched.setattr(packed_rows, "_FEW", 1)
        shelf = Shelf()
        if on_disk:
            shelf.begin(UnnamedFiles(Path(folder)))
        entries, transcript = streamed([text[at : at + size] for at in range(0, len(text), size)], shelf)
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


@pytest.mark.parametrize("on_disk", [False, True])
async def test_rows_of_complete_answers_are_kept_packed_and_read_the_same(
    on_disk: bool, tmp_path: Path
) -> None:
    async with chat() as (view, _):
        if on_disk:
            view.shelf.begin(UnnamedFiles(tmp_path))
        before = kept_rows()
        for number in range(4_000):
            view.text(f"line {number} of `words` that are read\n\n")
            if number % 500 == 0:
                view.hunk(f"h{number}", "a.py", "update", "landed")
            if number % 100 == 0:
                view.settle_now()
        view.close_run()
        view.settle_now()
        assert view.transcript.total > 8_000
        assert kept_rows() - before < 500
        view.reading.search("line 17 of words")
        assert view.reading.find(-1, view.transcript.total) is not None
        assert view.reading.text() == "line 17 of words that are read"
        view.scroll_rows_by(-view.transcript.total)
        assert any(line.startswith("  line 3 of words") for line in shown(view))


async def test_of_a_conversation_on_the_disk_hardly_anything_is_in_memory(tmp_path: Path) -> None:
    kept: dict[bool, int] = {}
    for on_disk in (False, True):
        async with chat() as (view, pilot):
            if on_disk:
                view.shelf.begin(UnnamedFiles(tmp_path))
            for number in range(2_000):
                view.text(f"line {number} of `words`\n```python\nwords({number})\n```\n")
                if number % 100 == 0:
                    view.settle_now()
            view.close_run()
            view.settle_now()
            await pilot.pause()
            kept[on_disk] = sum(
                kept_bytes(each)
                for entry in view.transcript.entries
                for each in vars(entry).values()
                if isinstance(each, PackedRows | ShelvedText)
            )
            assert last_block([each for each in view.transcript.entries if isinstance(each, Answer)]) == (
                "words(1999)\n"
            )
            assert (
                whole_text([each for each in view.transcript.entries if isinstance(each, Answer)]).count(
                    "words("
                )
                == 2_000
            )
    assert kept[True] < kept[False] / 10, kept


async def test_where_the_disk_gives_nothing_back_the_rows_say_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with chat() as (view, _):
        view.shelf.begin(UnnamedFiles(tmp_path))
        for number in range(4_000):
            view.text(f"line {number} of words\n")
        view.settle_now()
        for descriptor in unnamed_in(tmp_path):
            os.ftruncate(descriptor, 10)
        total = view.transcript.total
        view.scroll_rows_by(-total)
        assert any(packed_rows.UNREADABLE in line for line in shown(view))
        assert view.transcript.total == total
        assert [record.message.split(":")[0] for record in caplog.records] == [
            "the chat's scroll-back cannot be read"
        ]
        view.scroll_rows_by(total)
        assert "  line 3999 of words" in shown(view), "what came last is in memory"


def kept_rows() -> int:
    gc.collect()
    return sum(type(each) is Row for each in gc.get_objects())


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


def test_a_long_text_is_kept_in_a_fraction_of_its_size() -> None:
    pieces, said = Pieces(), "".join(f"token {number} of a long answer, " for number in range(30_000))
    for at in range(0, len(said), 50):
        pieces.append(said[at : at + 50])
    assert pieces.text() == said and len(pieces) == len(said)
    assert kept_bytes(pieces) < len(said) / 2
    answer = Answer()
    answer.feed(said[:30_000])
    answer.close()
    answer.settle(80)
    assert answer.text == said[:30_000]
    assert not any(type(each) is str and len(each) > 10_000 for each in gc.get_referents(vars(answer)))


def kept_bytes(of: object) -> int:
    """The bytes that ``of`` refers to, without what lies on the disk."""
    waiting, seen = [*gc.get_referents(of)], 0
    while waiting:
        each = waiting.pop()
        if not isinstance(each, type | Shelf | Stored):
            seen += sys.getsizeof(each)
            waiting += gc.get_referents(each)
    return seen


@pytest.mark.parametrize("packed_from", [5, 40, 100_000])
@given(pieces=some.lists(some.text(some.characters(), max_size=30), max_size=50), most=some.integers(0, 200))
def test_pieces_that_are_compressed_read_the_same(packed_from: int, pieces: list[str], most: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("session.base.text.pieces.PACKED_FROM", packed_from)
        kept, bounded = Pieces(), Pieces(most)
        for piece in pieces:
            kept.append(piece)
            bounded.append(piece)
    text = "".join(pieces)
    assert kept.text() == text and len(kept) == len(text)
    assert bounded.gone + len(bounded) == len(text)
    assert bounded.text().endswith(text[bounded.gone :])
    assert len(bounded) <= max(most, SHORTEST + 30)


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
