"""The socket of a session: private, for one user, and at a path of any length."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from session.record.sharing import sockets
from session.record.sharing.sockets import connect, is_own, listen


@pytest.mark.parametrize("depth", [0, 3, 12])
def test_two_ends_meet_at_a_path_of_any_length(tmp_path: Path, depth: int) -> None:
    folder = tmp_path.joinpath(*["a-folder-with-a-long-name"] * depth)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "20260102-030405-abcd.sock"
    listening = listen(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    listening.setblocking(True)
    near = connect(path, 5)
    far, _ = listening.accept()
    assert is_own(near) and is_own(far)
    far.sendall(b"hello")
    assert near.recv(5) == b"hello"
    for each in (near, far, listening):
        each.close()


def test_what_a_dead_process_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.sock"
    listen(path).close()
    with pytest.raises(OSError):
        connect(path, 1)
    listening = listen(path)
    connect(path, 5).close()
    listening.close()


def test_a_process_of_another_user_is_turned_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listening = listen(tmp_path / "a.sock")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    with pytest.raises(PermissionError, match="another user"):
        connect(tmp_path / "a.sock", 5)
    listening.close()


def test_the_peer_is_read_from_the_kernel() -> None:
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    assert sockets._peer_uid(near) == os.getuid()
    near.close()
    far.close()
