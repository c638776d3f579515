"""The link to a real sshd is cut at each event of a turn: the turn goes on, and the next spark takes over."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from session.journal.reading import read_records
from session.partner.demo import make_sample
from tests.e2e.test_exec import FEATURE, partner
from tests.e2e.test_lost_screen import alive
from tests.e2e.tmux import Terminal, terminal, wait_for

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
pytestmark = [
    pytest.mark.skipif(SSHD is None, reason="needs sshd: install openssh-server"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh: install openssh-client"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
    pytest.mark.slow,
]


@dataclass
class Remote:
    """A machine that is reached by ssh, with a project on it."""

    ssh: list[str]
    spark: list[str]
    state: Path
    pids: Path

    @contextmanager
    def opened(self, folder: Path) -> Iterator[tuple[Terminal, int]]:
        """spark at the other end of a link, and its process id there."""
        pid = self.pids / f"{len(list(self.pids.iterdir()))}"
        there = f"echo $$ > {pid}; exec {shlex.join(self.spark)}"
        with terminal([*self.ssh, there], 100, 30, {}, folder) as pane:
            wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"), "the process")
            yield pane, int(pid.read_text())

    def kinds(self) -> list[str]:
        """The types of the newest session's events."""
        journals = sorted(self.state.glob("spark/projects/*/sessions/*.jsonl"))
        return [str(record["type"]) for record in read_records(journals[0])] if journals else []


@contextmanager
def sshd(folder: Path) -> Iterator[list[str]]:
    """A server on loopback that takes one key; gives the command of a client with a terminal."""
    assert SSHD is not None
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder / 'host'}\nPidFile none\nUsePAM no\n"
        f"AuthorizedKeysFile {folder / 'user.pub'}\nStrictModes no\nPasswordAuthentication no\n"
    )
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "config")], stderr=subprocess.DEVNULL)

    def answers() -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    try:
        wait_for(answers, "sshd")
        options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "LogLevel=ERROR"]
        given = [part for option in options for part in ("-o", option)]
        yield [
            "ssh",
            "-F",
            "/dev/null",
            "-tt",
            "-p",
            str(port),
            "-i",
            str(folder / "user"),
            *given,
            "127.0.0.1",
        ]
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def remote(tmp_path: Path, spark_path: Path) -> Iterator[Remote]:
    root, pids, keys = tmp_path / "sample", tmp_path / "pids", tmp_path / "keys"
    for folder in (root, pids, keys):
        folder.mkdir(mode=0o700)
    make_sample(root)
    with partner(spark_path, "--rate", "60") as url, sshd(keys) as ssh:
        folders = [f"XDG_{name}_HOME={tmp_path / name.lower()}" for name in ("STATE", "CONFIG", "CACHE")]
        spark = ["env", "TERM=xterm-256color", *folders, str(spark_path), "-C", str(root)]
        spark += ["--base-url", url, "--model", "spark-practice"]
        yield Remote(ssh, spark, tmp_path / "state", pids)


def cut(pane: Terminal) -> None:
    """Kill the client where it stands, as a lost network does once the server notices."""
    client = int(pane.tmux("list-panes", "-F", "#{pane_pid}"))
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(client)], capture_output=True, text=True, check=True
    )
    for child in children.stdout.split():
        os.kill(int(child), 9)


@pytest.mark.parametrize("event", ["prompt.submitted", "turn.started", "hunk.open", "hunk.landed"])
def test_a_turn_outlives_the_link(remote: Remote, tmp_path: Path, event: str) -> None:
    with remote.opened(tmp_path) as (pane, process):
        pane.until("ready")
        pane.type(FEATURE)
        pane.keys("Enter")
        wait_for(lambda: event in remote.kinds(), event)
        pane.type("half a thought")
        pane.until("half a thought")
        cut(pane)
        wait_for(lambda: "goes on without a screen" in _told(remote), "the turn to go on")
        assert alive(process)
    with remote.opened(tmp_path) as (pane, follower):
        pane.until(f"process {process}")
        wait_for(lambda: "turn.ended" in remote.kinds(), "the end of the turn", 120)
        wait_for(lambda: not alive(process), "the end of the first process")
        pane.until("half a thought")
        assert alive(follower)
    kinds = remote.kinds()
    assert kinds.count("hunk.landed") == kinds.count("hunk.open") > 0
    (ended,) = [record for record in _records(remote) if record["type"] == "turn.ended"]
    assert ended["status"] == "completed"


def test_without_a_turn_the_process_ends_with_the_link_and_keeps_what_was_typed(
    remote: Remote, tmp_path: Path
) -> None:
    with remote.opened(tmp_path) as (pane, process):
        pane.until("ready")
        pane.type("half a thought")
        pane.until("half a thought")
        cut(pane)
        wait_for(lambda: not alive(process), "the end of the process")
    with remote.opened(tmp_path) as (pane, _):
        pane.until("half a thought")


def _records(remote: Remote) -> list[dict[str, object]]:
    return list(read_records(sorted(remote.state.glob("spark/projects/*/sessions/*.jsonl"))[0]))


def _told(remote: Remote) -> str:
    return "\n".join(str(record.get("text")) for record in _records(remote) if record["type"] == "notice")
