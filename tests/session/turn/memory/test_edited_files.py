from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.project.workspace import Workspace, open_workspace
from session.turn.turn_memory import LONGEST_DIFF, LONGEST_LINE, EditedFiles
from tests.secret_texts import pieces, private_key

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


class Desk:
    """A project in which a model and a user edit, and what the model is told."""

    def __init__(self, root: Path) -> None:
        self.workspace: Workspace = open_workspace(root)
        self.root = self.workspace.root
        self.knowledge = EditedFiles()

    def model(self, path: str, old: list[str], new: list[str], **more: object) -> str:
        lines = [HunkLine(LineKind.OLD, text) for text in old]
        lines += [HunkLine(LineKind.NEW, text) for text in new]
        action = more.pop("action", Action.UPDATE)
        hunk = Hunk(path, action, Format.V4A, tuple(lines), **more)  # type: ignore[arg-type]
        name = self.workspace.ledger.next_id()
        landed = self.workspace.landing.land(hunk, hunk_id=name)
        assert isinstance(landed, Landed), landed
        self.knowledge.landed_hunk(self.workspace.ledger, name)
        return name

    def user(self, path: str, old: str, new: str) -> None:
        file = self.root / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new, 1))

    def told(self) -> str:
        now = {
            path: (self.root / path).read_bytes().decode() if (self.root / path).exists() else None
            for path in self.knowledge.paths
        }
        report = self.knowledge.changes(now)
        self.knowledge.told(now)
        return report


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "a.txt").write_text(TEXT)
    return Desk(tmp_path)


def test_a_file_without_an_edit_of_the_model_is_not_tracked(desk: Desk) -> None:
    desk.user("a.txt", "one", "ONE")
    assert desk.knowledge.paths == ()
    assert desk.told() == ""


def test_the_models_own_hunks_are_not_told_to_it(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO", "and more"])
    desk.model("a.txt", ["seven"], [])
    desk.model("a.txt", ["TWO", "and more"], ["2"])
    assert desk.told() == ""


def test_an_edit_of_the_users_after_a_hunk_is_told_as_a_diff(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "six", "SIX")
    assert desk.told() == (
        "The developer has changed these files since; their text stands:\n"
        "```\n--- a.txt\n+++ a.txt\n@@ -5,3 +5,3 @@\n five\n-six\n+SIX\n seven\n```\n"
    )


def test_a_change_is_told_once(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "six", "SIX")
    assert desk.told()
    assert desk.told() == ""
    desk.user("a.txt", "SIX", "6")
    assert "-SIX\n+6" in desk.told()


def test_an_edit_between_two_hunks_is_told_and_the_hunks_are_not(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "five", "FIVE")
    desk.model("a.txt", ["eight"], ["EIGHT"])
    report = desk.told()
    assert "-five\n+FIVE" in report
    assert "TWO" not in report and "EIGHT" not in report


def test_a_hunk_beside_the_users_line_does_not_hide_it(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "five", "FIVE")
    desk.model("a.txt", ["six"], ["SIX"])
    report = desk.told()
    assert "-five\n+FIVE" in report
    assert "-six" not in report


def test_an_edit_before_the_first_hunk_was_shown_with_the_file_and_is_not_told(desk: Desk) -> None:
    desk.user("a.txt", "one", "ONE")
    desk.model("a.txt", ["two"], ["TWO"])
    assert desk.told() == ""


def test_an_undo_is_told_as_a_change(desk: Desk) -> None:
    name = desk.model("a.txt", ["two"], ["TWO"])
    desk.model("a.txt", ["seven"], ["SEVEN"])
    assert isinstance(desk.workspace.landing.undo(name), Landed)
    report = desk.told()
    assert "-TWO\n+two" in report
    assert "SEVEN" not in report.replace(" SEVEN", "")


def test_the_lines_of_the_last_hunks_are_kept_though_the_user_undoes_them(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.model("a.txt", ["four", "five"], ["four", "FIVE"])
    assert isinstance(desk.workspace.landing.undo(), Landed)
    assert desk.knowledge.last_lines == "a.txt\ntwo\nTWO\na.txt\nfive\nFIVE"
    for number in range(8):
        desk.model(f"{number}.txt", [], [f"new {number}"], action=Action.ADD)
    assert desk.knowledge.last_lines == "\n".join(f"{n}.txt\nnew {n}" for n in range(8))
    again = EditedFiles()
    again.resumed(desk.workspace.ledger, "")
    assert again.last_lines == desk.knowledge.last_lines
    assert again.paths == ()


def test_a_new_file_a_deleted_and_a_moved_one(desk: Desk) -> None:
    desk.model("new.txt", [], ["fresh"], action=Action.ADD)
    (desk.root / "b.txt").write_text("b\n")
    desk.model("b.txt", [], [], action=Action.DELETE)
    desk.model("a.txt", ["two"], ["TWO"], action=Action.MOVE, move_to="c.txt")
    assert desk.told() == ""
    assert set(desk.knowledge.paths) == {"new.txt", "b.txt", "a.txt", "c.txt"}
    (desk.root / "new.txt").unlink()
    (desk.root / "b.txt").write_text("back\n")
    desk.user("c.txt", "three", "THREE")
    report = desk.told()
    assert "--- new.txt\nThis file is gone.\n" in report
    assert "--- b.txt\nThis file is there now.\n" in report
    assert "-three\n+THREE" in report
    assert "a.txt" not in report


def test_a_long_diff_is_cut_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    desk = Desk(tmp_path)
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "eight\n", "".join(f"line {number}\n" for number in range(500)))
    lines = desk.told().splitlines()
    # The heading and a fence, the diff as far as it goes, the note and a fence.
    assert len(lines) == 2 + LONGEST_DIFF + 2
    assert lines[-2] == f"({500 + 5 - LONGEST_DIFF} more lines of this diff are left out)"


def test_a_long_line_is_cut_and_says_so(desk: Desk) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    desk.user("a.txt", "eight", "8" * 5000)
    report = desk.told()
    assert f"+{'8' * (LONGEST_LINE - 1)} ({5001 - LONGEST_LINE} more characters)\n" in report
    assert len(report) < 2 * LONGEST_LINE


@pytest.mark.parametrize(
    "now", [TEXT.replace("two", "TWO").replace("\n", "\r\n"), TEXT.replace("two", "TWO")[:-1]]
)
def test_a_change_of_line_endings_alone_is_told_in_words(desk: Desk, now: str) -> None:
    desk.model("a.txt", ["two"], ["TWO"])
    (desk.root / "a.txt").write_bytes(now.encode())
    assert desk.told().endswith("--- a.txt\nOnly its line endings have changed.\n```\n")
    assert desk.told() == ""


def test_an_image_that_is_moved_and_deleted_is_not_tracked(desk: Desk) -> None:
    (desk.root / "a.png").write_bytes(b"\x89PNG\0\0")
    desk.model("a.png", [], [], action=Action.MOVE, move_to="b.png")
    desk.model("b.png", [], [], action=Action.DELETE)
    assert not (desk.root / "b.png").exists()
    assert desk.knowledge.paths == ()
    assert desk.told() == ""


def test_a_file_whose_text_the_ledger_has_lost_is_not_tracked(desk: Desk) -> None:
    name = desk.model("a.txt", ["two"], ["TWO"])
    shutil.rmtree(desk.workspace.folders.ledger / "blobs")
    desk.knowledge.landed_hunk(open_workspace(desk.root).ledger, name)
    assert desk.knowledge.paths == ()


def test_an_unknown_hunk_changes_nothing(desk: Desk) -> None:
    desk.knowledge.landed_hunk(desk.workspace.ledger, "h99")
    assert desk.knowledge.paths == ()


def test_a_part_of_a_private_key_is_not_told(desk: Desk) -> None:
    key = private_key(20)
    (desk.root / "a.txt").write_text("\n".join(["one", "two", *key, "last", ""]))
    desk.model("a.txt", ["one"], ["ONE"])
    desk.user("a.txt", key[5], key[6].lower())
    told = desk.told()
    assert "not shown to you" in told
    desk.user("a.txt", "last", "LAST")
    told = desk.told()
    assert "+LAST" in told
    assert not any(pieces(told, line) for line in key[1:-1])


def test_a_file_of_secrets_is_not_told(desk: Desk) -> None:
    (desk.root / ".env").write_text("A=1\n")
    desk.model(".env", ["A=1"], ["A=2"])
    desk.user(".env", "A=2", "A=hunter2")
    told = desk.told()
    assert "not shown to you" in told and "hunter2" not in told
