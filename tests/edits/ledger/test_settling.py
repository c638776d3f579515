"""How a landing is settled whose process died: the files as they are, and what becomes of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from edits.files.durable import temporary_name
from edits.files.text import FileError, digest
from edits.files.tree import Tree
from edits.hunk import Action, RefusalCode
from edits.ledger.crash_recovery import settle
from edits.ledger.entry import Entry, Op, State

OLD, NEW = "old text\nmore\n", "new text\nmore lines\n"
CONTENTS = {digest(text.encode()): text.encode() for text in (OLD, NEW, "short")}
OTHER = "somebody's own\n"


def entry(root: Path, before: str | None, after: str | None, **more: object) -> Entry:
    least = Entry(
        seq=1,
        hunk="h1",
        op=Op.LAND,
        action=Action.UPDATE,
        root=str(root),
        path="f",
        moved_to=None,
        before=None if before is None else digest(before.encode()),
        after=None if after is None else digest(after.encode()),
    )
    return replace(least, **more)  # type: ignore[arg-type] # The names are those of the fields.


def content(sha256: str) -> bytes:
    if sha256 not in CONTENTS:
        raise FileError(RefusalCode.IO, "the ledger does not hold this content")
    return CONTENTS[sha256]


def files(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): path.read_text() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("before", "after", "now", "state"),
    [
        (OLD, NEW, NEW, State.DONE),
        (OLD, NEW, OLD, State.DROPPED),
        (OLD, NEW, OTHER, State.LOST),
        (OLD, NEW, None, State.LOST),
        (None, NEW, NEW, State.DONE),
        (None, NEW, None, State.DROPPED),
        (None, NEW, OTHER, State.LOST),
        (OLD, None, None, State.DONE),
        (OLD, None, OLD, State.DROPPED),
        (OLD, None, OTHER, State.LOST),
    ],
)
def test_a_file_tells_how_its_change_ended(
    tmp_path: Path, before: str | None, after: str | None, now: str | None, state: State
) -> None:
    if now is not None:
        (tmp_path / "f").write_text(now)
    assert settle(entry(tmp_path, before, after), content) is state
    assert files(tmp_path) == ({} if now is None else {"f": now})


@pytest.mark.parametrize(
    ("now", "state"),
    [
        (NEW[:3] + OLD[3:], State.DROPPED),
        (NEW[:10] + OLD[10:], State.DROPPED),
        ("", State.LOST),
        (NEW[:5], State.LOST),
        (NEW[:3] + OTHER, State.LOST),
        (OLD[:3] + NEW[3:], State.LOST),
        (OLD + OTHER, State.LOST),
        (NEW + OTHER, State.LOST),
    ],
)
def test_an_overwrite_that_stopped_at_some_byte_is_taken_back(tmp_path: Path, now: str, state: State) -> None:
    (tmp_path / "f").write_text(now)
    assert settle(entry(tmp_path, OLD, NEW), content) is State.LOST
    assert files(tmp_path) == {"f": now}
    assert settle(entry(tmp_path, OLD, NEW, in_place=True), content) is state
    assert files(tmp_path) == {"f": OLD if state is State.DROPPED else now}


def test_an_overwrite_by_a_shorter_text_may_have_all_of_it(tmp_path: Path) -> None:
    """The file is cut to its length last."""
    now = "short" + OLD[5:]
    (tmp_path / "f").write_text(now)
    before = (tmp_path / "f").stat().st_ino
    assert settle(entry(tmp_path, OLD, "short", in_place=True), content) is State.DROPPED
    assert files(tmp_path) == {"f": OLD} and (tmp_path / "f").stat().st_ino == before, "the same file"


@pytest.mark.parametrize("lost", [{"before": "0" * 64}, {"after": "0" * 64}])
def test_an_overwrite_whose_contents_are_lost_is_left_alone(tmp_path: Path, lost: dict[str, str]) -> None:
    (tmp_path / "f").write_text(NEW[:3] + OLD[3:])
    assert settle(replace(entry(tmp_path, OLD, NEW, in_place=True), **lost), content) is State.LOST  # type: ignore[arg-type] # The names are those of the fields.
    assert files(tmp_path) == {"f": NEW[:3] + OLD[3:]}


@pytest.mark.parametrize(
    ("here", "there", "state", "left"),
    [
        (OLD, None, State.DROPPED, {"f": OLD}),
        (OLD, NEW, State.DONE, {"to/g": NEW}),
        (None, NEW, State.DONE, {"to/g": NEW}),
        (OTHER, NEW, State.LOST, {"f": OTHER, "to/g": NEW}),
        (OLD, OTHER, State.LOST, {"f": OLD, "to/g": OTHER}),
        (OTHER, None, State.LOST, {"f": OTHER}),
        (None, None, State.LOST, {}),
    ],
)
def test_a_move_is_brought_to_one_of_its_ends(
    tmp_path: Path, here: str | None, there: str | None, state: State, left: dict[str, str]
) -> None:
    (tmp_path / "to").mkdir()
    for name, text in (("f", here), ("to/g", there)):
        if text is not None:
            (tmp_path / name).write_text(text)
    moved = entry(tmp_path, OLD, NEW, moved_to="to/g", action=Action.MOVE, made=("to",))
    assert settle(moved, content) is state
    assert files(tmp_path) == left
    assert (tmp_path / "to").exists() == (state is not State.DROPPED)


def test_a_move_whose_source_cannot_be_deleted_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove = Tree.remove

    def refuse(tree: Tree, name: str, expected: str) -> None:
        if name == "f":
            raise FileError(RefusalCode.IO, "f cannot be deleted")
        remove(tree, name, expected)

    monkeypatch.setattr(Tree, "remove", refuse)
    (tmp_path / "f").write_text(OLD)
    (tmp_path / "g").write_text(NEW)
    assert settle(entry(tmp_path, OLD, NEW, moved_to="g", action=Action.MOVE), content) is State.DROPPED
    assert files(tmp_path) == {"f": OLD}


def test_what_a_write_left_is_deleted_only_by_its_token(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(OLD)
    mine, other = temporary_name("f", "t0k3n"), temporary_name("f", "0ther")
    for name in (mine, other):
        (tmp_path / name).write_text("half")
    assert settle(entry(tmp_path, OLD, NEW, token=""), content) is State.DROPPED
    assert files(tmp_path) == {"f": OLD, mine: "half", other: "half"}
    assert settle(entry(tmp_path, OLD, NEW, token="t0k3n"), content) is State.DROPPED
    assert files(tmp_path) == {"f": OLD, other: "half"}


def test_folders_that_were_made_stay_if_something_is_in_them(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/other").write_text(OTHER)
    added = entry(tmp_path, None, NEW, path="a/b/f", action=Action.ADD, made=("a", "a/b"))
    assert settle(added, content) is State.DROPPED
    assert files(tmp_path) == {"a/other": OTHER} and not (tmp_path / "a/b").exists()


def test_a_folder_in_the_place_of_the_file_makes_it_lost(tmp_path: Path) -> None:
    (tmp_path / "f").mkdir()
    assert settle(entry(tmp_path, OLD, NEW, token="t0k3n"), content) is State.LOST
    gone = entry(tmp_path, OLD, NEW, path="gone/f", token="t0k3n")
    assert settle(gone, content) is State.LOST
