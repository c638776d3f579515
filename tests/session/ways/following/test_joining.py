"""A follower that joins between any two events is told the same as one that was there from the beginning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from session.base.events import (
    Event,
    HunkAimed,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkTyped,
    PhaseChanged,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
)
from session.record.journal.recorder import UNJOURNALLED
from session.record.sharing.host import CatchUp
from session.ways.followed_session import _split, _with_pieces

HUNKS = st.sampled_from(["h1", "h2", "h3"])
STEPS = st.one_of(
    st.just(("text",)),
    st.tuples(st.just("open"), HUNKS),
    st.tuples(st.just("type"), HUNKS, st.text(max_size=3)),
    st.tuples(st.just("aim"), HUNKS),
    st.tuples(st.just("hold"), HUNKS),
    st.tuples(st.just("land"), HUNKS),
    st.tuples(st.just("drop"), HUNKS),
    st.tuples(st.just("phase"), st.sampled_from(["waiting", "streaming"])),
    st.just(("turn",)),
)


def events_from(steps: list[tuple[str, ...]]) -> list[Event]:
    """A session in which each step makes sense where it comes; the others are left out."""
    said: list[Event] = [PromptSubmitted(turn="t1", text="go")]
    number, live = 1, dict[str, str]()
    for step in steps:
        turn = f"t{number}"
        match step:
            case ("text",):
                said.append(TextDelta(turn, "words"))
            case ("open", name) if name not in live:
                live[name] = f"{name}-{len(said)}"
                said.append(HunkOpened(turn, live[name], "a.py"))
            case ("type", name, text) if name in live:
                said.append(HunkTyped(turn, live[name], "+", text))
            case ("aim", name) if name in live:
                said.append(HunkAimed(turn, live[name], "a.py", 1, 2))
            case ("hold", name) if name in live:
                said.append(HunkHeld(turn, live[name], "a.py", "review", "?"))
            case ("land", name) if name in live:
                said.append(HunkLanded(turn, live.pop(name), "a.py", "applied", 1, 1, 2))
            case ("drop", name) if name in live:
                said.append(HunkDropped(turn, live.pop(name), "a.py"))
            case ("phase", phase):
                said.append(PhaseChanged(turn, phase))
            case ("turn",):
                said += [HunkDropped(turn, live.pop(name), "a.py") for name in list(live)]
                said.append(TurnEnded(turn, "completed"))
                number += 1
                said.append(PromptSubmitted(f"t{number}", "go"))
            case _:
                pass
    return said


def live_hunks(events: list[Event]) -> dict[str, str]:
    """What was typed of each hunk that has not ended: what a screen draws."""
    typed: dict[str, str] = {}
    for event in events:
        match event:
            case HunkOpened(hunk=hunk):
                typed[hunk] = ""
            case HunkTyped(hunk=hunk, text=text):
                assert hunk in typed, "typed before it was opened"
                typed[hunk] += text
            case HunkLanded(hunk=hunk) | HunkDropped(hunk=hunk):
                del typed[hunk]
            case _:
                pass
    return typed


@given(st.lists(STEPS, max_size=40), st.data())
def test_any_moment(steps: list[tuple[str, ...]], data: st.DataObject) -> None:
    events = events_from(steps)
    joined = data.draw(st.integers(0, len(events)))
    host = CatchUp()
    for event in events[:joined]:
        host.take(event)
    # What a journal keeps and gives back (session/record/journal/reading.py).
    journal = [
        each for each in events[:joined] if not isinstance(each, (*UNJOURNALLED, HunkAimed, PhaseChanged))
    ]
    before, so_far = _split(journal, host.turn)
    told = [*before, *_with_pieces(so_far, host.events()), *events[joined:]]
    assert live_hunks(told) == live_hunks(events)
    kept = [each for each in told if not isinstance(each, (HunkTyped, HunkAimed, PhaseChanged))]
    assert kept == [each for each in events if not isinstance(each, (HunkTyped, HunkAimed, PhaseChanged))]
    last = [each for each in told if isinstance(each, PhaseChanged)][-1:]
    if host.turn and events[:joined] and isinstance(events[joined - 1], PhaseChanged):
        assert last or joined == len(events)
