from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.base.events import (
    Event,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    Notice,
    PromptSubmitted,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from session.base.storage.private_files import StoreError
from session.project.workspace import Workspace, open_workspace
from session.record.journal.journals import Journal
from session.record.journal.reading import last_number
from session.turn.resume import CUT, resume_session

NAME = "20260102-030405-abcd"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    return open_workspace(tmp_path)


def journal(workspace: Workspace, *events: Event) -> Path:
    made = Journal(workspace.folders.sessions, NAME)
    for event in events:
        made.write(event)
    made.close()
    return made.file


def update(old: str, new: str) -> Hunk:
    return Hunk(
        "a.txt", Action.UPDATE, Format.V4A, (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new))
    )


def land(workspace: Workspace, hunk: Hunk, turn: str = "t1", session: str = NAME) -> HunkLanded:
    name = workspace.ledger.next_id()
    result = workspace.landing.land(hunk, hunk_id=name, session=session, turn=turn)
    assert isinstance(result, Landed), result
    return HunkLanded(
        turn, name, result.path, result.status.value, int(result.rung), result.start, result.end,
        action=result.action.value,
    )  # fmt: skip


def test_a_session_that_ended_properly_needs_no_closing_events(workspace: Workspace) -> None:
    told = land(workspace, update("two", "TWO"))
    events: tuple[Event, ...] = (
        PromptSubmitted("t1", "go"),
        TextDelta("t1", "Done."),
        told,
        TurnEnded("t1", "completed"),
    )
    resumed = resume_session(journal(workspace, *events), workspace.ledger)
    assert resumed.events == events
    assert resumed.ending == ()
    assert resumed.turns == 1
    assert resumed.memory.cut_short == ""
    (turn,) = resumed.memory.past_turns.past().turns
    text = turn.text()
    assert "go" in text and "Done." in text and f"{told.hunk} applied a.txt" in text
    assert list(resumed.memory.conversation.items) == []


def test_a_turn_without_its_end_is_ended_as_failed(workspace: Workspace) -> None:
    file = journal(
        workspace,
        PromptSubmitted("t1", "one"),
        TurnEnded("t1", "completed"),
        PromptSubmitted("t2", "two"),
        TextDelta("t2", "I be"),
    )
    resumed = resume_session(file, workspace.ledger)
    assert resumed.ending == (TurnEnded("t2", "failed", message=CUT, code="killed"),)
    assert resumed.memory.cut_short
    assert resumed.turns == 2


def test_landed_hunks_missing_in_the_journal_get_their_events(workspace: Workspace) -> None:
    told = land(workspace, update("one", "ONE"))
    untold = land(workspace, update("two", "TWO"))
    file = journal(workspace, PromptSubmitted("t1", "go"), told)
    resumed = resume_session(file, workspace.ledger)
    assert resumed.ending == (untold, TurnEnded("t1", "failed", message=CUT, code="killed"))


def test_other_sessions_hunks_are_not_told(workspace: Workspace) -> None:
    land(workspace, update("one", "ONE"), session="20260101-000000-ffff")
    land(workspace, update("two", "TWO"), session="")
    resumed = resume_session(journal(workspace, PromptSubmitted("t1", "x")), workspace.ledger)
    assert [type(event) for event in resumed.ending] == [TurnEnded]


def test_a_moved_file_is_told_with_both_its_paths(workspace: Workspace) -> None:
    move = Hunk("a.txt", Action.MOVE, Format.V4A, move_to="b.txt")
    land(workspace, move)
    resumed = resume_session(journal(workspace, PromptSubmitted("t1", "x")), workspace.ledger)
    landed = resumed.ending[0]
    assert isinstance(landed, HunkLanded)
    assert (landed.path, landed.moved_to, landed.action) == ("a.txt", "b.txt", "move")


def test_an_undo_by_another_command_is_told(workspace: Workspace) -> None:
    first, second = land(workspace, update("one", "ONE")), land(workspace, update("two", "TWO"))
    file = journal(workspace, PromptSubmitted("t1", "go"), first, second, TurnEnded("t1", "completed"))
    assert isinstance(workspace.landing.undo(first.hunk), Landed)
    (undone,) = resume_session(file, workspace.ledger).ending
    assert isinstance(undone, HunkUndone)
    assert (undone.hunk, undone.path) == (first.hunk, "a.txt")
    journal(workspace, undone)
    assert resume_session(file, workspace.ledger).ending == ()
    assert isinstance(workspace.landing.redo(first.hunk), Landed)
    (redone,) = resume_session(file, workspace.ledger).ending
    assert isinstance(redone, HunkRedone)
    assert resume_session(file, workspace.ledger).memory.cut_short == ""


def test_a_hunk_that_landed_and_was_undone_without_the_journal_gets_both_events(workspace: Workspace) -> None:
    land(workspace, update("one", "ONE"))
    assert isinstance(workspace.landing.undo(), Landed)
    file = journal(workspace, PromptSubmitted("t1", "go"), TurnEnded("t1", "completed"))
    assert [type(event) for event in resume_session(file, workspace.ledger).ending] == [
        HunkLanded,
        HunkUndone,
    ]


def test_a_damaged_journal_gives_what_can_be_read(workspace: Workspace) -> None:
    file = journal(workspace, PromptSubmitted("t1", "go"), TurnEnded("t1", "completed"))
    with file.open("ab") as handle:
        handle.write(b'{"type":"text.delta","turn":1}\nnonsense\n{"type":"from.the.future"}\n{"type":"tex')
    resumed = resume_session(file, workspace.ledger)
    *past, told = resumed.events
    assert len(past) == 2
    assert isinstance(told, Notice) and "that are left out: 3, in " in told.text
    assert resumed.ending == ()


@pytest.mark.parametrize("kind", ["prompt", "turn.started", "text.delta", "turn.ended"])
@pytest.mark.parametrize("turn", ["t1", "t2", "t3"])
def test_a_damaged_record_is_lost_alone(workspace: Workspace, turn: str, kind: str) -> None:
    file = journal(
        workspace,
        *(
            event
            for number in (1, 2, 3)
            for event in (
                PromptSubmitted(f"t{number}", f"ask {number}"),
                TurnStarted("s", f"t{number}", "m", "", 1),
                TextDelta(f"t{number}", f"answer {number}"),
                TurnEnded(f"t{number}", "completed"),
            )
        ),
    )
    lines = file.read_bytes().split(b"\n")
    (at,) = [
        n for n, line in enumerate(lines) if f'"{turn}"'.encode() in line and f'"{kind}'.encode() in line
    ]
    lines[at] = lines[at].replace(turn.encode(), b"\0\0")
    file.write_bytes(b"\n".join(lines))
    resumed = resume_session(file, workspace.ledger)
    assert resumed.turns == 3, "the next turn is t4"
    told = {
        each.turn: (each.prompt, each.said, each.status) for each in resumed.memory.past_turns.past().turns
    }
    whole = {f"t{n}": (f"ask {n}", f"answer {n}", "completed") for n in (1, 2, 3)}
    assert told.keys() == whole.keys()
    lost = {"prompt": 0, "text.delta": 1, "turn.ended": 2}.get(kind)
    for name, parts in whole.items():
        kept = tuple("" if name == turn and n == lost else part for n, part in enumerate(parts))
        assert told[name] == kept


@pytest.mark.parametrize(
    ("names", "number"),
    [
        ([], 0),
        (["t1", "t2"], 2),
        (["t3"], 3),
        (["t2", "t10", "t9"], 10),
        (["h7", "t1.c9", "t", "tx", "t²"], 0),
    ],
)
def test_what_follows_is_numbered_from_the_last(names: list[str], number: int) -> None:
    assert last_number(names, "t") == number


def test_an_empty_journal_resumes_as_an_empty_session(workspace: Workspace) -> None:
    workspace.folders.sessions.mkdir(parents=True)
    file = workspace.folders.sessions / f"{NAME}.jsonl"
    file.touch()
    resumed = resume_session(file, workspace.ledger)
    assert (resumed.events, resumed.ending, resumed.turns) == ((), (), 0)


def test_a_journal_that_cannot_be_read_is_a_store_error(workspace: Workspace) -> None:
    with pytest.raises(StoreError, match="cannot read"):
        resume_session(workspace.folders.sessions / "none.jsonl", workspace.ledger)


KILLED = """
import os, signal, sys
from pathlib import Path
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.landing import Landing
from session.project.workspace import open_workspace

workspace = open_workspace(Path(sys.argv[1]))

def die(step):
    if step == sys.argv[3]:
        os.kill(os.getpid(), signal.SIGKILL)

lines = (HunkLine(LineKind.OLD, "two"), HunkLine(LineKind.NEW, "TWO"))
hunk = Hunk("a.txt", Action.UPDATE, Format.V4A, lines)
landing = Landing(workspace.root, workspace.ledger, step=die)
landing.land(hunk, hunk_id="h1", session=sys.argv[2], turn="t1")
"""


@pytest.mark.parametrize(
    ("step", "landed"), [("intent", False), ("temporary written", False), ("replaced", True)]
)
def test_a_kill_in_the_middle_of_a_landing_loses_no_hunk(
    workspace: Workspace, step: str, landed: bool
) -> None:
    root = workspace.root
    done = subprocess.run([sys.executable, "-c", KILLED, str(root), NAME, step], check=False, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    file = journal(workspace, PromptSubmitted("t1", "go"))
    ending = resume_session(file, open_workspace(root).ledger).ending
    assert [event.hunk for event in ending if isinstance(event, HunkLanded)] == (["h1"] if landed else [])
    assert isinstance(ending[-1], TurnEnded)
    assert (root / "a.txt").read_text() == ("one\nTWO\nthree\n" if landed else "one\ntwo\nthree\n")
    assert [path.name for path in root.iterdir()] == ["a.txt"]


def test_a_landing_that_the_user_wrote_over_meanwhile_is_a_warning(workspace: Workspace) -> None:
    root = workspace.root
    subprocess.run([sys.executable, "-c", KILLED, str(root), NAME, "intent"], check=False, env=os.environ)
    (root / "a.txt").write_text("the user's own\n")
    file = journal(workspace, PromptSubmitted("t1", "go"))
    warning, end = resume_session(file, open_workspace(root).ledger).ending
    assert isinstance(warning, Notice) and warning.level == "warning" and "h1" in warning.text
    assert isinstance(end, TurnEnded)
    assert (root / "a.txt").read_text() == "the user's own\n"


def test_the_word_on_a_rejected_hunk_outlives_the_session(workspace: Workspace) -> None:
    told = land(workspace, update("two", "TWO"))
    undone = HunkUndone(told.hunk, "a.txt", 2, 3, why="keep it lower case")
    events = (PromptSubmitted("t1", "go"), told, TurnEnded("t1", "completed"), undone)
    resumed = resume_session(journal(workspace, *events), workspace.ledger)
    (turn,) = resumed.memory.past_turns.past().turns
    assert f"{told.hunk} undone_by_user a.txt: keep it lower case" in turn.text()
