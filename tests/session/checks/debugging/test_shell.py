"""Commands of the user's in a real session: run, stopped, read and sent; and one at every change."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from session.base.events import (
    CommandEnded,
    CommandOutput,
    CommandStarted,
    FilesChanged,
    HunkLanded,
    PromptSubmitted,
    WatchTold,
)
from session.checks import shell_run, watching
from session.checks.shell import LONGEST_COMMAND, ShellError
from session.checks.shell_run import Ran
from session.checks.watching import QUIET, Watch
from tests.session.talking import COLOURS, PLAIN, REPAINT, Listening, talking

PYTHON = sys.executable
FAILING = "from colours import red\n\n\ndef test_red():\n    assert red() == 10\n"
CARGO = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME") or "RUSTUP" in name}
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {PYTHON} -m pytest -q -p no:cacheprovider"
JUDGE = """n=0 code=0 red=$(sed -n '2s/.*return //p' colours.py)
while read -r line; do
  n=$((n + 1)) wanted=${line##* }
  case $line in *"red() == "*) [ "$red" = "$wanted" ] && continue;; *) continue;; esac
  echo "test_colours.py:$n: assert $red == $wanted"
  code=1
done < test_colours.py
exit $code
"""
"""What pytest says of these tests, without a Python for each run."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    (folder / "test_colours.py").write_text(FAILING)
    return folder


async def ended(talk: Listening, command: str = "c1") -> CommandEnded:
    return await talk.until(CommandEnded, lambda event: event.command == command)


async def known(talk: Listening) -> None:
    """Wait until the project's files are known."""
    await talk.session._reading.ready.wait()


async def test_a_failing_test_run_is_read_and_sent_with_real_lines(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        await known(talk)
        talk.session.shell.run(PYTEST)
        end = await ended(talk)
        assert (end.status, end.places) == ("failed", ("test_colours.py:5: assert 1 == 10",))
        assert end.how.startswith("exit 1 · ")
        assert "E       assert 1 == 10" in end.tail
        prompt = talk.session.shell.request()
        assert "@test_colours.py:1-9" in prompt and "Find the cause and mend it" in prompt
        talk.session.submit(prompt)
        talk.session.shell.sent()
        await talk.ended("t1")
        assert "assert red() == 10" in talk.sent(), "the mentioned lines are in the request"
        assert talk.session.shell.request(failed=False) == "", "it is not offered twice"


async def test_output_is_told_live_and_without_control_sequences(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run(
            r"printf 'one\n\033[31mtwo\033[0m\n'; sleep 0.3; printf '\033]0;title\007three\n'"
        )
        await talk.until(CommandOutput, lambda event: "one" in event.text)
        assert not talk.all(CommandEnded), "the first lines came before the end"
        end = await ended(talk)
        assert (end.status, end.tail) == ("done", "one\ntwo\nthree")
        assert "\x1b" not in "".join(event.text for event in talk.all(CommandOutput))
        assert talk.session.shell.request() == "", "it did not fail"
        assert "three" in talk.session.shell.request(failed=False)


async def test_esc_ends_a_command_with_all_it_started(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("(setsid sleep 600 & echo $! > pid); echo going; sleep 600")
        await talk.until(CommandOutput, lambda event: "going" in event.text)
        assert talk.session.shell.running
        with pytest.raises(ShellError, match="a command still runs; Esc ends it"):
            talk.session.shell.run("true")
        talk.session.interrupt()
        end = await ended(talk)
        assert (end.status, end.tail) == ("stopped", "going"), "what it printed is still to be seen"
        assert talk.session.shell.request() == "", "it did not fail"
        request = talk.session.shell.request(failed=False)
        assert "I stopped it" in request and "going" in request
        pid = int((root / "pid").read_text())
        async with asyncio.timeout(10):
            while Path(f"/proc/{pid}").exists():
                await asyncio.sleep(0.02)
        talk.session.shell.run("echo again")
        assert (await ended(talk, "c2")).tail == "again"


async def test_a_stopped_command_shows_the_last_lines_of_much_output(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run(
            "seq 1 100000; echo sk-proj-0123456789abcdefghijABCDEFGHIJ; echo going; sleep 600"
        )
        await talk.until(CommandOutput, lambda event: "going" in event.text)
        talk.session.interrupt()
        lines = (await ended(talk)).tail.split("\n")
        assert lines[:-2] == [str(number) for number in range(99_964, 100_001)]
        assert "0123456789abcdefghij" not in lines[-2] and lines[-1] == "going"


async def test_what_comes_right_behind_a_shown_piece_is_shown_though_nothing_follows(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("echo first; sleep 0.05; echo last; sleep 600")
        await talk.until(CommandOutput, lambda event: "last" in event.text)
        assert talk.session.shell.running


STUBBORN = """import os, signal, subprocess, sys, time
for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(each, signal.SIG_IGN)
if len(sys.argv) < 2:
    subprocess.Popen([sys.executable, __file__, 'child'], start_new_session=True)
open(f'{os.getpid()}.pid', 'w').close()
while True:
    print('tick', flush=True)
    time.sleep(0.05)
"""


@pytest.mark.parametrize("presses", [1, 2])
async def test_a_command_that_ignores_signals_is_killed_with_its_tree_before_its_end_is_told(
    presses: int, root: Path
) -> None:
    """A second key does not make it an end that has not come."""
    (root / "stubborn.py").write_text(STUBBORN)
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run(f"{sys.executable} stubborn.py; echo went on")
        async with asyncio.timeout(10):
            while len(list(root.glob("*.pid"))) < 2:
                await asyncio.sleep(0.02)
        for _ in range(presses):
            talk.session.interrupt()
            await asyncio.sleep(0.1)
        assert not talk.all(CommandEnded), "it still runs"
        assert (await ended(talk)).status == "stopped"
        left = [file for file in root.glob("*.pid") if Path("/proc", file.stem).exists()]
        assert left == []


async def test_a_command_has_no_terminal_and_no_input(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("cat; echo nothing read; { read x < /dev/tty; } 2>&1 || echo no terminal")
        end = await ended(talk)
        assert "nothing read" in end.tail and "no terminal" in end.tail


async def test_the_end_of_the_session_ends_a_command(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("echo $$ > pid; echo going; sleep 600")
        await talk.until(CommandOutput, lambda event: "going" in event.text)
    assert talk.all(CommandEnded)[0].status == "stopped"
    with pytest.raises(ProcessLookupError):
        os.kill(int((root / "pid").read_text()), 0)


async def test_a_session_that_was_killed_shows_no_command_as_running(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("echo going; sleep 600")
        await talk.until(CommandOutput)
        (journal,) = (root.parent / "xdg").rglob("sessions/*.jsonl")
        assert "command.started" not in journal.read_text()
    assert "command.ended" in journal.read_text(), "one that ended is shown"


ENDS = (
    ("no-such-program-here --x", "exit 127", "not found"),
    ("kill -9 $$", "ended by signal 9", ""),
    ("exit 3", "exit 3", ""),
    ("cat", "exit 0", ""),
    ("test -t 0 || echo no terminal; exit 1", "exit 1", "no terminal"),
    ("printf '\\377\\376 bytes\\n'; false", "exit 1", "bytes"),
)


async def test_every_end_is_told_in_words(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        for number, (line, how, tail) in enumerate(ENDS, 1):
            talk.session.shell.run(line)
            end = await ended(talk, f"c{number}")
            assert end.how.startswith(how) and tail in end.tail, line


async def test_endless_output_is_cut(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_run, "MOST_OUTPUT", 3_000_000)
    monkeypatch.setattr(shell_run, "KEPT", 30_000)
    async with talking(root, PLAIN) as talk:
        talk.session.shell.run("yes a long line of nothing at all")
        end = await ended(talk)
        assert end.how.startswith("stopped: it printed more than 3 MB")
        assert len(end.tail) < 50_000


async def test_what_cannot_be_run_says_why(root: Path) -> None:
    refused = {
        "  ": "there is no command",
        "x" * (LONGEST_COMMAND + 1): "put it into a script",
        "echo \u202ex": "invisible character",
    }
    async with talking(root, PLAIN) as talk:
        for line, said in refused.items():
            for command in (talk.session.shell.run, talk.session.shell.watch):
                with pytest.raises(ShellError, match=said):
                    command(line)
        assert talk.all(CommandStarted) == []


async def test_keys_in_the_environment_are_not_given_to_commands(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        talk.session.shell._environ = {**talk.session.shell._environ}
        assert not any("KEY" in name or "TOKEN" in name for name in talk.session.shell._environ)
        talk.session.shell.run("echo key is sk-proj-abcdefghijklmnopqrstuvwx1234567890ABCD")
        assert "abcdefghijklmnop" not in (await ended(talk)).tail


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
async def test_a_node_test_names_its_lines(root: Path) -> None:
    (root / "list.test.js").write_text(
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "test('adds', () => {\n  assert.strictEqual(1 + 1, 3);\n});\n"
    )
    async with talking(root, PLAIN) as talk:
        await known(talk)
        talk.session.shell.run("node --test list.test.js")
        end = await ended(talk)
        assert end.status == "failed" and any(place.startswith("list.test.js:4") for place in end.places)


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
async def test_a_cargo_test_names_its_lines(root: Path) -> None:
    (root / "Cargo.toml").write_text('[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n')
    (root / "src").mkdir()
    (root / "src/lib.rs").write_text("#[test]\nfn adds() {\n    assert_eq!(1 + 1, 3);\n}\n")
    async with talking(root, PLAIN) as talk:
        await known(talk)
        talk.session.shell._environ = {**talk.session.shell._environ, **CARGO}
        talk.session.shell.run("cargo test --offline --quiet")
        end = await ended(talk)
        assert end.status == "failed" and any(place.startswith("src/lib.rs:3") for place in end.places)


# At every change.


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A burst of changes is over in a moment."""
    monkeypatch.setattr(watching, "QUIET", 0.03)


async def told(talk: Listening, count: int) -> WatchTold:
    async with asyncio.timeout(60):
        while len(talk.all(WatchTold)) < count:
            await talk.news()
    return talk.all(WatchTold)[count - 1]


async def test_a_watch_tells_only_what_changed(root: Path, soon: None) -> None:
    (root / "judge.sh").write_text(JUDGE)
    async with talking(root, REPAINT) as talk:
        await known(talk)
        talk.session.shell.watch("sh judge.sh")
        first = await told(talk, 1)
        assert (first.red, first.green, first.left) == (("test_colours.py: assert 1 == 10",), (), 1)
        # Another finding, while the first stays: lines that only moved are no news.
        (root / "test_colours.py").write_text(
            "# moved\n" + FAILING + "\n\ndef test_more():\n    assert red() == 7\n"
        )
        second = await told(talk, 2)
        assert (second.red, second.green, second.left) == (("test_colours.py: assert 1 == 7",), (), 2)
        # A hunk of spark's own counts.
        talk.session.submit("repaint")
        third = await told(talk, 3)
        assert "test_colours.py: assert 1 == 10" in third.green
        assert "@test_colours.py" in talk.session.shell.request(), "what is red is offered"
        assert talk.session.shell.unwatch() and not talk.session.shell.watched
        (root / "test_colours.py").write_text("")
        talk.session.shell.run("sleep 0.2")
        await ended(talk)
        assert len(talk.all(WatchTold)) == 3, "nothing is told any more"


async def test_a_watch_that_says_the_same_is_silent(root: Path, soon: None) -> None:
    async with talking(root, PLAIN) as talk:
        await known(talk)
        talk.session.shell.watch("echo run >> ../runs; echo broken at $(date +%N) >/dev/null; exit 2")
        first = await told(talk, 1)
        assert (first.red, first.left) == (("exit 2",), 1)
        (root / "colours.py").write_text("x = 1\n")
        async with asyncio.timeout(20):
            while (root.parent / "runs").read_text().count("run") < 2:
                await asyncio.sleep(0.05)
        talk.session.shell.run("sleep 0.1")
        await ended(talk)
        assert len(talk.all(WatchTold)) == 1
        assert talk.all(PromptSubmitted) == []


async def test_without_findings_a_watch_tells_the_line_that_says_why(root: Path) -> None:
    async with talking(root, PLAIN) as talk:
        await known(talk)
        talk.session.shell.watch("echo going; echo 'the build failed: full'; echo '  at somewhere'; exit 1")
        assert (await told(talk, 1)).red == ("the build failed: full",)


async def test_changes_during_a_run_lead_to_one_more_run(root: Path, soon: None) -> None:
    runs, go = 0, asyncio.Event()

    async def run() -> object:
        nonlocal runs
        runs += 1
        await go.wait()
        go.clear()
        return RAN

    RAN = Ran(0, 0.1, "")
    watch = Watch("x", root, run, None)  # type: ignore[arg-type]
    task = asyncio.create_task(watch.follow(lambda told, failure: None))
    await asyncio.sleep(0.01)
    for number in range(50):
        (root / "a.py").write_text(str(number))
        watch.take(FilesChanged(("a.py",)))
        watch.take(HunkLanded("t1", "h1", "a.py", "applied", 1, 1, 2))
    assert runs == 1
    go.set()
    async with asyncio.timeout(10):
        while runs < 2:
            await asyncio.sleep(0.02)
    go.set()
    watch.take(FilesChanged(("a.py",)))
    await asyncio.sleep(0.2)
    assert runs == 2, "the file is as it was at the last run"
    task.cancel()
    await asyncio.wait({task})


async def test_a_watched_command_that_writes_files_waits_longer_before_each_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock stands still: what it would wait is noted. Another one's change brings it back at once."""
    sleep, waited, own, number = asyncio.sleep, list[float](), [True], 0
    over = asyncio.Event()

    async def noted(seconds: float) -> None:
        waited.append(seconds)
        await sleep(0)

    async def run() -> Ran:
        nonlocal number
        number += 1
        if number == 12:
            own[0] = False
        if number == 14:
            over.set()
            await asyncio.Event().wait()
        stamp = root / ("stamp.txt" if own[0] else "app.py")
        stamp.write_text("x" * number)
        if not own[0]:
            os.utime(stamp, (number, number))
        watch.take(FilesChanged((stamp.name,)))
        return Ran(0, 0.1, "")

    watch = Watch("x", root, run, None)  # type: ignore[arg-type] # nothing fails, so nothing is read
    monkeypatch.setattr(asyncio, "sleep", noted)
    task = asyncio.create_task(watch.follow(lambda told, failure: None))
    async with asyncio.timeout(20):
        await over.wait()
    task.cancel()
    await asyncio.wait({task})
    longer = [wait for seconds in (2, 4, 8, 16, 32, 60, 60, 60, 60) for wait in (QUIET, seconds)]
    assert waited == [QUIET, QUIET, *longer, QUIET, QUIET]


def test_of_what_a_command_left_running_only_as_much_is_read_as_a_pipe_holds() -> None:
    with subprocess.Popen(["true"]) as running, Path("/dev/zero").open("rb", buffering=0) as endless:
        running.wait()
        pieces = list(islice(shell_run._pieces(running, endless.fileno()), 100))
    assert list(map(len, pieces)) == [65_536] * 16
