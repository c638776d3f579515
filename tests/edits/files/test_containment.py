"""Nothing lands outside the project while another process swaps its folders and files for something else."""

from __future__ import annotations

import ctypes
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edits.files.durable import temporary_name
from edits.files.path_jail import Changed
from edits.files.text import FileError
from edits.files.tree import Tree
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project

LANDINGS = 300

SWAPPER = """
import ctypes, os, sys, time
place, other = (os.fsencode(name) for name in sys.argv[1:])
exchange = ctypes.CDLL(None, use_errno=True).renameat2
print("ready", flush=True)
while exchange(-100, place, -100, other, 2) == 0:
    time.sleep(0 if os.path.islink(place) else 0.0005)
"""
"""Exchanges two files in one step (``RENAME_EXCHANGE``), so that there is always one of them."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@contextmanager
def swapping(place: Path, other: Path) -> Iterator[None]:
    """Another process exchanges ``place`` with ``other`` all the time."""
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("the attacker needs Linux to exchange two files in one step")
    command = [sys.executable, "-c", SWAPPER, str(place), str(other)]
    was = stat.S_IFMT(place.lstat().st_mode)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        try:
            yield
        finally:
            assert process.poll() is None, "the attacker gave up"
            process.kill()
    if stat.S_IFMT(place.lstat().st_mode) != was:
        place.unlink()
        other.rename(place)


def add(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.ADD, Format.V4A, tuple(HunkLine(LineKind.NEW, line) for line in lines))


def edit(path: str, *lines: str) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


def test_a_folder_swapped_for_a_link_takes_no_file_outside(project: Project) -> None:
    outside = project.folder / "outside"
    outside.mkdir()
    (outside / "own.txt").write_text("x\n")
    project.write({"sub/deep/own.txt": "x\n", "top.txt": "x\n"})
    landed: set[str] = set()
    link = project.folder / "link"
    link.symlink_to(outside)
    with swapping(project.root / "sub", link):
        number = 0
        while number < LANDINGS or len(landed) < 10:
            number += 1
            kinds = (
                add(f"sub/new{number}.txt", "x"),
                add(f"sub/made{number}/new.txt", "x"),
                edit("sub/deep/own.txt", " x", f"+{number}"),
                edit("sub/own.txt", "-x", "+y"),
                Hunk("sub/own.txt", Action.DELETE, Format.V4A),
            )
            hunk = kinds[number % len(kinds)]
            if isinstance(project.landing.land(hunk, hunk_id=f"h{number}"), Landed):
                landed.add(hunk.path)
    assert {path.name: path.read_text() for path in outside.iterdir()} == {"own.txt": "x\n"}
    now = project.read()
    assert landed <= now.keys()
    assert not [name for name in now if name.endswith(".spark")]
    assert Ledger(project.folder / "ledger").recover() == []


def test_a_file_swapped_for_a_link_leaves_what_it_leads_to_alone(project: Project) -> None:
    outside = project.folder / "outside"
    outside.write_text("0\n")
    project.write({"a.txt": "0\n", "moved/b.txt": "x\n"})
    link = project.folder / "link"
    link.symlink_to(outside)
    with swapping(project.root / "a.txt", link):
        for number in range(LANDINGS // 2):
            project.landing.land(edit("a.txt", f"-{number % 2}", f"+{(number + 1) % 2}"), hunk_id="h1")
    assert outside.read_text() == "0\n"
    assert sorted(project.read()) == ["a.txt", "moved/b.txt"]


def test_a_file_swapped_for_a_pipe_does_not_hang(project: Project) -> None:
    project.write({"a.txt": "0\n"})
    os.mkfifo(project.folder / "pipe")
    with swapping(project.root / "a.txt", project.folder / "pipe"):
        for number in range(LANDINGS // 2):
            project.landing.land(edit("a.txt", f"-{number % 2}", f"+{(number + 1) % 2}"), hunk_id="h1")
    assert sorted(project.read()) == ["a.txt"]


@pytest.mark.parametrize("step", ["temporary created", "temporary written"])
def test_a_folder_swapped_during_a_write_is_noticed(tmp_path: Path, step: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root / "sub", outside):
        folder.mkdir(parents=True)
        (folder / "f").write_text("old\n")
    tree = Tree(root)
    expected = tree.fingerprint("sub/f")

    def swap(name: str) -> None:
        if name == step:
            (root / "sub").rename(root / "away")
            (root / "sub").symlink_to(outside)

    with pytest.raises(Changed):
        tree.write("sub/f", b"new\n", expected=expected, step=swap)
    assert (outside / "f").read_text() == (root / "away/f").read_text() == "old\n"
    assert [path.name for path in (root / "away").iterdir()] == ["f"]


def test_devices_pipes_and_sockets_are_never_opened(project: Project) -> None:
    os.mkfifo(project.root / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(project.root / "socket"))
        (project.root / "device").symlink_to("/dev/zero")
        for path in ("pipe", "socket"):
            for hunk in (
                edit(path, "-x", "+y"),
                add(path, "x"),
                Hunk(path, Action.DELETE, Format.V4A),
                Hunk(path, Action.MOVE, Format.V4A, move_to="other"),
                Hunk("there.txt", Action.MOVE, Format.V4A, move_to=path),
            ):
                project.write({"there.txt": "x\n"})
                refused = project.landing.land(hunk, hunk_id="h1")
                assert isinstance(refused, Refused) and refused.code is RefusalCode.IO
                assert refused.message == f"{path} is not a regular file"
            with pytest.raises(FileError, match="not a regular file"):
                Tree(project.root).read(path)
    refused = project.landing.land(edit("device", "-x", "+y"), hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.OUTSIDE_PROJECT


def test_a_file_of_the_repository_is_not_taken_for_a_temporary_one(project: Project) -> None:
    """The names were predictable once: such a file stopped the landing, and was then deleted."""
    project.write({"a.txt": "x\n", ".a.txt.h1-1.spark": "theirs\n", ".a.txt.h2-2.spark": "theirs\n"})
    assert isinstance(project.landing.land(edit("a.txt", "-x", "+y"), hunk_id="h1"), Landed)
    assert project.read() == {
        "a.txt": "y\n",
        ".a.txt.h1-1.spark": "theirs\n",
        ".a.txt.h2-2.spark": "theirs\n",
    }
    names = {temporary_name("a.txt", entry.token) for entry in project.ledger.entries()}
    assert len(names) == 1 and not names & project.read().keys()


@pytest.mark.parametrize("name", ["字" * 82, "é" * 120 + ".py", "n" * 255, "\U0001f600" * 63])
def test_a_long_name_of_wide_characters_is_edited(project: Project, name: str) -> None:
    project.write({name: "x\n"})
    assert isinstance(project.landing.land(edit(name, "-x", "+y"), hunk_id="h1"), Landed)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read() == {name: "x\n"}


def test_a_path_from_a_damaged_journal_does_not_leave_the_project(project: Project) -> None:
    (project.folder / "out").write_text("x\n")
    tree = Tree(project.root)
    for path in ("../out", "sub/../../out", "/etc/hostname", "sub//x", "./x", ".."):
        for act in (tree.read, tree.status, tree.fingerprint, tree.make_folders):
            with pytest.raises(FileError):
                act(path)
        with pytest.raises(FileError):
            tree.write(path, b"x")
    assert (project.folder / "out").read_text() == "x\n"


def test_links_within_the_project_stay_usable(project: Project) -> None:
    project.write({"real/f": "b\n"})
    (project.root / "folder").symlink_to("real")
    (project.root / "link").symlink_to("folder/f")
    for path in ("folder/f", "link", "folder/../folder/f"):
        assert isinstance(project.landing.land(edit(path, "-b", "+c"), hunk_id="h"), Landed)
        assert isinstance(project.landing.undo("h"), Landed)
    assert isinstance(project.landing.land(add("folder/new/g", "x"), hunk_id="h2"), Landed)
    assert (project.root / "real/new/g").read_text() == "x\n"
