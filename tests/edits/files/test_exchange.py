"""Another program's save at the very moment of a landing is never lost."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from edits.files import replacing as exchanging
from edits.files.path_jail import Changed
from edits.files.text import digest
from edits.files.tree import Tree

OLD, OURS = b"old\n", b"ours\n"


class Saver:
    """Saves a file by renaming a new one over it, at the named steps in turn, or deletes it for None."""

    def __init__(self, file: Path, *saves: tuple[str, bytes | None]) -> None:
        self.file, self.saves = file, list(saves)

    def __call__(self, step: str) -> None:
        if self.saves and step == self.saves[0][0]:
            _, content = self.saves.pop(0)
            if content is None:
                self.file.unlink()
                return
            made = self.file.with_name("saved")
            made.write_bytes(content)
            made.replace(self.file)


SAVES: tuple[tuple[tuple[tuple[str, bytes | None], ...], bytes | None], ...] = (
    ((("target checked", b"theirs\n"),), b"theirs\n"),
    ((("target checked", b"theirs\n"), ("exchanged", b"theirs again\n")), b"theirs again\n"),
    ((("target checked", b"theirs\n"), ("exchanged", None)), None),
    ((("target checked", None),), None),
)


@pytest.mark.parametrize(("saves", "left"), SAVES)
def test_a_save_between_the_last_look_and_the_landing_stays(
    tmp_path: Path, saves: tuple[tuple[str, bytes | None], ...], left: bytes | None
) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    saver = Saver(file, *saves)
    with pytest.raises(Changed):
        Tree(tmp_path).write("f", OURS, expected=digest(OLD), step=saver)
    assert not saver.saves, "every save came"
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == (
        {} if left is None else {"f": left}
    )


def test_a_save_after_the_exchange_stays_and_is_newer(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    Tree(tmp_path).write("f", OURS, expected=digest(OLD), step=Saver(file, ("exchanged", b"theirs\n")))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"f": b"theirs\n"}


@pytest.mark.parametrize("newer", [None, b"newer\n"])
def test_a_save_of_what_is_deleted_comes_back(tmp_path: Path, newer: bytes | None) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    tree = Tree(tmp_path)
    took = []

    def save(step: str) -> None:
        took.append(step)
        if step == "taken out":  # as if the other's save had been taken
            (taken,) = tmp_path.iterdir()
            taken.write_bytes(b"theirs\n")
            if newer is not None:
                file.write_bytes(newer)

    with pytest.raises(Changed):
        tree.remove("f", digest(OLD), save)
    assert took == ["taken out"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"f": newer or b"theirs\n"}


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS, errno.EPERM])
def test_where_nothing_can_be_exchanged_the_last_look_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def lacking(*_: object) -> int:
        import ctypes

        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(exchanging, "_call", lacking)
    file = tmp_path / "f"
    file.write_bytes(OLD)
    tree = Tree(tmp_path)
    tree.write("f", OURS, expected=digest(OLD))
    assert file.read_bytes() == OURS
    with pytest.raises(Changed):
        tree.write("f", OLD, expected=digest(OLD))
    assert [path.name for path in tmp_path.iterdir()] == ["f"]


def test_a_save_is_put_back_where_nothing_can_be_exchanged_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    saver = Saver(file, ("target checked", b"theirs\n"))

    def step(name: str) -> None:
        saver(name)
        if name == "exchanged":
            monkeypatch.setattr(exchanging, "_call", None)

    with pytest.raises(Changed):
        Tree(tmp_path).write("f", OURS, expected=digest(OLD), step=step)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"f": b"theirs\n"}


def test_an_interrupt_right_after_the_exchange_loses_no_save(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(OLD)
    saver = Saver(file, ("target checked", b"theirs\n"))

    def interrupted(step: str) -> None:
        saver(step)
        if step == "exchanged":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tree(tmp_path).write("f", OURS, expected=digest(OLD), step=interrupted)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"f": b"theirs\n"}


BUSY = """
import os, sys, time
folder, saves = sys.argv[1], int(sys.argv[2])
file, made = f"{folder}/f", f"{folder}/made"

def is_lost(number):
    end = time.monotonic() + 1.0
    while time.monotonic() < end:  # what was taken for a moment is put back
        with open(file) as now:
            if int(now.readline().removeprefix("after ")) >= number:
                return False
    return True

lost = 0
for number in range(1, saves + 1):
    with open(made, "w") as new:
        new.write(f"{number}\\n")
    lost += is_lost(number - 1)
    os.rename(made, file)
    if number % 4 == 0:
        os.sched_yield()
print(lost)
"""
"""Saves a counter by renames, and counts those that somebody put something over without having read them."""


@pytest.mark.long
def test_no_save_of_a_busy_editor_is_lost(tmp_path: Path) -> None:
    saves = 40_000
    tree, file = Tree(tmp_path), tmp_path / "f"
    file.write_text("0\n")
    landed = 0
    with subprocess.Popen(
        [sys.executable, "-c", BUSY, tmp_path, str(saves)], stdout=subprocess.PIPE
    ) as editor:
        while editor.poll() is None:
            now = file.read_bytes()
            after = b"after " + now.removeprefix(b"after ")
            try:
                tree.write("f", after + b"\n", expected=digest(now))
            except Changed:
                continue
            landed += 1
        assert editor.stdout is not None
        lost = int(editor.stdout.read())
    assert lost == 0 and landed > 100
    assert [path.name for path in tmp_path.iterdir()] == ["f"]
