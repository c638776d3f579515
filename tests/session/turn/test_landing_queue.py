"""The queue of a turn's hunks, story by story: each row is one thing that happens and the effects of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from edits.hunk import (
    Action,
    Format,
    Guard,
    Held,
    Hunk,
    HunkLine,
    Landed,
    LineKind,
    RefusalCode,
    Refused,
    RefusedBy,
    Rung,
    Status,
)
from edits.report import NotReceived
from session.turn.hunk_life import Answer, Question, State
from session.turn.landing_queue import Ask, Check, Divide, Effect, End, Land, LandingQueue, Locate

LOCKED, DELETES = frozenset({Guard.LOCKED}), frozenset({Guard.DELETES})
NONE: frozenset[Guard] = frozenset()
REVIEW_WORDS = "review mode holds every edit until you answer"

Event = Callable[[LandingQueue], list[Effect] | None]
Row = tuple[Event, list[Effect] | None]


def edit(name: str, path: str = "") -> Hunk:
    lines = (HunkLine(LineKind.OLD, "old"), HunkLine(LineKind.NEW, "new"))
    return Hunk(path or f"{name}.py", Action.UPDATE, Format.V4A, lines)


def held(name: str, *guards: Guard) -> Held:
    return Held(name, f"{name}.py", RefusalCode.LOCKED, " and ".join(guards), guards)


def on_disk(name: str, status: Status = Status.APPLIED) -> Landed:
    return Landed(name, f"{name}.py", Action.UPDATE, status, Rung.EXACT, 1, 2)


def refused(name: str, message: str = "it is nowhere", code: RefusalCode = RefusalCode.NO_MATCH) -> Refused:
    return Refused(name, f"{name}.py", code, message)


def declined(name: str, words: str = "") -> End:
    message, why = f"the developer declined it{words}", words.removeprefix(": ") if words[:1] == ":" else ""
    code, by = RefusalCode.LOCKED, RefusedBy.USER
    return End(name, Refused(name, f"{name}.py", code, message, by=by, why=why))


def dropped(name: str) -> End:
    return End(name, NotReceived(name, f"{name}.py"))


def ask(name: str, *guards: Guard) -> Ask:
    return Ask(name, Question(f"{name}.py", guards[0].value, " and ".join(guards), frozenset(guards)))


def ask_in_review(name: str, *guards: Guard) -> Ask:
    words = "; ".join([*([" and ".join(guards)] if guards else []), REVIEW_WORDS])
    return Ask(name, Question(f"{name}.py", "review", words, frozenset(guards)))


def lands(name: str, allow: frozenset[Guard] = NONE) -> Land:
    return Land(name, edit(name), allow)


def checks(name: str) -> Check:
    return Check(name, edit(name))


def shows(name: str) -> Locate:
    return Locate(name, edit(name))


def opened(name: str) -> Event:
    return lambda queue: queue.opened(name, f"{name}.py")


def whole(name: str) -> Event:
    return lambda queue: queue.completed(name, edit(name))


def whole_file(name: str) -> Hunk:
    return replace(edit(name), format=Format.WHOLE)


def foreseen(name: str, *guards: Guard) -> Event:
    return lambda queue: queue.foreseen(name, held(name, *guards))


def yes(name: str, *, rest: bool = False, new: Sequence[str] | None = None) -> Event:
    return lambda queue: queue.answer(name, Answer(land=True, rest=rest, new=new))


def no(name: str, why: str = "", *, rest: bool = False) -> Event:
    return lambda queue: queue.answer(name, Answer(land=False, rest=rest, why=why))


def checked(name: str, result: Landed | Refused | None = None) -> Event:
    return lambda queue: queue.checked(name, result or on_disk(name))


def landed(name: str, result: Landed | Refused | None = None) -> Event:
    return lambda queue: queue.landed(name, result or on_disk(name))


def stop(queue: LandingQueue) -> list[Effect]:
    return queue.stop()


def last_questions(queue: LandingQueue) -> list[Effect]:
    return queue.last_questions()


def play(rows: Sequence[Row], *, attended: bool = True, review: bool = False) -> LandingQueue:
    """Play a story against a new queue; an event without a result (``opened``) has no effects."""
    queue = LandingQueue(attended=attended, review=review)
    for number, (event, effects) in enumerate(rows, 1):
        assert event(queue) == effects, f"row {number}"
    return queue


DELETING: list[Row] = [
    (whole("h1"), [lands("h1")]),
    (landed("h1", held("h1", Guard.DELETES)), [ask("h1", Guard.DELETES), shows("h1")]),
]
"""A hunk trips a guard as it lands."""
LOCKED_EARLY: list[Row] = [
    (opened("h1"), None),
    (foreseen("h1", Guard.LOCKED), [ask("h1", Guard.LOCKED)]),
]
"""The user is asked about a hunk that is still typed."""

ATTENDED: dict[str, list[Row]] = {
    "hunks land one at a time, in the order in which they became whole": [
        (opened("h1"), None),
        (opened("h2"), None),
        (whole("h2"), [lands("h2")]),
        (whole("h1"), []),
        (landed("h2"), [End("h2", on_disk("h2")), lands("h1")]),
        (landed("h1", refused("h1")), [End("h1", refused("h1"))]),
    ],
    "a guard that holds what the user allowed refuses, and does not ask for ever": [
        *DELETING,
        (yes("h1"), [lands("h1", DELETES)]),
        (landed("h1", held("h1", Guard.DELETES)), [End("h1", held("h1", Guard.DELETES))]),
    ],
    "another guard than the one allowed is asked about, and both are allowed then": [
        *DELETING,
        (yes("h1"), [lands("h1", DELETES)]),
        (
            landed("h1", held("h1", Guard.LOCKED, Guard.DELETES)),
            [ask("h1", Guard.LOCKED, Guard.DELETES), shows("h1")],
        ),
        (yes("h1"), [lands("h1", LOCKED | DELETES)]),
        (landed("h1"), [End("h1", on_disk("h1"))]),
    ],
    "an edited answer to an unfinished hunk is not taken, and its question stays open": [
        *LOCKED_EARLY,
        (yes("h1", new=["mine"]), None),
        (yes("h1"), []),
        (yes("h1"), None),
        (whole("h1"), [lands("h1", LOCKED)]),
    ],
    "a whole file is divided when its turn comes, and holds up no hunk that the user agreed to": [
        *DELETING,
        (lambda queue: queue.completed("h2", whole_file("h2")), []),
        (opened("h3"), None),
        (foreseen("h3", Guard.LOCKED), [ask("h3", Guard.LOCKED)]),
        (yes("h3"), []),
        (whole("h3"), [lands("h3", LOCKED)]),
        (landed("h3"), [End("h3", on_disk("h3"))]),
        (yes("h1"), [lands("h1", DELETES)]),
        (landed("h1"), [End("h1", on_disk("h1")), Divide("h2", whole_file("h2"))]),
        (
            lambda queue: queue.divided("h2", [("h2", edit("h2")), ("h4", edit("h4", "h2.py"))]),
            [lands("h2")],
        ),
        (landed("h2"), [End("h2", on_disk("h2")), Land("h4", edit("h4", "h2.py"), NONE)]),
    ],
    "an edited answer lands the user's lines, and the end says which": [
        *DELETING,
        (
            yes("h1", new=["mine"]),
            [
                Land(
                    "h1",
                    replace(
                        edit("h1"), lines=(HunkLine(LineKind.OLD, "old"), HunkLine(LineKind.NEW, "mine"))
                    ),
                    DELETES,
                )
            ],
        ),
        (landed("h1"), [End("h1", replace(on_disk("h1"), edited=("mine",)))]),
    ],
    "a no without a reason tells the guard's": [*DELETING, (no("h1"), [declined("h1", " (deletes)")])],
    "a no with a reason tells that": [*DELETING, (no("h1", "keep it"), [declined("h1", ": keep it")])],
    "a hunk that nobody asked about can be declined, but not agreed to or answered for the rest": [
        (opened("h1"), None),
        (yes("h1"), None),
        (no("h1", rest=True), None),
        (no("h1"), [declined("h1")]),
        (no("h1"), None),
        (no("h9"), None),
    ],
    "a hunk that lands is declined no more": [(whole("h1"), [lands("h1")]), (no("h1"), None)],
    "a yes for the rest lands what is held and what comes, past every guard": [
        *DELETING,
        (opened("h2"), None),
        (foreseen("h2", Guard.LOCKED), [ask("h2", Guard.LOCKED)]),
        (yes("h2", rest=True), [lands("h1", frozenset(Guard))]),
        (opened("h3"), None),
        (foreseen("h3", Guard.LOCKED), []),
        (whole("h3"), []),
        (landed("h1"), [End("h1", on_disk("h1")), lands("h3", frozenset(Guard))]),
    ],
    "a no for the rest declines what is held and what comes": [
        *DELETING,
        (no("h1", "no more", rest=True), [declined("h1", ": no more")]),
        (whole("h2"), [lands("h2")]),
        (landed("h2", held("h2", Guard.LOCKED)), [declined("h2", " (locked)")]),
        (opened("h3"), None),
        (foreseen("h3", Guard.LOCKED), [declined("h3", " (locked)")]),
    ],
    "a question that a check only repeats is not put again": [
        *LOCKED_EARLY,
        (whole("h1"), [checks("h1")]),
        (checked("h1", held("h1", Guard.LOCKED)), [shows("h1")]),
    ],
    "a question about the text of a hunk is put again once it is whole": [
        (opened("h1"), None),
        (foreseen("h1", Guard.RUNS), [ask("h1", Guard.RUNS)]),
        (whole("h1"), [replace(ask("h1", Guard.RUNS), edit=edit("h1"), again=True), checks("h1")]),
        (checked("h1", held("h1", Guard.RUNS)), [shows("h1")]),
    ],
    "a question that was answered is put again where it comes again": [
        *LOCKED_EARLY,
        (yes("h1"), []),
        (foreseen("h1", Guard.LOCKED), [ask("h1", Guard.LOCKED)]),
    ],
    "a check that finds another reason puts the question anew": [
        *LOCKED_EARLY,
        (whole("h1"), [checks("h1")]),
        (
            checked("h1", held("h1", Guard.LOCKED, Guard.DELETES)),
            [ask("h1", Guard.LOCKED, Guard.DELETES), shows("h1")],
        ),
    ],
    "a check that finds nothing to ask about lands the hunk": [
        *LOCKED_EARLY,
        (whole("h1"), [checks("h1")]),
        (checked("h1"), [lands("h1")]),
    ],
    "a check that finds no place for the hunk refuses it, and the next one lands": [
        *LOCKED_EARLY,
        (whole("h1"), [checks("h1")]),
        (whole("h2"), []),
        (checked("h1", refused("h1")), [End("h1", refused("h1")), lands("h2")]),
    ],
    "the check of a hunk that was declined meanwhile changes nothing": [
        *LOCKED_EARLY,
        (whole("h1"), [checks("h1")]),
        (no("h1"), [declined("h1", " (locked)")]),
        (checked("h1"), []),
    ],
    "a path is not asked about any more once its hunk is placed, and one without a hunk never": [
        *DELETING,
        (foreseen("h1", Guard.LOCKED), []),
        (foreseen("h9", Guard.LOCKED), []),
    ],
    "a broken hunk ends with its question, and a lost one may come again": [
        *LOCKED_EARLY,
        (lambda queue: queue.broken(refused("h1")), [End("h1", refused("h1"))]),
        (lambda queue: queue.broken(refused("h2")), [End("h2", refused("h2"))]),
        (lambda queue: queue.cut("h3", "h3.py"), [dropped("h3")]),
        (lambda queue: queue.cut("h3", "h3.py"), []),
        (whole("h1"), []),
    ],
    "a stop drops all but the hunk that is landing, and nothing comes after it": [
        (opened("h2"), None),
        (whole("h1"), [lands("h1")]),
        (whole("h3"), []),
        (stop, [dropped("h2"), dropped("h3")]),
        (whole("h4"), []),
        (lambda queue: queue.broken(refused("h5")), []),
        (lambda queue: queue.cut("h6", "h6.py"), []),
        (landed("h1"), [End("h1", on_disk("h1"))]),
    ],
    "a guard that trips after the stop asks nothing": [
        (whole("h1"), [lands("h1")]),
        (stop, []),
        (landed("h1", held("h1", Guard.DELETES)), [dropped("h1")]),
    ],
    "a write that had not begun at the stop is dropped": [
        (whole("h1"), [lands("h1")]),
        (stop, []),
        (lambda queue: queue.not_begun("h1"), [dropped("h1")]),
    ],
    "when no question can be answered any more, hunks land up to the first one": [
        (whole("h1"), [lands("h1")]),
        (whole("h2"), []),
        (opened("h3"), None),
        (last_questions, []),
        (foreseen("h3", Guard.LOCKED), []),
        (landed("h1"), [End("h1", on_disk("h1")), lands("h2")]),
        (landed("h2", held("h2", Guard.DELETES)), [dropped("h2"), dropped("h3")]),
        (whole("h4"), []),
    ],
    "a hunk that is held as the last questions are over is dropped with those behind it": [
        *DELETING,
        (whole("h2"), []),
        (last_questions, [dropped("h1"), dropped("h2")]),
    ],
}


@pytest.mark.parametrize("story", ATTENDED)
def test_with_a_user(story: str) -> None:
    play(ATTENDED[story])


REVIEWED: dict[str, list[Row]] = {
    "each whole hunk is asked about, one check after the other": [
        (whole("h1"), [checks("h1")]),
        (whole("h2"), []),
        (checked("h1"), [ask_in_review("h1"), shows("h1"), checks("h2")]),
        (checked("h2"), [ask_in_review("h2"), shows("h2")]),
        (yes("h2"), [lands("h2")]),
        (no("h1"), [declined("h1", f" ({REVIEW_WORDS})")]),
        (landed("h2"), [End("h2", on_disk("h2"))]),
    ],
    "the question names what else holds the hunk, and a yes allows that": [
        (whole("h1"), [checks("h1")]),
        (checked("h1", held("h1", Guard.DELETES)), [ask_in_review("h1", Guard.DELETES), shows("h1")]),
        (yes("h1"), [lands("h1", DELETES)]),
    ],
    "a hunk that is on disk already needs no answer": [
        (whole("h1"), [checks("h1")]),
        (checked("h1", on_disk("h1", Status.ALREADY_APPLIED)), [lands("h1")]),
    ],
    "a yes for the rest lands hunks without a check": [
        (whole("h1"), [checks("h1")]),
        (checked("h1"), [ask_in_review("h1"), shows("h1")]),
        (yes("h1", rest=True), [lands("h1", frozenset(Guard))]),
        (whole("h2"), []),
        (landed("h1"), [End("h1", on_disk("h1")), lands("h2", frozenset(Guard))]),
    ],
    "a no for the rest declines each hunk once its turn and its check have come": [
        (whole("h1"), [checks("h1")]),
        (checked("h1"), [ask_in_review("h1"), shows("h1")]),
        (no("h1", rest=True), [declined("h1", f" ({REVIEW_WORDS})")]),
        (whole("h2"), [checks("h2")]),
        (whole("h3"), []),
        (checked("h2"), [declined("h2", f" ({REVIEW_WORDS})"), checks("h3")]),
    ],
}


@pytest.mark.parametrize("story", REVIEWED)
def test_in_review_mode(story: str) -> None:
    play(REVIEWED[story], review=True)


UNATTENDED: dict[str, tuple[bool, list[Row]]] = {
    "a hunk that a guard holds is refused": (
        False,
        [
            (opened("h1"), None),
            (foreseen("h1", Guard.LOCKED), []),
            (whole("h1"), [lands("h1")]),
            (landed("h1", held("h1", Guard.LOCKED)), [End("h1", held("h1", Guard.LOCKED))]),
        ],
    ),
    "a hunk in review mode is refused": (
        True,
        [
            (whole("h1"), [checks("h1")]),
            (
                checked("h1"),
                [End("h1", refused("h1", f"{REVIEW_WORDS}; nobody can be asked here", RefusalCode.LOCKED))],
            ),
        ],
    ),
}


@pytest.mark.parametrize("story", UNATTENDED)
def test_without_a_user(story: str) -> None:
    review, rows = UNATTENDED[story]
    play(rows, attended=False, review=review)


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (edit("h1", "a.py"), edit("h2", "b.py"), False),
        (edit("h1", "a.py"), edit("h2", "./a.py"), True),
        (replace(edit("h1", "a.py"), move_to="b.py"), edit("h2", "b.py"), True),
        (edit("h1", "b.py"), replace(edit("h2", "a.py"), move_to="b.py"), True),
        (replace(edit("h1", "a.py"), move_to="b.py"), edit("h2", "c.py"), False),
    ],
)
def test_a_hunk_that_is_agreed_to_waits_for_those_before_it_in_its_file(
    first: Hunk, second: Hunk, waits: bool
) -> None:
    queue = LandingQueue(attended=True, review=True)
    queue.completed("h1", first)
    queue.completed("h2", second)
    queue.checked("h1", on_disk("h1"))
    queue.checked("h2", on_disk("h2"))
    begun = queue.answer("h2", Answer(land=True))
    assert begun == ([] if waits else [Land("h2", second, NONE)])


def test_a_hunk_that_is_agreed_to_while_it_is_checked_waits_for_the_one_before_it_in_its_file() -> None:
    same = edit("h2", "h1.py")
    queue = play([*DELETING, (opened("h2"), None), (foreseen("h2", Guard.LOCKED), [ask("h2", Guard.LOCKED)])])
    assert queue.completed("h2", same) == [], "its turn has not come"
    assert queue.answer("h2", Answer(land=True)) == [] and queue.state("h2") is State.WAITING
    assert queue.answer("h1", Answer(land=True)) == [lands("h1", DELETES)]
    assert queue.landed("h1", on_disk("h1")) == [End("h1", on_disk("h1")), Land("h2", same, LOCKED)]


def test_the_ends_are_told_in_the_order_of_the_answer_and_the_queue_says_when_it_is_idle() -> None:
    queue = LandingQueue(attended=True, review=False)
    rows: list[tuple[Event, bool, list[Landed | NotReceived]]] = [
        (opened("h1"), True, []),
        (whole("h2"), False, []),
        (landed("h2"), True, [on_disk("h2")]),  # the first is still typed: nothing to wait for
        (lambda queue: queue.cut("h1", "h1.py"), True, [NotReceived("h1", "h1.py"), on_disk("h2")]),
    ]
    for event, idle, outcomes in rows:
        event(queue)
        assert (queue.idle, queue.outcomes) == (idle, outcomes)


def test_text_is_shown_of_hunks_that_are_typed_alone() -> None:
    queue = play(LOCKED_EARLY)
    assert queue.typing("h1") and not queue.typing("h9")
    queue.completed("h1", edit("h1"))
    assert not queue.typing("h1")
