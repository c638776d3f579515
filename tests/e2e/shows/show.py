"""Uses spark in tmux on a clone of a public project, with that project's own tests as checks.

    python3 -m tests.e2e.shows.show NAME CLONE [SHOW …]

``NAME.toml`` beside this file says how the clone is prepared, and what is asked and broken in it;
``NAME.partner.toml`` holds the partner's answers. The clone must be clean, and is clean again afterwards. The
shows are ``race``, ``verify``, ``surgery`` and ``failing``, all of them by default; ``surgery`` takes out a
hunk of ``verify``. Each prints the screen that proves it, and the seconds it took.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from session.base.storage.folders import project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from tests.bench.pty_spark import ROOT, START
from tests.e2e.tmux import Terminal, terminal, wait_for

HERE = Path(__file__).parent
PATIENCE = 300.0
"""Seconds for the tests of a large project on a busy machine."""
COLUMNS, ROWS = 130, 40
SESSIONS = (("race",), ("verify", "surgery"), ("failing",))
"""The shows that take place in one session, on a clone that is clean at first."""
RATE = "15"
"""Tokens a second: slow enough that a check of a busy machine ends while an answer streams."""
QUESTION_SECONDS = 2.0
"""A key that was on its way when a question came is no answer to it."""
SHIFT_F10 = "S-F10"


class Show:
    """One project and the app on it. ``data`` is what its TOML file says."""

    def __init__(self, pane: Terminal, clone: Path, data: dict[str, Any]) -> None:
        self._pane = pane
        self._clone = clone
        self._data = data

    def race(self) -> str:
        """Five attempts at what is broken, three of them wrong: a right one lands."""
        told = self._data["race"]
        broken = broken_file(self._clone, told)
        self._send(told["prompt"])
        self._pane.until("race of 5", PATIENCE)
        screen = self._pane.until(lambda text: "✓ won" in text and idle(text), PATIENCE)
        _expect("✗ red" in screen, "a wrong one was judged", screen)
        _expect(self._text(told) != broken, "the winner landed", screen)
        return screen

    def verify(self) -> str:
        """A hunk turns red while the answer streams, goes back by itself, and is green after that round."""
        told = self._data["verify"]
        self._send("/check on")
        self._pane.until(lambda text: "judged" in text, PATIENCE)
        self._send(told["prompt"])
        red = self._pane.until(lambda text: told["red"] in text, PATIENCE)
        _expect(not idle(red), "it is red before the turn ends", red)
        self._pane.until("auto-fix 1 of 2", PATIENCE)
        screen = self._pane.until(lambda text: told["mended"] in text and idle(text), PATIENCE)
        return f"{red}\n{'─' * COLUMNS}\n{screen}"

    def surgery(self) -> str:
        """One hunk is dropped; those that depend on it are named, undone with it and asked for again."""
        told = self._data["surgery"]
        self._send(f"/drop {told['hunk']} it is not needed")
        asked = self._pane.until(f"Drop {told['hunk']} with", PATIENCE)
        time.sleep(QUESTION_SECONDS)
        self._pane.type("y")
        screen = self._pane.until(lambda text: told["again"] in text and idle(text), PATIENCE)
        return f"{asked}\n{'─' * COLUMNS}\n{screen}"

    def failing(self) -> str:
        """A test run that fails becomes a fix by two keys: Enter, which runs it, and Shift+F10."""
        told = self._data["failing"]
        broken = broken_file(self._clone, told)
        self._send(told["command"])
        self._pane.until(lambda text: told["fails"] in text and "Shift+F10" in text, PATIENCE)
        self._pane.keys(SHIFT_F10)
        wait_for(lambda: self._text(told) != broken, "the fix landed", PATIENCE)
        self._send(told["command"])
        return self._pane.until(lambda text: told["passes"] in text and idle(text), PATIENCE)

    def _send(self, text: str) -> None:
        self._pane.until(idle, PATIENCE)
        self._pane.type(text)
        self._pane.until(lambda screen: text[-12:] in screen)
        self._pane.keys("Enter")

    def _text(self, told: dict[str, str]) -> str:
        return (self._clone / told["path"]).read_text("utf-8")


def idle(screen: str) -> bool:
    """Whether no turn runs."""
    return re.search(r"● ready[^\n]*\s*\Z", screen) is not None


def broken_file(clone: Path, told: dict[str, str]) -> str:
    """Make what is right in a file wrong, as a person does, and return the file's text."""
    file = clone / told["path"]
    text = file.read_text("utf-8")
    if text.count(told["right"]) != 1:
        raise SystemExit(f"{told['path']}: {told['right'].strip()!r} is not there once")
    broken = text.replace(told["right"], told["wrong"])
    file.write_text(broken, "utf-8")
    return broken


def _expect(holds: bool, what: str, screen: str) -> None:
    if not holds:
        raise AssertionError(f"{what}:\n{screen}")


@contextmanager
def served(name: str, clone: Path, folder: Path) -> Iterator[tuple[list[str], dict[str, str]]]:
    """The command that starts the app for ``clone``, and its environment: spark's own folders are in
    ``folder``, the checks are agreed to, and the partner answers."""
    data = read(name)
    places = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("CONFIG", "STATE", "CACHE")}
    config = folder / "config" / "spark"
    config.mkdir(parents=True)
    tables = [_table(check) for check in data["checks"]]
    (config / "config.toml").write_text("\n".join(["auto_fix = 2", *tables]), "utf-8")
    checks = [Check(each["name"], each["command"]) for each in data["checks"]]
    Agreements(project_folders(clone, places).state).add(checks)
    script = HERE / f"{name}.partner.toml"
    partner = subprocess.Popen(
        [sys.executable, "-m", "session.partner", RATE, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert partner.stdout is not None
    url = partner.stdout.readline().strip()
    options = ["--base-url", url, "--provider", "partner", "--model", "spark-practice"]
    environment = {**places, "PYTHONPATH": str(ROOT), "COLORTERM": "truecolor"}
    try:
        yield [sys.executable, "-P", "-c", START, *options], environment
    finally:
        partner.terminate()
        partner.wait()


@contextmanager
def opened(name: str, clone: Path, folder: Path) -> Iterator[Show]:
    """The app in tmux on ``clone``."""
    with (
        served(name, clone, folder) as (command, environment),
        terminal(command, COLUMNS, ROWS, environment, clone) as pane,
    ):
        yield Show(pane, clone, read(name))
        pane.keys("C-q")
        pane.until("exit 0")


@contextmanager
def lent(clone: Path) -> Iterator[None]:
    """A clean clone, which is clean again afterwards."""
    git = ["git", "-C", str(clone)]
    if subprocess.run([*git, "status", "--short"], capture_output=True, text=True, check=True).stdout:
        sys.exit(f"{clone} has changes: give a clean clone")
    try:
        yield
    finally:
        subprocess.run([*git, "checkout", "--quiet", "."], check=True)


def read(name: str) -> dict[str, Any]:
    """What the TOML file of the project ``name`` says."""
    return tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))


def _table(check: dict[str, Any]) -> str:
    lines = [f"{key} = {value!r}" for key, value in check.items()]
    return "\n".join(["[[checks]]", *lines, ""])


def main() -> None:
    """Run the shows, and leave the clone as it was."""
    name, clone, *asked = sys.argv[1], Path(sys.argv[2]).resolve(), *sys.argv[3:]
    os.environ.pop("TMUX", None)
    for session in SESSIONS:
        shows = [each for each in session if each in asked or not asked]
        if shows:
            play(name, clone, shows)


def play(name: str, clone: Path, shows: list[str]) -> None:
    """Run shows in a session of their own."""
    with (
        tempfile.TemporaryDirectory(prefix="shows-", ignore_cleanup_errors=True) as made,
        lent(clone),
        opened(name, clone, Path(made).resolve()) as show,
    ):
        for each in shows:
            began = time.monotonic()
            one: Callable[[], str] = getattr(show, each)
            screen = one().rstrip()
            print(f"{screen}\n══ {name}: {each}, {time.monotonic() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
