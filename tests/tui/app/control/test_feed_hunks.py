"""What the panes hold after the events of hunks: typed, landed, refused, held, dropped, undone."""

from __future__ import annotations

from typing import cast

from session.base import events as said
from session.session import Session
from tests.tui.app.control.feeding import (
    FILES,
    HELD,
    PROMPT,
    STARTED,
    Row,
    app,
    check,
    fed,
    landed,
    opened,
)
from tui.front.words.held_items import Verdict

TABLE = [
    Row(
        "typed_counts",
        [PROMPT, STARTED, opened(), said.HunkTyped("t1", "h1", "+", "x" * 40)],
        ["▌ do it", "… h1  a.py"],
        {"phase": "preparing", "used": 110, "estimated": True, "speed": "live"},
        ["turn begins"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "opened",
        [
            PROMPT,
            STARTED,
            opened(),
        ],
        ["▌ do it", "… h1  a.py"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "landed",
        [PROMPT, STARTED, opened(), landed()],
        ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_one_line",
        [PROMPT, STARTED, opened(), landed(start=2, end=2)],
        ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_lines",
        [PROMPT, STARTED, opened(), landed(start=2, end=5)],
        ["▌ do it", "✓ h1  a.py 2–4  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_new",
        [PROMPT, STARTED, opened(action="add"), landed(action="add", start=1, end=4)],
        ["▌ do it", "✓ h1  a.py new file  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_moved",
        [PROMPT, STARTED, opened(), landed(moved_to="b.py", action="move")],
        ["▌ do it", "✓ h1  a.py → b.py  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="b.py",
    ),
    Row(
        "landed_already",
        [PROMPT, STARTED, opened(), landed(status="already_applied")],
        ["▌ do it", "✓ h1  a.py 2 · was there already  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_fuzzy",
        [PROMPT, STARTED, opened(), landed(status="applied_fuzzy")],
        ["▌ do it", "✓ h1  a.py 2 · placed by likeness  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "refused",
        [PROMPT, STARTED, opened(), said.HunkRefused("t1", "h1", "a.py", "no_match", "no match: not there")],
        ["▌ do it", "✗ h1  a.py no match: not there"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "declined",
        [
            PROMPT,
            STARTED,
            opened(),
            said.HunkRefused("t1", "h1", "a.py", "locked", "the developer declined it: no", "user", "no"),
        ],
        ["▌ do it", "− h1  a.py declined: no"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "refused_command",
        [said.HunkRefused("", "h1", "a.py", "no_match", "changed since")],
        [],
        {"message": "h1 a.py: changed since", "level": "error"},
        [],
    ),
    Row(
        "dropped",
        [PROMPT, STARTED, opened(), said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py not finished; nothing of it was written"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "dropped_whole",
        [PROMPT, STARTED, opened(), said.TextDelta("t1", "then"), said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py stopped before its turn; nothing of it was written", "then"],
        {"phase": "preparing", "used": 101, "estimated": True, "speed": "live"},
        ["turn begins"],
    ),
    Row(
        "dropped_held",
        [PROMPT, STARTED, opened(), HELD, said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py stopped before your OK; nothing of it was written"],
        {"phase": "preparing", "used": 100},
        ["turn begins", "waiting: Apply h1? a.py: exists", "waiting: "],
    ),
    Row(
        "undone",
        [PROMPT, STARTED, opened(), landed(), said.HunkUndone("h1", "a.py", 2, 3)],
        ["▌ do it", "↶ h1  a.py undone  +1 −1"],
        {"phase": "preparing", "used": 100, "message": "h1 undone: a.py"},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "redone",
        [
            PROMPT,
            STARTED,
            opened(),
            landed(),
            said.HunkUndone("h1", "a.py", 2, 3),
            said.HunkRedone("h1", "a.py", 2, 5),
        ],
        ["▌ do it", "✓ h1  a.py 2–4 · redone  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100, "message": "h1 redone: a.py"},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "undone_unknown",
        [said.HunkUndone("h9", "a.py", 2, 3)],
        ["↶ h9  a.py undone"],
        {"message": "h9 undone: a.py"},
        [],
        shown="a.py",
    ),
    Row(
        "checked",
        [PROMPT, STARTED, opened(), landed(), said.HunkChecked("h1", "a.py", "mypy", "red", 3, "bad type")],
        ["▌ do it", "✓ h1  a.py 2  +1 −1  ✗\N{NO-BREAK SPACE}mypy: line 3: bad type", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "held",
        [PROMPT, STARTED, opened(), HELD],
        ["▌ do it", "? h1  a.py exists"],
        {"phase": "preparing", "asked": True, "used": 100},
        ["turn begins", "waiting: Apply h1? a.py: exists"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "held_two",
        [
            PROMPT,
            STARTED,
            opened(),
            said.HunkHeld("t1", "h1", "a.py", "secret", "a.py has a key"),
            opened("h2", "b.py"),
            said.HunkHeld("t1", "h2", "b.py", "secret", "b.py has a key"),
        ],
        ["▌ do it", "? h1  a.py has a key", "? h2  b.py has a key"],
        {"phase": "preparing", "asked": True, "used": 100},
        [
            "turn begins",
            "waiting: Apply h1? a.py: has a key",
            "waiting: Apply h1 (1 of 2)? a.py: has a key",
        ],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "held_landed",
        [PROMPT, STARTED, opened(), HELD, landed()],
        ["▌ do it", "✓ h1  a.py replaced 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins", "waiting: Apply h1? a.py: exists", "waiting: "],
        shown="a.py",
    ),
]


async def test_what_the_panes_hold_after_events_of_hunks() -> None:
    await check(TABLE)


async def test_a_file_that_changed_on_disk_is_read_again() -> None:
    async with app():
        texts = dict(FILES)
        it = await fed(texts)
        assert await it.file.open("a.py")
        texts["a.py"] = "changed\n"
        await it.take([said.FilesChanged(("a.py",))])
        assert it.file.editor.buffer.text == "changed\n"
        texts["a.py"] = "undone\n"
        await it.take([said.HunkUndone("h1", "a.py", 1, 2)])
        assert it.file.editor.buffer.text == "undone\n"
        texts["a.py"] = "redone\n"
        await it.take([said.HunkRedone("h1", "a.py", 1, 2)])
        assert it.file.editor.buffer.text == "redone\n"


async def test_where_a_held_hunk_would_land_is_noted_in_the_gutter() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, opened(), said.HunkAimed("t1", "h1", "a.py", 2, 3), HELD])
        assert it.file.editor.notes.of("a.py", "hunks h1") == {1: "held"}


async def test_a_refusal_of_a_command_tells_of_unsaved_text() -> None:
    async with app():
        it = await fed(dict(FILES))
        assert await it.file.open("a.py")
        refused = said.HunkRefused("", "h1", "a.py", "no_match", "changed since")
        await it.take([refused])
        assert it.status.status.message == "h1 a.py: changed since"
        it.file.editor.buffer.put("mine\n")
        await it.take([refused])
        hint = "a.py has unsaved text: save it and try again"
        assert it.status.status.message == f"h1 a.py: changed since; {hint}"


class Answering:
    """What of a session the feed's answers need: it takes those about what it holds."""

    def __init__(self, *holds: str) -> None:
        self.holds = list(holds)
        self.given: list[tuple[str, bool, bool]] = []

    def answer(self, held: str, *, land: bool, rest: bool = False) -> bool:
        self.given.append((held, land, rest))
        if held not in self.holds:
            return False
        self.holds.remove(held)
        return True


async def test_answers_go_to_the_oldest_or_to_the_one_that_is_named() -> None:
    both: list[said.Event] = [
        PROMPT,
        opened(),
        HELD,
        said.ToolCalled("t1", "c1", "run", "$ ls"),
        said.ToolHeld("t1", "c1", "run", "ls"),
    ]
    agreed = "→ h1  a.py lands once the hunks before it in its file have ended"
    table: list[tuple[Verdict, str, list[tuple[str, bool, bool]], list[str], str]] = [
        ("apply", "", [("h1", True, False)], [agreed, "? ls"], "Run `ls`?"),
        ("reject", "", [("h1", False, False)], ["? h1  a.py exists", "? ls"], "Run `ls`?"),
        (
            "apply",
            "c1",
            [("c1", True, False)],
            ["? h1  a.py exists", "… ls"],
            "Apply h1? a.py: exists",
        ),
        ("apply all", "", [("h1", True, True), ("c1", True, True)], [agreed, "… ls"], ""),
        ("apply", "h9", [], ["? h1  a.py exists", "? ls"], "Apply h1 (1 of 2)? a.py: exists"),
    ]
    async with app():
        for verdict, name, given, shown, asked in table:
            it = await fed(dict(FILES))
            await it.take(both)
            session = Answering("h1", "c1")
            done = it.feed.answer(cast("Session", session), verdict, name)
            assert (done, session.given) == (bool(given), given), (verdict, name)
            question = it.held.question
            assert (it.said[1:], question.title if question else "") == (shown, asked), (verdict, name)


async def test_a_hunk_that_was_agreed_to_is_asked_about_no_more() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, opened(), HELD])
        it.feed.agreed("h1")
        it.feed.agreed("h9")
        await it.take([])
        book = it.feed.book.named("h1")
        assert book is not None and book.state == "agreed" and len(it.feed.held) == 0
        assert it.said[1:] == ["→ h1  a.py lands once the hunks before it in its file have ended"]


async def test_of_several_held_hunks_the_oldest_is_drawn() -> None:
    async with app():
        it = await fed(dict(FILES))
        second = said.HunkHeld("t1", "h2", "b.py", "secret", "b.py has a key")
        await it.take([PROMPT, opened(), HELD, opened("h2", "b.py"), second])
        assert it.file.path == "a.py" and it.file.editor.flight is not None
        await it.take([landed()])
        assert it.file.path == "b.py" and it.file.editor.flight is not None
        assert it.file.editor.flight.hunk == "h2"
