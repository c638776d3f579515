"""The link to a real sshd cut at every event of a turn: ``python -m tests.e2e.link_cuts [--rate 120]``.

For each record that a turn writes into its journal, a fresh spark at the other end of an ssh link loses the
link when that record is there, half a thought typed. The turn must go on to its end, and the next spark must
follow it, take it over and show the thought. Then the same with tmux at the other end, where the same spark
must be found again. Prints a line for each cut, and the counts; exits with 1 on a fault.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from session.partner.demo import make_sample
from session.record.journal.reading import read_records
from tests.e2e.test_exec import FEATURE, partner
from tests.e2e.test_lost_screen import alive
from tests.e2e.tmux import Terminal, terminal, wait_for

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
THOUGHT = "half a thought"


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

    @contextmanager
    def in_tmux(self, folder: Path) -> Iterator[Terminal]:
        """spark in a tmux at the other end, the one that is there if there is one."""
        there = ["tmux", "-L", f"spark-far-{self.pids.parent.name}", "-f", "/dev/null"]
        begin = [*there, "new-session", "-A", "-s", "far", shlex.join(self.spark)]
        with terminal([*self.ssh, shlex.join(["env", "-u", "TMUX", *begin])], 100, 30, {}, folder) as pane:
            try:
                yield pane
            except BaseException:
                subprocess.run([*there, "kill-server"], capture_output=True, check=False)
                raise

    def end_tmux(self) -> None:
        """End the tmux at the other end, and spark with it."""
        server = ["tmux", "-L", f"spark-far-{self.pids.parent.name}", "kill-server"]
        subprocess.run(server, capture_output=True, check=False)

    def records(self) -> list[dict[str, object]]:
        """The events of the first session, as its journal has them."""
        journals = sorted(self.state.glob("spark/projects/*/sessions/*.jsonl"))
        return list(read_records(journals[0])) if journals else []

    def kinds(self) -> list[str]:
        """Their types."""
        return [str(record["type"]) for record in self.records()]

    def told(self) -> str:
        """What the session's notices say."""
        return "\n".join(str(each.get("text")) for each in self.records() if each["type"] == "notice")


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


def cut(pane: Terminal) -> None:
    """Kill the client where it stands, as a lost network does once the server notices."""
    client = int(pane.tmux("list-panes", "-F", "#{pane_pid}"))
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(client)], capture_output=True, text=True, check=True
    )
    for child in children.stdout.split():
        os.kill(int(child), 9)


@contextmanager
def far_machine(folder: Path, spark_path: Path, rate: str) -> Iterator[Remote]:
    """A machine with the sample project, whose state is in ``folder``."""
    root, pids, keys = folder / "sample", folder / "pids", folder / "keys"
    for each in (root, pids, keys):
        each.mkdir(mode=0o700)
    make_sample(root)
    with partner(spark_path, "--rate", rate) as url, sshd(keys) as ssh:
        folders = [f"XDG_{name}_HOME={folder / name.lower()}" for name in ("STATE", "CONFIG", "CACHE")]
        spark = ["env", "TERM=xterm-256color", *folders, str(spark_path), "-C", str(root)]
        spark += ["--base-url", url, "--model", "spark-practice"]
        yield Remote(ssh, spark, folder / "state", pids)


def cut_at(remote: Remote, folder: Path, number: int) -> str:
    """Cut the link once the turn has told ``number`` events, and let the next spark go on. Returns the type
    of the last of them, or nothing where the turn has fewer."""
    with remote.opened(folder) as (pane, process):
        _ask(pane)
        last = _reached(remote, number)
        if last:
            pane.type(THOUGHT)
            pane.until(THOUGHT)
            cut(pane)
            wait_for(lambda: "goes on without a screen" in remote.told() or not alive(process), "the cut")
            assert alive(process) or "turn.ended" in remote.kinds(), "the turn ended with the link"
    if last:
        with remote.opened(folder) as (pane, follower):
            wait_for(lambda: "turn.ended" in remote.kinds(), "the end of the turn", 120)
            wait_for(lambda: not alive(process), "the end of the first process")
            pane.until(THOUGHT)
            assert alive(follower)
        _check(remote)
    return last


def cut_in_tmux_at(remote: Remote, folder: Path, number: int) -> str:
    """The same with a tmux at the other end: spark is not told of the cut, and found as it was."""
    try:
        with remote.in_tmux(folder) as pane:
            _ask(pane)
            last = _reached(remote, number)
            if last:
                pane.type(THOUGHT)
                pane.until(THOUGHT)
                cut(pane)
        if last:
            with remote.in_tmux(folder) as pane:
                pane.until(THOUGHT)
                wait_for(lambda: "turn.ended" in remote.kinds(), "the end of the turn", 120)
                pane.until("ready")
            _check(remote)
    finally:
        remote.end_tmux()
    return last


def _ask(pane: Terminal) -> None:
    pane.until("ready")
    pane.type(FEATURE)
    pane.keys("Enter")


def _reached(remote: Remote, number: int) -> str:
    """Wait until the turn has told so many events; the type of that one, or nothing where it has fewer."""
    turn: list[str] = []

    def enough() -> bool:
        nonlocal turn
        kinds = remote.kinds()
        turn = kinds[kinds.index("prompt.submitted") :] if "prompt.submitted" in kinds else []
        if "turn.ended" in turn:
            turn = turn[: turn.index("turn.ended") + 1]
        return len(turn) >= number or turn[-1:] == ["turn.ended"]

    wait_for(enough, f"event {number}", 120)
    return turn[number - 1] if number <= len(turn) else ""


def _check(remote: Remote) -> None:
    """Nothing is lost."""
    kinds = remote.kinds()
    assert kinds.count("hunk.landed") == kinds.count("hunk.open") > 0, Counter(kinds)
    (ended,) = [record for record in remote.records() if record["type"] == "turn.ended"]
    assert ended["status"] == "completed", ended
    logs = [line for log in remote.state.rglob("errors.log") for line in log.read_text().splitlines()]
    # On a busy machine widgets are cut off while they end.
    faults = [line for line in logs if json.loads(line)["logger"] != "spark.closing"]
    assert not faults, faults


def main() -> int:
    """Cut at every event, in both ways, and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", default="120")
    parser.add_argument("--step", type=int, default=1, help="every so many events")
    given = parser.parse_args()
    spark_path = Path(sys.executable).with_name("spark")
    counts: Counter[str] = Counter()
    for way in (cut_at, cut_in_tmux_at):
        number = 1
        while True:
            with tempfile.TemporaryDirectory(prefix="spark-cut-", ignore_cleanup_errors=True) as name:
                folder = Path(name)
                with far_machine(folder, spark_path, given.rate) as remote:
                    try:
                        last = way(remote, folder, number)
                    except AssertionError as fault:
                        counts["faults"] += 1
                        last = f"fault: {fault}"
            if not last:
                break
            counts[way.__name__] += 1
            print(f"{way.__name__} {number}: {last}", flush=True)
            number += given.step
    print(", ".join(f"{count} {what}" for what, count in counts.items()), f"{counts['faults']} faults")
    return 1 if counts["faults"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
