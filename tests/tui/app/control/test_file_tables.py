"""What keys do to open files and unsaved texts, as tables: what is open, the key, and what is called."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from session.base.events import FileBroken, HunkRefused, HunkUndone
from session.base.storage.private_files import StoreError
from tests.tui.app.control.noting import Noted, started
from tui.app.control.conflict_control import ConflictControl
from tui.app.control.file_control import FileControl, HistoryControl
from tui.front.words.held_items import Verdict

UNDONE = HunkUndone("h1", "a.py", 4, 7)
EMPTY = HunkUndone("h1", "a.py", 0, 0)
REFUSED = HunkRefused("t1", "h1", "a.py", "conflict", "no")


class History:
    """A history control of which all calls are noted."""

    def __init__(
        self,
        last: Any = None,
        next_: Any = None,
        *,
        path: str = "a.py",
        result: Any = UNDONE,
        stale: bool = False,
    ) -> None:
        self.log: list[str] = []
        note: Any = Noted(self.log)
        history = Noted(self.log, "history", last=last, next=next_, refused=self._refused)
        again = note.make_again.answers(None if stale else next_)
        self.buffer = Noted(self.log, "buffer", path=path, history=history, make_again=again)
        editor: Any = Noted(self.log, "editor", buffer=self.buffer)
        hunks: Any = SimpleNamespace(undo=note.undo.gives(result), redo=note.redo.gives(result))
        disk: Any = SimpleNamespace(settled=note.settled.gives(), take=note.take.gives())
        self.passed_over = False
        self.control = HistoryControl(editor, hunks, disk, note.say)

    def _refused(self, step: Any) -> bool:
        self.log.append("refused")
        self.buffer.history.last = None
        return self.passed_over


def step(
    hunk: str = "", *, undid: bool = False, outside: bool = False, before: Any = None, after: Any = None
) -> Any:
    return SimpleNamespace(
        hunk=hunk, undid=undid, outside=outside, before=before, after=after, rows=SimpleNamespace(row=5)
    )


HERE, THERE = ((1, 0), (2, 3)), ((4, 0), (5, 1))
STALE = "say('nothing to redo: the text has changed since', 'warning')"
OUTSIDE = "say('a change from outside of spark is {} in the text, unsaved')"


@pytest.mark.parametrize(
    ("last", "path", "called"),
    [
        (None, "", ["say('no file is open')"]),
        (None, "a.py", ["say('nothing to undo in this file')"]),
        (step(), "a.py", ["buffer.take_back()", "editor.reveal(5)"]),
        (
            step(before=HERE, after=THERE),
            "a.py",
            ["buffer.take_back()", "editor.reveal(2, cursor=False)", f"editor.choose({HERE})"],
        ),
        (step(outside=True), "a.py", ["buffer.take_back()", "editor.reveal(5)", OUTSIDE.format("undone")]),
    ],
)
async def test_a_step_of_the_user_is_taken_back(last: Any, path: str, called: list[str]) -> None:
    it = History(last, path=path)
    await it.control.undo()
    assert it.log == ["settled()", *called]


@pytest.mark.parametrize(
    ("next_", "path", "stale", "called"),
    [
        (None, "", False, ["say('no file is open')"]),
        (None, "a.py", False, ["say('nothing to redo in this file')"]),
        (step(), "a.py", False, ["make_again()", "editor.reveal(5)"]),
        (
            step(),
            "a.py",
            True,
            ["make_again()", STALE],
        ),
        (
            step(before=HERE, after=THERE, outside=True),
            "a.py",
            False,
            [
                "make_again()",
                "editor.reveal(5, cursor=False)",
                f"editor.choose({THERE})",
                OUTSIDE.format("redone"),
            ],
        ),
    ],
)
async def test_a_step_of_the_user_is_made_again(
    next_: Any, path: str, stale: bool, called: list[str]
) -> None:
    it = History(next_=next_, path=path, stale=stale)
    await it.control.redo()
    assert it.log == ["settled()", *called]


@pytest.mark.parametrize(
    ("redo", "undid", "result", "called"),
    [
        (False, False, UNDONE, ["undo('h1')", f"take({UNDONE})", "editor.reveal(3, last=5)"]),
        (False, True, UNDONE, ["redo('h1')", f"take({UNDONE})", "editor.reveal(3, last=5)"]),
        (True, False, UNDONE, ["redo('h1')", f"take({UNDONE})", "editor.reveal(3, last=5)"]),
        (True, True, UNDONE, ["undo('h1')", f"take({UNDONE})", "editor.reveal(3, last=5)"]),
        (
            False,
            False,
            EMPTY,
            ["undo('h1')", f"take({EMPTY})"],
        ),
        (False, False, REFUSED, ["undo('h1')", "refused", "history.expect(None)"]),
    ],
)
async def test_a_step_of_a_hunk_goes_through_the_ledger(
    redo: bool, undid: bool, result: Any, called: list[str]
) -> None:
    of_hunk = step("h1", undid=undid)
    it = History(of_hunk, of_hunk, result=result)
    await (it.control.redo() if redo else it.control.undo())
    assert it.log == ["settled()", f"history.expect({of_hunk})", *called]


async def test_a_hunk_that_cannot_be_undone_is_passed_over() -> None:
    it = History(step("h1"), result=REFUSED)
    it.passed_over = True
    await it.control.undo()
    assert it.log[-2:] == ["settled()", "say('nothing to undo in this file')"]


class Buffers(list[Any]):
    """The open files."""

    @property
    def dirty(self) -> list[Any]:
        return [each for each in self if each.dirty]


def buffer(path: str = "a.py", *, dirty: bool = True, conflicts: tuple[Any, ...] = ()) -> Any:
    return SimpleNamespace(path=path, dirty=dirty, conflicts=list(conflicts))


def conflict(hunk: str) -> Any:
    return SimpleNamespace(hunk=hunk, undone="", whole=True, start=2, end=4)


class Files:
    """A file control of which all calls are noted; the first of the ``buffers`` is shown."""

    def __init__(
        self, *buffers: Any, saves: bool = True, question: Any = None, broken_store: bool = False
    ) -> None:
        self.log: list[str] = []
        self.tasks = started()
        note: Any = Noted(self.log)
        self.shown = buffers[0] if buffers else buffer("")

        async def save(each: Any) -> bool:
            note.save(each.path)
            each.dirty = each.dirty and not saves
            return saves

        file: Any = Noted(
            self.log,
            "file",
            buffers=Buffers(buffers),
            save=save,
            path="",
            close=lambda each: self.log.append(f"close({each.path!r})"),
            texts=[],
            say=note.say,
            restore=note.restore.gives(True),
            editor=SimpleNamespace(buffer=self.shown),
        )
        self.held: Any = Noted(self.log, "held", question=question)
        panes: Any = SimpleNamespace(
            editor=SimpleNamespace(buffer=self.shown),
            status=note,
            held=self.held,
            composer="composer",
            chat=note.chat,
        )
        discard = StoreError("full") if broken_store else None

        def dropped(left: Any) -> None:
            note.discard(left.path)
            if discard is not None:
                raise discard

        unsaved: Any = Noted(self.log, "unsaved", discard=dropped)
        hunks: Any = SimpleNamespace(undo=note.undo.gives())
        app: Any = SimpleNamespace(screen_stack=[note.screen])
        self.control = FileControl(
            app, panes, note.layout, note.overlays, self.tasks, hunks, unsaved, file, note.disk
        )
        keeper: Any = SimpleNamespace(
            flush=note.flush, drop=lambda each: self.log.append(f"drop({each.path!r})"), changed=note.changed
        )
        self.control._keeper = keeper

    async def answer(self, name: str, verdict: Verdict) -> list[str]:
        """Answer the question that was asked, and give what was called then."""
        self.log.clear()
        assert self.control.answer(name, verdict)
        await self.tasks.run()
        return self.log


@pytest.mark.parametrize(
    ("shown", "called"),
    [
        (buffer(""), ["say('no file is open')"]),
        (buffer(dirty=False), ["close('a.py')", "screen.set_focus('composer')"]),
    ],
)
async def test_a_file_is_closed(shown: Any, called: list[str]) -> None:
    it = Files(shown)
    await it.control.close_tab()
    assert it.log == called


@pytest.mark.parametrize(
    ("verdict", "saves", "conflicts", "called"),
    [
        ("apply", True, (), ["save('a.py')", "close('a.py')", "screen.set_focus('composer')"]),
        ("apply", False, (), ["save('a.py')"]),
        ("discard", True, (), ["drop('a.py')", "close('a.py')", "screen.set_focus('composer')"]),
        ("reject", True, (), []),
    ],
)
async def test_unsaved_text_is_asked_about_before_its_file_is_closed(
    verdict: Verdict, saves: bool, conflicts: tuple[Any, ...], called: list[str]
) -> None:
    it = Files(buffer(conflicts=conflicts), saves=saves)
    await it.control.close_tab()
    assert "title='a.py has unsaved text'" in it.log[0] and it.log[1].startswith("screen.set_focus(")
    assert await it.answer("close-file", verdict) == ["held.confirm(None)", *called]


TWO = "Unsettled conflicts in a.py: saving overwrites what h1, others wrote there"


async def test_conflicts_are_asked_about_before_a_file_is_saved_over_them() -> None:
    shown = buffer(conflicts=(conflict("h1"), conflict(""), conflict("h1")))
    it = Files(shown)
    await it.control.close_tab()
    called = await it.answer("close-file", "apply")
    assert called[0] == "held.confirm(None)" and TWO in called[1], "asked, and neither saved nor closed"
    assert "save('a.py')" not in called and "close('a.py')" not in called
    called = await it.answer("save-over", "apply")
    assert called[:2] == ["held.confirm(None)", "save('a.py')"] and called[-1] == "say('saved a.py', 'info')"
    assert await it.answer("save-over", "reject") == ["held.confirm(None)"]


@pytest.mark.parametrize(
    ("shown", "called"),
    [
        (buffer(""), ["say('no file is open')"]),
        (buffer(dirty=False), ["say('a.py has no unsaved changes')"]),
        (buffer(), ["save('a.py')", "say('saved a.py')"]),
    ],
)
async def test_a_file_is_saved(shown: Any, called: list[str]) -> None:
    it = Files(shown)
    await it.control._save()
    assert it.log == called


async def test_what_is_said_besides_a_save() -> None:
    for shown, said in ((buffer(), "saved a.py · looked at"), (buffer(dirty=False), "looked at")):
        it = Files(shown)
        it.control.on_saved = lambda each: "looked at"
        await it.control._save()
        assert it.log[-1] == f"say({said!r})"
    it = Files(buffer(), saves=False)
    await it.control._save()
    assert it.log == ["save('a.py')"]


A, B = "a.py", "b.py"


@pytest.mark.parametrize(
    ("verdict", "saves", "called"),
    [
        ("apply", True, ["save('a.py')", "save('b.py')", "left"]),
        ("apply", False, ["save('a.py')", "save('b.py')"]),
        ("discard", True, ["drop('a.py')", "close('a.py')", "drop('b.py')", "close('b.py')", "left"]),
        ("keep", True, ["flush()", "left"]),
        ("reject", True, []),
    ],
)
async def test_unsaved_texts_are_asked_about_before_spark_is_left(
    verdict: Verdict, saves: bool, called: list[str]
) -> None:
    it = Files(buffer(A), buffer("c.py", dirty=False), buffer(B), saves=saves)
    assert not it.control.ask_before_quitting(lambda: it.log.append("left"))
    assert "title='2 files have unsaved text', text='a.py\\nb.py'" in it.log[0]
    assert await it.answer("quit-with-unsaved", verdict) == ["held.confirm(None)", *called]


def test_what_is_asked_before_spark_is_left() -> None:
    it = Files(buffer(dirty=False))
    assert it.control.ask_before_quitting(lambda: None) and it.log == []
    it = Files(buffer())
    assert not it.control.ask_before_quitting(lambda: None) and "title='1 file has unsaved text'" in it.log[0]
    it = Files(buffer(), question=SimpleNamespace(name="quit-with-unsaved"))
    assert it.control.ask_before_quitting(lambda: None) and it.log == ["flush()"], "asked already: kept"
    it = Files(buffer(), question=SimpleNamespace(name="h1"))
    assert not it.control.ask_before_quitting(lambda: None)
    assert not it.control.answer("h1", "apply"), "that is no question about files"


def broken(path: str, *hunks: str) -> FileBroken:
    return FileBroken("t1", path, "line 2: invalid syntax", hunks)


async def test_hunks_that_broke_a_file_are_undone_where_the_user_agrees() -> None:
    it = Files(buffer())
    it.control.broken(broken("a.py"))
    assert it.log == [], "there is nothing to undo"
    it.control.broken(broken("a.py", "h1"))
    it.control.broken(broken("b.py", "h2", "h3"))
    it.control.broken(broken("a.py", "h1", "h4"))
    assert it.log[0] == it.log[1], "the oldest is asked about"
    assert "apply='undo h2 and h3', reject='leave it', all=''" in it.log[2] and "b.py" in it.log[2]
    called = await it.answer("broken-file", "apply")
    assert "apply='undo h1 and h4'" in called[0] and called[1:] == ["undo('h3')", "undo('h2')"]
    assert await it.answer("broken-file", "reject") == ["held.propose(None)"]


def left(path: str) -> Any:
    return SimpleNamespace(path=path, text="mine", base="old", time=0.0)


@pytest.mark.parametrize(
    ("verdict", "called"),
    [
        (
            "apply",
            [
                "restore('a.py', 'mine', 'old')",
                "flush()",
                "discard('a.py')",
                "say('restored the unsaved text of a.py')",
                "layout.bring('editor')",
            ],
        ),
        ("discard", ["discard('a.py')"]),
        ("reject", []),
    ],
)
async def test_texts_that_were_left_are_restored_where_the_user_wants_that(
    verdict: Verdict, called: list[str]
) -> None:
    it = Files(buffer())
    it.control._left = [left("a.py"), left("b.py")]
    it.control._propose()
    assert "title='Unsaved text of a.py from " in it.log[0] and "(1 of 2)'" in it.log[0]
    found = await it.answer("restore-unsaved", verdict)
    assert found[:-1] == called and "Unsaved text of b.py" in found[-1] and "(1 of" not in found[-1]
    await it.answer("restore-unsaved", "reject")
    assert await it.answer("restore-unsaved", "apply") == [], "there is none any more"


async def test_a_text_that_cannot_be_let_go_is_told() -> None:
    it = Files(buffer(), broken_store=True)
    it.control._left = [left("a.py")]
    assert await it.answer("restore-unsaved", "discard") == [
        "discard('a.py')",
        "say('full', 'error')",
        "held.propose(None)",
    ]


class Conflicts:
    """A conflict control of which all calls are noted."""

    def __init__(self, *conflicts: Any, result: Any = UNDONE, detail: str = "") -> None:
        self.log: list[str] = []
        note: Any = Noted(self.log)
        history = Noted(self.log, "history")
        self.buffer = self._buffer(history, conflicts)
        editor = Noted(self.log, "editor", buffer=self.buffer, selected=HERE)
        buffers, save = [self.buffer], note.save.gives(True)
        file: Any = SimpleNamespace(editor=editor, say=note.say, buffers=buffers, save=save)
        fate = SimpleNamespace(state="landed", detail=detail)
        self.entry: Any = SimpleNamespace(path="a.py", action="update", fate=fate)
        chat: Any = SimpleNamespace(hunk_named=lambda hunk: self.entry, hunk=note.chat_hunk)
        hunks: Any = SimpleNamespace(undo=note.undo.gives(result))
        disk: Any = SimpleNamespace(take=note.take.gives())
        self.control = ConflictControl(file, chat, hunks, disk, note.propose)

    def _buffer(self, history: Any, conflicts: tuple[Any, ...]) -> Any:
        return SimpleNamespace(path="a.py", conflicts=list(conflicts), history=history, settle=self._settle)

    def _settle(self, each: Any, verdict: str) -> Any:
        self.log.append(f"settle({verdict!r})")
        self.buffer.conflicts.remove(each)
        return "rows"


CONFLICTS, REPLACED = " · conflicts with your unsaved text", " · your text replaced it"
STAY = "say('your lines stay; h1 is undone', 'info')"
SETTLED = ["history.typed('rows', ((1, 0), (2, 3)), ((1, 0), (2, 3)), 0.0)", "editor.redraw()", "propose()"]


def told(detail: str, hunk: str = "h1") -> str:
    return f"chat_hunk({hunk!r}, 'a.py', 'update', 'landed', {detail!r})"


@pytest.mark.parametrize(
    ("verdict", "whole", "result", "called"),
    [
        (
            "mine",
            True,
            UNDONE,
            ["undo('h1')", f"take({UNDONE})", STAY],
        ),
        ("mine", True, REFUSED, ["undo('h1')", "settle('mine')", *SETTLED, told(""), told(REPLACED)]),
        ("mine", False, UNDONE, ["settle('mine')", *SETTLED, told(""), told(REPLACED)]),
        ("theirs", True, UNDONE, ["settle('theirs')", *SETTLED, told("")]),
        ("both", True, UNDONE, ["settle('both')", *SETTLED, told("")]),
        ("reject", True, UNDONE, []),
    ],
)
async def test_a_conflict_is_settled(verdict: Verdict, whole: bool, result: Any, called: list[str]) -> None:
    each = conflict("h1")
    each.whole = whole
    it = Conflicts(each, result=result)
    it.control.changed()
    assert it.log == ["editor.redraw()", "propose()", told(CONFLICTS)]
    it.log.clear()
    it.control.changed()
    assert it.log == [], "nothing has changed"
    await it.control.settle(verdict)
    assert it.log == [*called, "editor.redraw()"]


async def test_a_conflict_is_edited_by_hand() -> None:
    it = Conflicts(conflict("h1"))
    it.control.changed()
    it.log.clear()
    await it.control.settle("edit")
    assert it.log[:2] == ["editor.focus()", "editor.reveal(2, last=4)"]
    assert it.log[2].startswith("say('edit your lines, then settle the conflict with ")


async def test_a_conflict_that_is_gone_is_not_settled() -> None:
    it = Conflicts(conflict("h1"))
    await it.control.settle("mine")
    it.control.changed()
    it.buffer.conflicts.clear()
    it.log.clear()
    await it.control.settle("mine")
    assert it.log == []


@pytest.mark.parametrize(
    ("conflicts", "title"),
    [
        ((conflict("h1"),), "h1 changed your unsaved text at a.py:3"),
        ((conflict(""),), "a change from outside changed your unsaved text at a.py:3"),
        (
            (SimpleNamespace(hunk="", undone="h4", whole=False, start=0, end=1), conflict("h1")),
            "the undo of h4 changed your unsaved text at a.py:1 (1 of 2)",
        ),
    ],
)
def test_the_first_conflict_of_the_shown_file_is_asked_about(conflicts: tuple[Any, ...], title: str) -> None:
    it = Conflicts(*conflicts)
    titles: list[str | None] = []
    for left in (conflicts, ()):
        titles.append(getattr(it.control.question, "title", None))
        it.buffer.conflicts[:] = left
        it.control.changed()
        titles.append(getattr(it.control.question, "title", None))
    assert titles == [None, title, title, None]


async def test_a_save_over_conflicts_says_so_of_their_hunks() -> None:
    it = Conflicts(conflict("h1"), conflict("h2"), detail=f"+1 -1{CONFLICTS}")
    await it.control.overwrite(it.buffer)
    both = [told(f"+1 -1{REPLACED}", hunk) for hunk in ("h1", "h2")]
    assert it.log[1:] == [*both, "say('saved a.py', 'info')"]
    it.log.clear()
    it.entry.fate.state = "undone"
    await it.control.overwrite(it.buffer)
    assert it.log[1:] == ["say('saved a.py', 'info')"], "only landed hunks have such a remark"
