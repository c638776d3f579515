"""One process has a session: real processes, killed, stopped and racing."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from session.base.storage.private_files import StoreError
from session.record.sharing.claim import Claim, SessionTakenError, open_elsewhere, take_dead

NAME = "20260102-030405-abcd"
HOLD = """
import sys
from pathlib import Path
from session.record.sharing.claim import Claim
sys.argv = ["/x/spark", "resume", "private"]
claim = Claim(Path({folder!r}), {name!r})
print("claimed", flush=True)
sys.stdin.read()
"""


def holding(folder: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(folder=str(folder), name=NAME)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "claimed\n"
    return process


def test_a_claim_names_its_holder_and_ends_with_it(tmp_path: Path) -> None:
    process = holding(tmp_path)
    with pytest.raises(SessionTakenError) as taken:
        Claim(tmp_path, NAME)
    assert f"session {NAME} is open in process {process.pid} (spark resume)" in str(taken.value)
    assert not taken.value.holder.stopped
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    with pytest.raises(SessionTakenError) as taken:
        Claim(tmp_path, NAME)
    assert taken.value.holder.stopped
    assert open_elsewhere(tmp_path) == [NAME]
    process.kill()
    process.communicate()
    assert open_elsewhere(tmp_path) == []
    assert take_dead(tmp_path) == [NAME] and not list(tmp_path.iterdir())
    assert take_dead(tmp_path) == [], "each is told once"
    Claim(tmp_path, NAME).release()


def test_a_released_claim_leaves_nothing(tmp_path: Path) -> None:
    claim = Claim(tmp_path / "live", NAME)
    mode = stat.S_IMODE((tmp_path / "live" / f"{NAME}.lock").stat().st_mode)
    assert mode == 0o600 and stat.S_IMODE((tmp_path / "live").stat().st_mode) == 0o700
    claim.release()
    claim.release()
    assert not list((tmp_path / "live").iterdir())


def test_two_never_have_it_while_many_try(tmp_path: Path) -> None:
    """Threads claim and release as fast as they can, while others look for open sessions."""
    inside, most, over = [0], [0], threading.Event()
    lock = threading.Lock()

    def look() -> None:
        while not over.is_set():
            open_elsewhere(tmp_path)

    def claim_often() -> None:
        done = 0
        while done < 30:
            try:
                claim = Claim(tmp_path, NAME)
            except StoreError:
                continue
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            with lock:
                inside[0] -= 1
            claim.release()
            done += 1

    watching = threading.Thread(target=look)
    watching.start()
    threads = [threading.Thread(target=claim_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    over.set()
    watching.join(60)
    assert most == [1] and not any(thread.is_alive() for thread in threads)


def test_a_link_in_place_of_the_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreError):
        Claim(tmp_path, NAME)
    assert open_elsewhere(tmp_path) == [] and not (tmp_path / "elsewhere").exists()
