"""What the user is shown of the windows that were sent, and the topic of a dialogue, as tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from context.window.pieces import Kind, LeftOut, Piece
from session.turn.past_turns import EditFact, PastTurn, PastTurns, recent_topic
from session.turn.window_report import LeftOutFile, ReportedPiece, SentWindows, left_out_files


def window(*pieces: Piece) -> Any:
    return SimpleNamespace(pieces=pieces)


MAP = Piece(Kind.MAP, None, "## Map\n", 3, "the project")
FILE = Piece(Kind.MENTIONED, "a.py", "## File: a.py\n", 4, "named")
WORDS = Piece(Kind.REQUEST, None, "## Request\n\ngo\n", 2, "what the user asked")
NOTHING = Piece(Kind.REQUEST, None, "## Request\n\n\n", 1, "what the user asked")


def shown(piece: Piece, *, earlier: bool) -> ReportedPiece:
    return ReportedPiece(str(piece.kind), piece.path or "", piece.tokens, piece.why, piece.text, earlier)


def test_files_that_are_left_out_are_grouped_without_the_details_of_each() -> None:
    assert LeftOutFile("a.py", 9, "too long for the window (of 9 tokens)").reason == "too long for the window"


def test_the_pieces_of_all_windows_are_shown_the_last_ones_apart() -> None:
    sent = SentWindows()
    assert [sent.last, *sent.pieces, *sent.parts()] == [None]
    sent.take(first := window(MAP, NOTHING))
    assert sent.last is first and sent.parts() == (shown(MAP, earlier=False),), (
        "an empty request is not shown"
    )
    sent.take(second := window(FILE, WORDS))
    assert sent.last is second and sent.pieces == (MAP, NOTHING, FILE, WORDS)
    now = (shown(FILE, earlier=False), shown(WORDS, earlier=False))
    assert sent.parts() == (shown(MAP, earlier=True), *now)
    sent.clear()
    assert [sent.last, *sent.pieces, *sent.parts()] == [None]


def test_what_was_left_out_is_shown_with_its_reason() -> None:
    left = (LeftOut("a.py", 7, "no room"), LeftOut("b.py", 0, "a binary file", named=True))
    told = (LeftOutFile("a.py", 7, "no room"), LeftOutFile("b.py", 0, "a binary file"))
    assert left_out_files(left) == told


def turn(number: int, prompt: str, *edited: str) -> PastTurn:
    return PastTurn(
        f"t{number}", prompt, "", tuple(EditFact("h1", "applied", path) for path in edited), "completed"
    )


@pytest.mark.parametrize(
    ("turns", "words", "files"),
    [
        ([], "", ()),
        ([turn(1, "x" * 2_000)], "x" * 2_000, ()),
        ([turn(1, "x" * 2_000 + "y")], "x" * 2_000, ()),
        ([turn(n, f"p{n}") for n in range(1, 5)], "p2\np3\np4", ()),
        (
            [turn(1, "one", "a"), *(turn(n, "", f"b{n}") for n in range(2, 7))],
            "\n\n",
            ("b6", "b5", "b4", "b3", "b2", "a"),
        ),
        ([turn(1, "one", "a"), *(turn(n, "", "b") for n in range(2, 8))], "\n\n", ("b",)),
        ([turn(1, "", "a", "b", "a")], "", ("a", "b")),
        ([turn(1, "", *(f"f{n}" for n in range(25)))], "", tuple(f"f{n}" for n in range(24, 4, -1))),
    ],
)
def test_the_topic_is_that_of_the_last_turns(
    turns: list[PastTurn], words: str, files: tuple[str, ...]
) -> None:
    nothing: Any = SimpleNamespace(paths=(), entries={}, unread={}, words=SimpleNamespace())
    found = recent_topic(PastTurns(tuple(turns)), nothing)
    assert (found.words, found.files) == (words, files)
