"""What keys do to hunks, as tables: what is known of a hunk, the key, and what is called."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from session.assist.surgery import Cut, SurgeryError
from session.base.events import HunkRefused
from session.commands.diff_commands import DiffError
from session.project.opened import FileProblem
from tests.tui.app.control.noting import Noted, started
from tui.app.control.hunk_control import DropControl, HunkControl
from tui.app.control.review_control import ReviewControl
from tui.app.review.review_book import Reviewed
from tui.front.words.held_items import Verdict

REFUSED = HunkRefused("t1", "h1", "a.py", "conflict", "no")


class Drops:
    """A control that drops, of which all calls are noted."""

    def __init__(
        self,
        *dependents: tuple[str, ...],
        owner: str = "",
        parsed: Any = None,
        problem: Exception | None = None,
    ) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note = Noted(self.log)
        left = list(dependents)

        async def found(hunk: str) -> tuple[str, ...]:
            return left.pop(0)

        def parse(argument: str) -> Cut | None:
            if isinstance(parsed, Exception):
                raise parsed
            return parsed  # type: ignore[no-any-return] # A row gives what it should.

        surgery = SimpleNamespace(
            dependents=found, parsed=parse, drop=note.drop.gives(problem if problem else "dropped h1")
        )
        app: Any = SimpleNamespace(screen_stack=[note.screen])
        session: Any = SimpleNamespace(surgery=surgery, standing=SimpleNamespace(owner=owner))
        panes: Any = SimpleNamespace(held=note.held, status=note.status, chat=note.chat)
        self.control = DropControl(app, panes, self.tasks, session)


CUT, WITH = Cut("h1"), Cut("h1", with_dependents=True)


@pytest.mark.parametrize(
    ("owner", "parsed", "meant"),
    [
        ("", CUT, CUT),
        ("", WITH, None),
        ("", None, None),
        ("", SurgeryError("what?"), None),
        ("process 12", CUT, None),
    ],
)
def test_which_drops_are_asked_about(owner: str, parsed: Any, meant: Cut | None) -> None:
    assert Drops(owner=owner, parsed=parsed).control.meant("h1") == meant


AGAIN = Cut("h1", with_dependents=True, again=True)


@pytest.mark.parametrize(
    ("dependents", "verdict", "dropped"),
    [
        ([()], None, CUT),
        ([("h2",), ("h2",)], "apply", AGAIN),
        ([("h2",), ("h2",)], "apply all", WITH),
        ([("h2",)], "reject", None),
        ([("h2",), ("h2", "h3"), ("h2", "h3")], "apply", None),
        ([("h2",), (), ()], "apply", CUT),
    ],
)
async def test_a_hunk_is_dropped_once_the_user_agrees_to_what_depends_on_it(
    dependents: list[tuple[str, ...]], verdict: Verdict | None, dropped: Cut | None
) -> None:
    it = Drops(*dependents)
    it.control.ask(CUT)
    await it.tasks.run()
    if verdict is not None:
        assert "title='Drop h1 with one that depends on it?', text='h2'" in it.log[0]
        assert it.log[1].startswith("screen.set_focus(")
        it.log.clear()
        it.control.answer(verdict)
        await it.tasks.run()
        assert it.log.pop(0) == "held.confirm(None)"
    if dropped is None and verdict != "reject":
        assert "title='Drop h1 with 2 that depend on it?', text='h2\\nh3'" in it.log[0], "asked anew"
    else:
        told = [f"drop({dropped!r})", "chat.remark('dropped h1', 'info')"] if dropped else []
        assert it.log == told
    it.log.clear()
    if dropped is not None or verdict == "reject":
        it.control.answer("apply")
        assert it.log == ["held.confirm(None)"], "nothing is asked any more"


async def test_a_drop_that_fails_is_told() -> None:
    it = Drops((), problem=SurgeryError("it cannot be undone"))
    it.control.ask(CUT)
    await it.tasks.run()
    told = "'it cannot be undone', 'error'"
    assert it.log == [f"drop({CUT!r})", f"status.say({told})", f"chat.remark({told})"]


class Review:
    """The verdicts of the review, of which all calls are noted."""

    def __init__(
        self,
        *,
        running: bool = False,
        held: bool = True,
        undone: Any = None,
        listed: tuple[Reviewed, ...] = (),
        **more: Any,
    ) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note = Noted(self.log)

        def held_or_landed(*, whole_session: bool) -> list[Reviewed]:
            return list(listed) if whole_session else []

        book = SimpleNamespace(held=[each for each in listed if each.state == "held"], listed=held_or_landed)
        more.setdefault("hunks", SimpleNamespace(undo=note.undo.gives(undone)))
        session: Any = Noted(self.log, running=running, answer=note.answer.answers(held), **more)

        def answered(session: object, verdict: Verdict, hunk: str) -> bool:
            self.log.append(f"{verdict} {hunk}")
            return held

        feed: Any = SimpleNamespace(book=book, answer=answered, stop=note.feed_stop)
        panes: Any = SimpleNamespace(status=note.status, chat=note.chat, composer=note.composer)
        stand_in: Any = note
        self.control = ReviewControl(
            stand_in,
            panes,
            stand_in,
            self.tasks,
            session,
            feed,
            stand_in.hunk_control,
            stand_in.drops,
        )
        self.control.stop = lambda: self.log.append("stop")


def hunk(state: str, **more: Any) -> Reviewed:
    return Reviewed("h1", "t1", "a.py", state=state, **more)


SAID = "submit('I rejected h1 in a.py: no', typed='no')"
COULD_NOT = "submit('I reject h1 in a.py, which could not be undone: no', typed='no')"
NEXT = "chat.remark('h1 rejected: no (the model is told with your next prompt)', 'quiet')"
LATE = ["status.say('too late to reject h1', 'warning')"]
LATE_WORD = [
    "composer.put_before(['no'])",
    "status.say('too late to reject h1: your word is in the prompt', 'warning')",
]
REJECTIONS: list[tuple[str, str, bool, dict[str, Any], list[str]]] = [
    *(
        row
        for state in ("held", "agreed", "typing")
        for row in (
            (state, "", False, {}, ["answer('h1', land=False, why='')"]),
            (state, "", True, {}, ["answer('h1', land=False, why='')"]),
            (state, "no", False, {}, ["answer('h1', land=False, why='no')", NEXT]),
            (state, "no", True, {}, ["answer('h1', land=False, why='')", "feed_stop()", SAID]),
            (state, "", True, {"held": False}, ["answer('h1', land=False, why='')", *LATE]),
            (state, "no", True, {"held": False}, ["answer('h1', land=False, why='')", *LATE_WORD]),
        )
    ),
    ("refused", "", False, {}, LATE),
    ("undone", "no", True, {}, LATE_WORD),
    ("landed", "", False, {}, ["undo('h1', why='')"]),
    ("landed", "", True, {}, ["undo('h1', why='')"]),
    ("landed", "no", False, {}, ["undo('h1', why='no')", NEXT]),
    ("landed", "no", True, {}, ["stop", "undo('h1', why='')", "feed_stop()", SAID]),
    ("landed", "no", False, {"undone": REFUSED}, ["undo('h1', why='no')"]),
    (
        "landed",
        "no",
        True,
        {"undone": REFUSED},
        [
            "stop",
            "undo('h1', why='')",
            "submit('I reject h1 in a.py, which could not be undone: no', typed='no')",
        ],
    ),
]


@pytest.mark.parametrize(("state", "why", "running", "given", "called"), REJECTIONS)
async def test_a_hunk_is_rejected(
    state: str, why: str, running: bool, given: dict[str, Any], called: list[str]
) -> None:
    it = Review(running=running, **given)
    it.control.reject(hunk(state), why)
    await it.tasks.run()
    assert it.log == called


@pytest.mark.parametrize(
    ("state", "held", "called", "kept"),
    [
        ("held", True, ["apply h1"], False),
        ("held", False, ["apply h1", "status.say('h1 is not held any more', 'warning')"], False),
        ("landed", True, [], True),
    ],
)
def test_a_hunk_is_kept(state: str, held: bool, called: list[str], kept: bool) -> None:
    it, each = Review(held=held), hunk(state)
    it.control.keep(each)
    assert it.log == called and each.kept == kept


def test_all_hunks_of_the_session_are_kept() -> None:
    each = [hunk("landed"), hunk("held"), hunk("refused"), hunk("landed", kept=True)]
    it = Review(listed=tuple(each))
    it.control.keep_all()
    assert it.log == ["apply h1"] and [one.kept for one in each] == [True, False, False, True]


PATCH = SimpleNamespace(text="--- a.py\n+++ a.py\n@@ -1 +1 @@\n-one\n+two")


@pytest.mark.parametrize(
    ("each", "more", "lines"),
    [
        (hunk("landed"), {}, [("@", " depends on it: h2"), ("-", "one"), ("+", "two")]),
        (hunk("landed", lines=[("+", "x")]), {"diff": DiffError("lost")}, [("+", "x")]),
        (hunk("refused", lines=[("+", "x")]), {}, [("+", "x")]),
        (hunk("held", lines=[("-", "a"), ("+", "x")]), {}, [("-", "a"), ("+", "x")]),
        (hunk("held", action="add", lines=[("+", "x")]), {"text": "y\n"}, [("-", "y"), ("+", "x")]),
        (hunk("typing", action="add", lines=[("+", "x")]), {"text": "y\n"}, [("+", "x")]),
        (hunk("held", action="add", lines=[("+", "x")]), {}, [("+", "x")]),
        (hunk("held", action="add", lines=[("+", "x")] * 600), {"text": "y\n"}, [("+", "x")] * 600),
    ],
)
async def test_what_a_hunk_changes(
    each: Reviewed, more: dict[str, Any], lines: list[tuple[str, str]]
) -> None:
    note = Noted([])
    text = more.get("text")
    read = note.gives(FileProblem("gone") if text is None else SimpleNamespace(text=text))
    hunks = SimpleNamespace(diff=note.gives(more.get("diff", PATCH)))
    surgery = SimpleNamespace(dependents=note.gives(("h2",)))
    it = Review(surgery=surgery, files=SimpleNamespace(read=read), hunks=hunks)
    found = await it.control.lines(each)
    assert [line for line in found if line[0] != "@" or "depends" in line[1]] == lines


class Keys:
    """What the keys do to hunks in the editor."""

    def __init__(self, *, mark: str = "", focus: bool = False, held: bool = True) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note: Any = Noted(self.log)
        found = SimpleNamespace(hunk=mark, start=3) if mark else None
        file: Any = SimpleNamespace(
            marked_here=lambda: found, path="a.py", go=note.go.gives(), marks=note.marks
        )
        editor = Noted(self.log, "editor", has_focus=focus)
        panes: Any = SimpleNamespace(editor=editor, status=note.status, chat=note.chat)
        session: Any = SimpleNamespace(hunks=SimpleNamespace(undo=note.undo.gives(), redo=note.redo.gives()))
        feed: Any = SimpleNamespace(answer=note.answer.answers(held))
        stand_in: Any = note
        self.control = HunkControl(
            stand_in,
            panes,
            stand_in.layout,
            stand_in,
            self.tasks,
            session,
            file,
            stand_in,
            feed,
        )


@pytest.mark.parametrize(
    ("mark", "focus", "gone", "undone"),
    [
        ("", False, False, "undo(None)"),
        ("", True, False, "undo(None)"),
        ("h1", False, False, "undo(None)"),
        ("h1", True, False, "undo('h1')"),
        ("h1", False, True, "undo('h1')"),
        ("", False, True, "undo(None)"),
    ],
)
async def test_the_hunk_at_the_cursor_is_undone_where_it_is_meant(
    mark: str, focus: bool, gone: bool, undone: str
) -> None:
    it = Keys(mark=mark, focus=focus)
    if gone:
        await it.control._go(1)
        assert it.log == ["go(1)", "layout.bring('editor')"]
        it.log.clear()
    it.control.undo()
    it.control.redo()
    await it.tasks.run()
    assert it.log == [undone, "redo(None)"]


@pytest.mark.parametrize(
    ("name", "held", "told"),
    [
        ("", True, []),
        ("", False, ["status.say('nothing is held')"]),
        ("h1", False, ["status.say('h1 is not held')"]),
    ],
)
def test_a_verdict_on_what_is_not_held_is_told(name: str, held: bool, told: list[str]) -> None:
    it = Keys(held=held)
    it.control.answer("apply", name)
    assert it.log[1:] == told and it.log[0].endswith(f"'apply', {name!r})")
