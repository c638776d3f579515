"""Fitting the dialogue into its room: exact counts, what is kept, and when a compaction pays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.turn.compaction.compact import LEAST_GAIN, Room, as_it_stands, compact, history, room_in
from session.turn.past_turns import PastTurn, PastTurns
from tests.session.turn.compaction.saying import count, long_dialogue, past, turn
from tests.thorough import share

ROOM = Room(limit=3_000, target=2_000)


def test_a_dialogue_that_fits_is_not_compacted() -> None:
    turns = long_dialogue(4)
    found = history(past(turns, ["be brief"]), ROOM, count, full=True)
    assert found.made is None
    assert found.pieces[1:] == tuple(each.text() for each in turns)
    assert "be brief" in found.pieces[0]
    assert found.tokens == sum(map(count, found.pieces)) <= ROOM.target


def test_older_turns_become_a_ledger_and_the_newest_stay_whole() -> None:
    turns = long_dialogue(20)
    found = history(past(turns), ROOM, count, full=True)
    made = found.made
    assert made is not None and made.by == "rules" and made.through == "t18" and made.turns == 18
    assert found.pieces[0] == made.text and found.pieces[1:] == tuple(each.text() for each in turns[18:])
    assert made.after == found.tokens == sum(map(count, found.pieces)) <= ROOM.target
    assert made.before == sum(count(each.text()) for each in turns)
    assert "secret_code" not in made.text, "code is rebuilt from disk"
    for each in turns[:18]:
        assert each.prompt in made.text
    assert "18 messages of yours word for word" in made.kept and "the last 2 turns whole" in made.kept
    assert "the words of 18 answers" in made.dropped
    assert "18 code blocks in them (code is shown from disk)" in made.dropped


def test_the_same_dialogue_gives_the_same_bytes() -> None:
    turns = long_dialogue(30)
    assert history(past(turns), ROOM, count, full=True) == history(past(turns), ROOM, count, full=True)


def test_a_compaction_stands_until_it_pays_to_make_another() -> None:
    turns = long_dialogue(30)
    made = history(past(turns), ROOM, count, full=True).made
    assert made is not None
    again = history(past(turns, compacted=made), ROOM, count, full=True)
    assert again.made is None and again.pieces[0] == made.text
    one_more = history(past([*turns, turn(31, "go on", "ok")], compacted=made), ROOM, count, full=True)
    assert one_more.made is None and one_more.pieces[:-1] == again.pieces, "the prefix stays as it was"
    later = history(past(long_dialogue(40), compacted=made), ROOM, count, full=True)
    assert later.made is not None and later.made.through != made.through
    assert later.made.before == as_it_stands(past(long_dialogue(40), compacted=made), count).tokens


def test_without_a_full_window_it_is_compacted_only_past_the_limit() -> None:
    turns = long_dialogue(7, words=100)
    tokens = as_it_stands(past(turns), count).tokens
    assert ROOM.target < tokens < ROOM.limit
    assert history(past(turns), ROOM, count, full=False).made is None
    assert history(past(turns), ROOM, count, full=True).made is not None


def test_a_compaction_that_saves_too_little_is_not_made() -> None:
    turns = [turn(n, f"Message {n}: " + "unlike words all of them " * 8, "ok") for n in range(1, 46)]
    before = as_it_stands(past(turns), count)
    made = compact(past(turns), Room(before.tokens, before.tokens - 10), count)
    assert made is not None and made.tokens > before.tokens * (1 - LEAST_GAIN)
    assert history(past(turns), Room(before.tokens, before.tokens - 10), count, full=True) == before


def test_messages_without_room_are_named_and_the_oldest_go_last() -> None:
    turns = [turn(n, f"Message {n}: " + f"many words of number {n} " * 20, "ok") for n in range(1, 60)]
    found = history(past(turns), ROOM, count, full=True)
    made = found.made
    assert made is not None and found.tokens <= ROOM.limit
    kept = [each.turn for each in turns if each.prompt.strip() in "".join(found.pieces)]
    assert kept[0] == "t1" and kept[-1] == "t59", "the first and the last are there"
    first_gone = next(at for at, each in enumerate(turns, 1) if each.turn not in kept)
    assert kept[: first_gone - 1] == [f"t{n}" for n in range(1, first_gone)], "those that went are newer"
    assert f"Messages left out for lack of room: t{first_gone} to t" in made.text
    assert any(f"t{first_gone} to t" in line and "of yours" in line for line in made.dropped)


def test_one_huge_message_does_not_displace_the_others() -> None:
    turns = [
        turn(1, "The goal is a parser."),
        turn(2, "log line of many words " * 400),
        *long_dialogue(30)[2:],
    ]
    found = history(past(turns), ROOM, count, full=True)
    made = found.made
    assert made is not None and "The goal is a parser." in made.text
    assert "for lack of room: t2 (" in "".join(made.dropped)
    assert sum(each.prompt in "".join(found.pieces) for each in turns) == 29


def test_the_last_message_is_kept_though_it_is_longer_than_the_target() -> None:
    turns = [*long_dialogue(5), turn(6, "a long last word " * 600, "an answer " * 900)]
    assert ROOM.target < count(turns[-1].prompt) < ROOM.limit
    found = history(past(turns), ROOM, count, full=True)
    assert found.made is not None and turns[-1].prompt.strip() in found.made.text
    assert found.tokens <= ROOM.limit


@pytest.mark.parametrize("budget", [0, 500, 3_000, 6_000, 30_000, 128_000, 1_000_000])
def test_the_room_is_never_more_than_the_window_gives_to_history(budget: int) -> None:
    room = room_in(budget, 900)
    assert 0 <= room.target <= room.limit <= max(0, budget - 900) // 3


WORDS = st.text(alphabet=st.sampled_from("abc /`#-\n.{}é\x1b'\""), max_size=400)
STATUS = st.sampled_from(["completed", "interrupted", "failed"])


@st.composite
def dialogues(draw: st.DrawFn) -> PastTurns:
    turns: list[PastTurn] = []
    for n in range(1, draw(st.integers(1, 12)) + 1):
        prompt = f"ask {n} " + draw(WORDS)
        said = draw(WORDS) + draw(st.sampled_from(["", "word " * 300, "```\ncode\n```\n"]))
        turns.append(turn(n, prompt, said, (f"h{n}", "applied", f"p{n}.py"), status=draw(STATUS)))
    return past(
        turns, draw(st.lists(st.text("xyz \n", min_size=1, max_size=60).map(lambda t: f"k{t}k"), max_size=3))
    )


@settings(max_examples=share(150, 30), deadline=None)
@given(dialogues(), st.integers(1_000, 4_000), st.booleans())
def test_it_never_grows_and_keeps_what_must_be_kept(dialogue: PastTurns, limit: int, full: bool) -> None:
    before = as_it_stands(dialogue, count)
    found = history(dialogue, Room(limit, limit * 7 // 10), count, full=full)
    text = "".join(found.pieces)
    assert found.tokens == count(text), "the pieces add up exactly"
    assert found.tokens <= before.tokens
    if found.made is not None:
        assert found.tokens < before.tokens and found.tokens <= limit
        assert found.made.before == before.tokens and found.made.after == found.tokens
    for _, line in dialogue.remembered:
        assert line in text
    last = dialogue.turns[-1].prompt.strip("\n").replace("\x1b", "␛")
    assert last.strip() in text.replace("\x1b", "␛")
