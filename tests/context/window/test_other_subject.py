"""A following turn about another subject gets more room, and one about the same subject does not."""

from __future__ import annotations

import pytest

from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Window, WindowRequest
from context.window.seen import Seen
from context.window.window import build
from tests.context.conftest import Repo

VERBS = ("load", "store", "merge", "drain", "split", "count")


def module(noun: str) -> str:
    return "\n\n".join(
        f"def {verb}_{noun}_{at}(value):\n"
        + "".join(f"    value = {noun}_{verb}(value, {line}) + 1\n" for line in range(12))
        for at in range(5)
        for verb in VERBS
    )


BUDGET, LIMIT = 30_000, 1_200


def two_turns(repo: Repo, counter: Counter, second: str, subject_limit: int | None = 8_000) -> Window:
    """The second turn's window, after a first one about packets."""
    repo.commit(**{f"{noun}.py": module(noun) for noun in ("packet", "cursor", "widget", "ledger")})
    snapshot = Project(repo.root).scan()
    first = build(WindowRequest("every packet", "", BUDGET), snapshot, counter)
    assert "packet_drain(value, 11)" in first.text and "cursor_drain(value, 11)" not in first.text
    asked = WindowRequest(
        second, "", BUDGET, used=first.tokens, likely_limit=LIMIT, subject_limit=subject_limit
    )
    window = build(asked, snapshot, counter, Seen().after(first.shown))
    assert window.tokens <= BUDGET
    return window


def spent(window: Window) -> int:
    return sum(piece.tokens for piece in window.pieces if piece.why.startswith("likely to matter"))


def test_another_subject_gets_more_room(repo: Repo, counter: Counter) -> None:
    window = two_turns(repo, counter, "why does the cursor count twice?")
    assert 3_000 < spent(window) <= 8_000
    assert window.unmet == 0


@pytest.mark.parametrize("subject_limit", [None, 1_000])
def test_what_has_no_room_is_told(repo: Repo, counter: Counter, subject_limit: int | None) -> None:
    window = two_turns(repo, counter, "why does the cursor count twice?", subject_limit)
    assert 0 < spent(window) <= (subject_limit or LIMIT)
    assert window.unmet > 2_000


def test_the_same_subject_gets_no_more(repo: Repo, counter: Counter) -> None:
    window = two_turns(repo, counter, "why does the packet count twice, unlike the cursor?")
    assert spent(window) <= LIMIT and window.unmet == 0


def test_a_request_that_says_little_is_about_no_other_subject(repo: Repo, counter: Counter) -> None:
    window = two_turns(repo, counter, "Go on.")
    assert spent(window) == 0 and window.unmet == 0
