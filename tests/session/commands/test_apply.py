from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from session.base.events import ApplyEnded, Event, HunkLanded, HunkOpened, HunkRedone, HunkRefused, HunkUndone
from session.commands.apply import NotTextError, apply_stream, redo_hunk, undo_hunk
from session.project.workspace import Workspace, open_workspace
from tests.conftest import Ran, RunSpark
from tui.cli.main import _main


def update(path: str, old: str, new: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch\n"


HELLO = update("app.py", "    return 'Hello ' + name", "    return f'Hello {name}'")
SECOND = update("notes.md", "second", "2nd")
BAD = update("app.py", "no such line", "x")
ADD = "*** Begin Patch\n*** Add File: new/file.txt\n+one\n+two\n*** End Patch\n"


@pytest.fixture
def workspace(project: Path) -> Workspace:
    return open_workspace(project)


def apply(
    workspace: Workspace, text: str | bytes, edit_format: str = "auto", *, dry_run: bool = False
) -> list[Event]:
    data = text.encode() if isinstance(text, str) else text
    return list(apply_stream(workspace, io.BytesIO(data), edit_format, dry_run=dry_run))


# --- the engine -----------------------------------------------------------------------------------


def test_hunks_land_and_are_told_one_by_one(workspace: Workspace) -> None:
    events = apply(workspace, f"Some words.\n{HELLO}More words.\n{ADD}")
    assert [type(event) for event in events] == [HunkOpened, HunkLanded, HunkOpened, HunkLanded, ApplyEnded]
    sample = "+return f'Hello {name}'"
    hello = HunkLanded("", "h1", "app.py", "applied", 1, 2, 3, added=1, removed=1, sample=sample)
    assert events[1] == hello
    add = HunkLanded("", "h2", "new/file.txt", "applied", 1, 1, 3, action="add", added=2, sample="+one")
    assert events[3] == add
    assert events[-1] == ApplyEnded(landed=2, refused=0, already_applied=0)
    assert "f'Hello {name}'" in (workspace.root / "app.py").read_text()
    assert (workspace.root / "new" / "file.txt").read_text() == "one\ntwo\n"


def test_a_refused_hunk_stops_neither_the_earlier_nor_the_later(workspace: Workspace) -> None:
    events = apply(workspace, HELLO + BAD + SECOND)
    (refused,) = (event for event in events if isinstance(event, HunkRefused))
    assert (refused.hunk, refused.path, refused.code) == ("h2", "app.py", "no_match")
    assert events[-1] == ApplyEnded(landed=2, refused=1, already_applied=0)


@pytest.mark.parametrize(
    ("text", "landed"),
    [
        (HELLO.removesuffix("*** End Patch\n").removesuffix("'\n"), 0),
        (HELLO.removesuffix("\n*** End Patch\n"), 0),
        (HELLO.removesuffix("*** End Patch\n"), 1),
        (HELLO.removesuffix("\n"), 1),
        (f"```\n{HELLO.removesuffix('*** End Patch' + chr(10))}```", 1),
    ],
)
def test_an_input_that_ends_inside_a_line_is_no_evidence_of_an_end(
    workspace: Workspace, text: str, landed: int
) -> None:
    events = apply(workspace, text)
    assert events[-1] == ApplyEnded(landed=landed, refused=1 - landed, already_applied=0)
    assert [event.code for event in events if isinstance(event, HunkRefused)] == ["incomplete"] * (1 - landed)


def test_a_loose_placement_that_breaks_the_file_is_refused(workspace: Workspace) -> None:
    loose = update("app.py", "return 'Hello ' + name", "return ('Hello ' + name")
    (refused,) = (event for event in apply(workspace, loose) if isinstance(event, HunkRefused))
    assert "write the old text exactly" in refused.message
    exact = update("app.py", "    return 'Hello ' + name", "    return (")
    assert apply(workspace, exact)[-1] == ApplyEnded(landed=1, refused=0, already_applied=0)


def test_hunks_that_are_there_already_are_counted_apart(workspace: Workspace) -> None:
    apply(workspace, HELLO)
    assert apply(workspace, HELLO)[-1] == ApplyEnded(landed=0, refused=0, already_applied=1)


def test_an_empty_stream_and_plain_words_end_with_nothing_landed(workspace: Workspace) -> None:
    assert apply(workspace, b"") == [ApplyEnded(0, 0, 0)]
    assert apply(workspace, "Nothing to do.\n") == [ApplyEnded(0, 0, 0)]


def test_a_dry_run_writes_nothing_and_builds_each_hunk_on_the_ones_before(workspace: Workspace) -> None:
    before = {path.name: path.read_bytes() for path in workspace.root.iterdir() if path.is_file()}
    follow = update("new/file.txt", "two", "2")
    events = apply(workspace, HELLO + ADD + follow, dry_run=True)
    assert events[-1] == ApplyEnded(landed=3, refused=0, already_applied=0)
    assert [event.hunk for event in events if isinstance(event, HunkLanded)] == ["dry1", "dry2", "dry3"]
    assert {path.name: path.read_bytes() for path in workspace.root.iterdir() if path.is_file()} == before
    assert not (workspace.root / "new").exists()
    assert workspace.ledger.hunks() == []
    # A dry run uses up no name.
    landed = apply(workspace, HELLO)[1]
    assert isinstance(landed, HunkLanded) and landed.hunk == "h1"


@pytest.mark.parametrize("edit_format", ["v4a", "auto"])
def test_a_format_may_be_named(workspace: Workspace, edit_format: str) -> None:
    assert apply(workspace, HELLO, edit_format)[-1] == ApplyEnded(1, 0, 0)


def test_a_format_that_was_named_is_the_only_one_read(workspace: Workspace) -> None:
    assert apply(workspace, HELLO, "search-replace")[-1] == ApplyEnded(0, 0, 0)


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3(", b"\xed\xa0\x80"])
def test_hunks_before_an_invalid_byte_have_landed(workspace: Workspace, bad: bytes) -> None:
    data = HELLO.encode() + update("notes.md", "second", "caf").encode()[:-16] + bad + SECOND.encode()
    events: list[Event] = []
    with pytest.raises(NotTextError, match=rf"not UTF-8 at byte {data.index(bad)}:"):
        for event in apply_stream(workspace, io.BytesIO(data), "auto"):
            events.append(event)
    assert [event.hunk for event in events if isinstance(event, HunkLanded)] == ["h1"]
    assert isinstance(events[-1], ApplyEnded) and events[-1].landed == 1
    assert "second" in (workspace.root / "notes.md").read_text()


class Trickle(io.RawIOBase):
    """A stream that gives one byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)

    def read1(self, size: int) -> bytes:
        return self._data.read(1)


def trickle(data: bytes) -> BinaryIO:
    return Trickle(data)  # type: ignore[return-value]


def test_a_character_may_be_split_between_reads(workspace: Workspace) -> None:
    data = update("notes.md", "second", "zweitens — 🎉").encode()
    events = list(apply_stream(workspace, trickle(data), "auto"))
    assert events[-1] == ApplyEnded(1, 0, 0)
    assert "zweitens — 🎉\n" in (workspace.root / "notes.md").read_text()


def test_a_character_cut_off_at_the_end_of_the_stream_is_an_error(workspace: Workspace) -> None:
    data = b"words \xf0\x9f"
    with pytest.raises(NotTextError, match="at byte 6: unexpected end"):
        list(apply_stream(workspace, trickle(data), "auto"))


@pytest.mark.parametrize("path", ["../out.txt", "/etc/hosts", ".git/config"])
def test_nothing_outside_the_project_is_touched(workspace: Workspace, path: str) -> None:
    events = apply(workspace, f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n")
    (refused,) = (event for event in events if isinstance(event, HunkRefused))
    assert refused.code == "outside_project"
    assert not (workspace.root.parent / "out.txt").exists()


def test_control_characters_in_a_path_are_shown_clean(workspace: Workspace) -> None:
    events = apply(workspace, "*** Begin Patch\n*** Update File: a\x1b[31m.py\n@@\n-x\n+y\n*** End Patch\n")
    shown = [event.path for event in events if isinstance(event, HunkOpened | HunkRefused)]
    assert shown
    assert not any("\x1b" in path for path in shown)


def test_undo_and_redo_work_without_a_session(workspace: Workspace) -> None:
    apply(workspace, HELLO + SECOND)
    before = (workspace.root / "app.py").read_text()
    assert undo_hunk(workspace, "h1") == HunkUndone("h1", "app.py", 2, 3)
    assert "'Hello ' + name" in (workspace.root / "app.py").read_text()
    assert "2nd" in (workspace.root / "notes.md").read_text()
    assert redo_hunk(workspace, None) == HunkRedone("h1", "app.py", 2, 3)
    assert (workspace.root / "app.py").read_text() == before
    last = undo_hunk(workspace, None)
    assert isinstance(last, HunkUndone)


def test_a_refused_undo_says_why(workspace: Workspace) -> None:
    nothing = undo_hunk(workspace, None)
    assert isinstance(nothing, HunkRefused) and "no hunk to undo" in nothing.message
    unknown = undo_hunk(workspace, "h9")
    assert isinstance(unknown, HunkRefused) and "h9" in unknown.message
    apply(workspace, HELLO)
    never = redo_hunk(workspace, "h1")
    assert isinstance(never, HunkRefused) and never.code == "conflict"


# --- the command ----------------------------------------------------------------------------------


def lines(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def spark_here(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunSpark:
    """Run ``spark`` in the project and in this process, as its console script does."""

    def run(*arguments: str, given: str | bytes = b"") -> Ran:
        read, out, err = (tmp_path / name for name in ("stdin", "stdout", "stderr"))
        read.write_bytes(given.encode() if isinstance(given, str) else given)
        with (
            read.open() as stdin,
            out.open("w") as stdout,
            err.open("w") as stderr,
            monkeypatch.context() as patch,
            pytest.raises(SystemExit) as left,
        ):
            patch.chdir(project)
            patch.setattr(sys, "argv", ["spark", *arguments])
            for name, stream in (("stdin", stdin), ("stdout", stdout), ("stderr", stderr)):
                patch.setattr(sys, name, stream)
            _main()
        code = left.value.code
        assert isinstance(code, int)
        return Ran(code, out.read_text(), err.read_text())

    return run


def test_a_hunk_is_on_disk_while_its_pipe_is_still_open(project: Path, quick_spark: Path) -> None:
    process = subprocess.Popen(
        [quick_spark, "apply", "--json"], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write(HELLO.encode())
        process.stdin.flush()
        opened, landed = (json.loads(process.stdout.readline()) for _ in range(2))
        assert (opened["type"], landed["type"]) == ("hunk.open", "hunk.landed")
        assert "f'Hello {name}'" in (project / "app.py").read_text()
        assert process.poll() is None
        process.stdin.write(SECOND.encode())
        process.stdin.close()
        rest = [json.loads(line)["type"] for line in process.stdout]
    assert rest == ["hunk.open", "hunk.landed", "apply.ended"]
    assert process.returncode == 0


def test_every_json_line_is_as_the_contract_says(project: Path, spark_here: RunSpark) -> None:
    ran = spark_here("apply", "--json", given=HELLO + BAD + SECOND)
    assert ran.code == 1
    records = lines(ran.out)
    wanted = {
        "hunk.open": {"hunk", "path"},
        "hunk.landed": {"hunk", "path", "status", "tier", "start", "end"},
        "hunk.refused": {"hunk", "path", "code", "message"},
        "apply.ended": {"landed", "refused", "already_applied"},
    }
    assert {record["type"] for record in records} == set(wanted)
    for record in records:
        assert wanted[record["type"]] <= set(record)
        assert type(record["t"]) is float and record["t"] >= 0
    assert [record["t"] for record in records] == sorted(record["t"] for record in records)
    ended = records[-1]
    assert (ended["landed"], ended["refused"], ended["already_applied"]) == (2, 1, 0)
    landed = next(record for record in records if record["type"] == "hunk.landed")
    assert (landed["status"], landed["tier"], landed["start"], landed["end"]) == ("applied", 1, 2, 3)


def test_the_plain_output_has_a_line_a_hunk_and_the_counts(project: Path, run_spark: RunSpark) -> None:
    ran = run_spark("apply", cwd=project, given=HELLO + ADD)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "h1 landed app.py:2",
        "h2 added new/file.txt:1-2",
        "2 landed, 0 refused, 0 already there",
    ]
    assert ran.err == ""


def test_a_dry_run_of_the_command_leaves_the_project_alone(project: Path, spark_here: RunSpark) -> None:
    before = (project / "app.py").read_bytes()
    ran = spark_here("apply", "--dry-run", given=HELLO)
    assert ran.code == 0 and "1 landed" in ran.out
    assert (project / "app.py").read_bytes() == before


IN_EACH_FORMAT = {
    "v4a": "*** Begin Patch\n*** Update File: notes.md\n@@\n-second\n+SECOND\n*** End Patch\n",
    "search-replace": "notes.md\n```\n<<<<<<< SEARCH\nsecond\n=======\nSECOND\n>>>>>>> REPLACE\n```\n",
    "unified": "--- a/notes.md\n+++ b/notes.md\n@@ -3,3 +3,3 @@\n first\n-second\n+SECOND\n third\n",
    "json": '{"path": "notes.md", "old_string": "second", "new_string": "SECOND"}\n',
    "whole": "notes.md\n```\n# Notes\n\nfirst\nSECOND\nthird\n```\n",
}


# Whole files are read only when asked for: a fence below a path may be an example.
READ_UNASKED = [edit_format for edit_format in IN_EACH_FORMAT if edit_format != "whole"]


@pytest.mark.parametrize(
    ("edit_format", "named"),
    [*((each, True) for each in IN_EACH_FORMAT), *((each, False) for each in READ_UNASKED)],
)
def test_every_format_of_the_contract_lands(
    project: Path, spark_here: RunSpark, edit_format: str, named: bool
) -> None:
    options = ["--format", edit_format] if named else []
    given = f"Some words.\n\n{IN_EACH_FORMAT[edit_format]}"
    ran = spark_here("apply", "--json", *options, given=given)
    assert ran.code == 0 and ran.err == ""
    opened, landed, ended = (json.loads(line) for line in ran.out.splitlines())
    assert (opened["type"], opened["hunk"], opened["path"]) == ("hunk.open", "h1", "notes.md")
    assert landed["type"] == "hunk.landed" and "turn" not in landed
    assert (landed["hunk"], landed["path"], landed["status"], landed["tier"]) == (
        "h1",
        "notes.md",
        "applied",
        1,
    )
    assert landed["start"] <= 4 < landed["end"]
    del ended["t"]
    assert ended == {"type": "apply.ended", "landed": 1, "refused": 0, "already_applied": 0}
    assert (project / "notes.md").read_text() == "# Notes\n\nfirst\nSECOND\nthird\n"
    again = spark_here("apply", "--json", *options, given=given)
    assert '"already_applied"' in again.out and again.code == 0


def test_text_without_an_edit_is_reported_as_such(project: Path, spark_here: RunSpark) -> None:
    for given in ("just words\n", "", " \n\n"):
        ran = spark_here("apply", given=given)
        assert ran.code == 1 and "0 landed" in ran.out and "no edit" in ran.err


def test_an_unknown_format_is_a_usage_error(project: Path, spark_here: RunSpark) -> None:
    ran = spark_here("apply", "--format", "docx")
    assert ran.code == 2 and "docx" in ran.err


def test_an_invalid_byte_is_named_by_its_place_after_the_counts(project: Path, spark_here: RunSpark) -> None:
    data = HELLO.encode() + b"\xff\xfe"
    ran = spark_here("apply", "--json", given=data)
    assert ran.code == 1
    assert f"not UTF-8 at byte {len(HELLO)}" in ran.err
    assert lines(ran.out)[-1]["landed"] == 1


def test_undo_and_redo_across_processes(project: Path, run_spark: RunSpark, spark_here: RunSpark) -> None:
    """Another process undoes what this one landed; the rest is as if each command were a process."""
    original = (project / "app.py").read_text()
    spark_here("apply", given=HELLO + SECOND)
    changed = (project / "app.py").read_text()
    undone = run_spark("undo", "h1", cwd=project)
    assert (undone.code, undone.out) == (0, "h1 undone app.py:2\n")
    assert (project / "app.py").read_text() == original
    again = spark_here("redo")
    assert (again.code, again.out) == (0, "h1 redone app.py:2\n")
    assert (project / "app.py").read_text() == changed
    last = spark_here("undo")
    assert last.code == 0
    for hunk in ("h99", "nonsense", "../h1"):
        refused = spark_here("undo", hunk)
        assert refused.code == 1
        assert refused.err.startswith(f"spark: {hunk}: ")


def test_nothing_to_undo_says_so_and_no_more(project: Path, spark_here: RunSpark) -> None:
    for command, verb in (("undo", "undo"), ("redo", "redo")):
        ran = spark_here(command)
        assert (ran.code, ran.out) == (1, "")
        assert ran.err == f"spark: there is no hunk to {verb} in this project\n"


def test_two_processes_give_their_hunks_different_names(project: Path, quick_spark: Path) -> None:
    for name in ("one", "two"):
        (project / f"{name}.txt").write_text("".join(f"line {number}\n" for number in range(20)))
    processes = []
    for name in ("one", "two"):
        patches = "".join(update(f"{name}.txt", f"line {n}", f"{name} {n}") for n in range(20))
        process = subprocess.Popen(
            [quick_spark, "apply", "--json"], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(patches.encode())
        process.stdin.close()
        processes.append(process)
    names = []
    for process in processes:
        assert process.stdout is not None
        names += [r["hunk"] for r in lines(process.stdout.read().decode()) if r["type"] == "hunk.landed"]
        process.stdout.close()
        assert process.wait(60) == 0
    assert len(names) == len(set(names)) == 40
    for name in ("one", "two"):
        assert (project / f"{name}.txt").read_text() == "".join(f"{name} {n}\n" for n in range(20))


def test_an_interrupt_keeps_what_landed_and_leaves_with_130(project: Path, quick_spark: Path) -> None:
    process = subprocess.Popen(
        [quick_spark, "apply", "--json"],
        cwd=project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    with process:
        process.stdin.write(HELLO.encode())
        process.stdin.flush()
        while json.loads(process.stdout.readline())["type"] != "hunk.landed":
            pass
        process.send_signal(2)
        assert process.wait(60) == 130
        assert process.stderr.read() == b"spark: interrupted\n"
    assert "f'Hello {name}'" in (project / "app.py").read_text()


def test_a_state_folder_that_cannot_be_written_is_a_configuration_error(
    project: Path, run_spark: RunSpark
) -> None:
    (project.parent / "taken").write_text("")
    ran = run_spark("apply", cwd=project, given=HELLO, env={"XDG_STATE_HOME": str(project.parent / "taken")})
    assert ran.code == 3
    assert "XDG_STATE_HOME" in ran.err
    assert "'Hello ' + name" in (project / "app.py").read_text()


def test_a_closed_output_pipe_is_not_an_error(project: Path, quick_spark: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [quick_spark, "apply"], cwd=project, input=HELLO.encode(), stdout=writing, stderr=subprocess.PIPE,
            check=False, timeout=60,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
