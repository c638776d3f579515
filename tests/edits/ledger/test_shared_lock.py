"""Waiting for another process that holds the ledger: said, stoppable, and never without end."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from edits.ledger import shared_lock
from edits.ledger.ledger import Ledger
from edits.ledger.shared_lock import LONGEST, Holder, LockHeldError, LockWait, holder_of, sign

HOLD = """
import sys, time
from pathlib import Path
from edits.ledger.ledger import Ledger
sys.argv = ["/somewhere/spark", "exec", "a private prompt"]
with Ledger(Path({folder!r})).exclusive():
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the ledger until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(folder=str(folder))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.communicate()


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_lock, "TELL_AFTER", 0.05)
    monkeypatch.setattr(shared_lock, "LONGEST_FOR_STOPPED", 0.2)


def test_the_wait_is_told_once_and_ends_with_the_holder(tmp_path: Path) -> None:
    ledger, told = Ledger(tmp_path), list[str]()
    with held(tmp_path) as process:
        assert process.stdin is not None
        stdin = process.stdin

        def tell(line: str) -> None:
            told.append(line)
            stdin.close()

        ledger.wait.tell = tell
        with ledger.exclusive():
            pass
        process.wait()
        process.stdin = None
    assert told == [f"waiting for process {process.pid} (spark exec), which holds the project's ledger"]


def test_a_stopped_holder_is_given_up_and_named(tmp_path: Path) -> None:
    ledger, told = Ledger(tmp_path), list[str]()
    ledger.wait.tell = told.append
    with held(tmp_path) as process:
        stop(process)
        with pytest.raises(LockHeldError) as raised, ledger.exclusive():
            pass
    assert "and is stopped" in told[0]
    assert f"process {process.pid} (spark exec) holds the project's ledger" in raised.value.message
    assert f"kill -CONT {process.pid}" in raised.value.message
    with ledger.exclusive():
        pass


def test_a_wait_is_stopped_and_the_next_one_begins_anew(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    with held(tmp_path):
        for _ in range(2):
            waiting = threading.Event()
            ledger.wait.tell = lambda line, waiting=waiting: waiting.set()  # type: ignore[misc]
            problems: list[str] = []

            def take(problems: list[str] = problems) -> None:
                try:
                    with ledger.exclusive():
                        problems.append("none")
                except LockHeldError as held:
                    problems.append(held.message)

            thread = threading.Thread(target=take)
            thread.start()
            assert waiting.wait(20)
            ledger.wait.stop()
            thread.join(20)
            assert problems and problems[0].startswith("stopped waiting for process")


@pytest.mark.parametrize(
    ("by", "stopped", "longest", "after"),
    [
        ("", False, LONGEST, 60.0),
        ("77777 spark exec", False, LONGEST, 60.0),
        ("77777 spark exec", True, LONGEST, 10.0),
        ("77777 spark exec", True, 4.0, 4.0),
        ("77777 spark exec", False, 4.0, 4.0),
    ],
)
def test_a_wait_is_told_after_a_second_and_given_up_at_its_limit(
    by: str, stopped: bool, longest: float, after: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock goes on by half a second at each look."""
    monkeypatch.undo()  # the limits as they are
    looks, told = list[float](), list[float]()

    def look() -> float:
        looks.append(len(looks) / 2)
        return looks[-1]

    monkeypatch.setattr(shared_lock, "monotonic", look)
    monkeypatch.setattr(shared_lock, "_LONGEST_NAP", 0.001)
    monkeypatch.setattr(shared_lock, "is_stopped", lambda pid: stopped)
    wait = LockWait()
    wait.tell = lambda line: told.append(looks[-1])
    (tmp_path / "lock").write_text(by)
    with (tmp_path / "lock").open() as held, (tmp_path / "lock").open() as asked:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LockHeldError) as raised:
            wait.acquire(asked.fileno(), "it", longest)
    assert told == [1.0] and looks[-1] == after
    assert raised.value.message.startswith("process 77777 (spark exec)" if by else "another process")
    assert ("kill -CONT" in raised.value.message) == stopped


def test_a_lock_that_is_got_is_signed_unless_its_content_is_something_else(tmp_path: Path) -> None:
    for signed, content in ((True, f"{os.getpid()} "), (False, "12")):
        (tmp_path / "lock").write_text("12")
        with (tmp_path / "lock").open("rb+") as file:
            LockWait().acquire(file.fileno(), "it", signed=signed)
        assert (tmp_path / "lock").read_text().startswith(content)


@pytest.mark.parametrize(
    ("holder", "name", "remedy"),
    [
        (Holder(), "another process", "try again when it is done"),
        (Holder(7), "process 7", "try again when it is done, or end it (kill 7)"),
        (Holder(7, "spark exec"), "process 7 (spark exec)", "try again when it is done, or end it (kill 7)"),
        (
            Holder(7, stopped=True),
            "process 7",
            "it is stopped: continue it (kill -CONT 7) or end it, then try again",
        ),
    ],
)
def test_who_holds_a_lock_is_told(holder: Holder, name: str, remedy: str) -> None:
    assert str(holder) == name and holder.remedy == remedy


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["/bin/spark", "exec", "a private prompt"], "spark exec"),
        (["/bin/spark", "private prompt"], "spark"),
        (["/bin/spark", "x"], "spark"),
        (["/bin/spark"], "spark"),
        ([""], "python"),
        ([], "python"),
    ],
)
def test_a_command_is_told_without_what_may_be_private(
    arguments: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", arguments)
    with (tmp_path / "lock").open("wb+") as file:
        file.write(b"x" * 300)
        file.flush()
        sign(file.fileno())
        assert (tmp_path / "lock").read_bytes() == f"{os.getpid()} {command}\n".encode()
        assert holder_of(file.fileno()) == Holder(os.getpid(), command)


@pytest.mark.parametrize("written", ["", "spark 12", "-5 spark", "12a spark", "1234567890 spark", "9" * 300])
def test_a_file_that_nobody_signed_tells_no_holder(written: str, tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(written)
    with (tmp_path / "lock").open("rb") as file:
        assert holder_of(file.fileno()) == Holder()
