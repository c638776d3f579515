"""Records the picture of a race from the real app: ``python3 -m tests.e2e.race_picture [FILE.svg]``.

Five answers to one prompt, three of them wrong, judged by a small project's own tests.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from session.base.storage.folders import project_folders
from session.checks.check import Check
from session.checks.known_checks import Agreements
from tests.bench.pty_spark import ROOT, START, Pty
from tests.e2e.picture import COLUMNS, ROWS, Recorder, save

SAMPLE = Path(__file__).with_name("race_sample")
PROMPT = "/try 5 make the tests of durations pass"
TITLE = "spark: five attempts race, the first that passes the tests lands, and another one is looked at"
CHECKS = (
    ("syntax", "syntax", "python -B -m py_compile durations.py"),
    ("tests", "tests", "python -B -m unittest -q check_durations"),
)


def places(folder: Path) -> dict[str, str]:
    """The folders of spark's own below ``folder``."""
    return {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}


def prepare(folder: Path) -> Path:
    """Make the project and the settings, and agree to the checks. Returns the project."""
    project = folder / "durations"
    project.mkdir()
    for name in ("durations.py", "check_durations.py"):
        shutil.copy(SAMPLE / f"{name}.txt", project / name)
    config = folder / "config" / "spark"
    config.mkdir(parents=True)
    tables = [
        f'[[checks]]\nname = "{name}"\nkind = "{kind}"\ncommand = "{command}"\nfiles = ["*.py"]\n'
        for name, kind, command in CHECKS
    ]
    (config / "config.toml").write_text("\n".join(tables))
    state = project_folders(project.resolve(), places(folder)).state
    Agreements(state).add([Check(name, command) for name, _, command in CHECKS])
    return project


ALT_X = "\x1b[120;3u"
"""As terminals with the kitty keyboard protocol send it: Esc and a letter in one read are two keys."""


def record(recorder: Recorder) -> int:
    """Play the story; returns the index of the frame that stands for all of it."""
    recorder.until(lambda text: "● ready" in text)
    recorder.caption = "five attempts at once"
    recorder.type(PROMPT)
    recorder.pause(0.6)
    recorder.press("\r", "each streams on a connection of its own, into files of its own")
    recorder.until(lambda text: "race of 5" in text)
    recorder.until(lambda text: "judging" in text, 60)
    recorder.caption = "checks judge them in sandboxes; the first that passes all lands"
    recorder.until(lambda text: "✓ won" in text, 120)
    recorder.until(lambda text: "● ready" in text)
    recorder.pause(2.5)
    still = len(recorder.frames) - 1
    recorder.press(ALT_X, "Alt+X: every attempt's verdict and diff; Enter takes another one")
    recorder.until(lambda text: "Attempts" in text and "@@" in text)
    recorder.pause(1.2)
    recorder.press("\x1b[A", recorder.caption)
    recorder.pause(1.5)
    recorder.press("\x1b", "")
    recorder.until(lambda text: "Attempts" not in text)
    recorder.pause(1.5)
    return still


def main() -> None:
    """Record, and write the SVG."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", nargs="?", type=Path, default=Path("docs/attempts.svg"))
    file: Path = options.parse_args().file
    with tempfile.TemporaryDirectory(prefix="picture-") as made:
        folder = Path(made).resolve()
        project = prepare(folder)
        command = [sys.executable, "-m", "session.partner", "60", str(SAMPLE / "partner.toml")]
        partner = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        assert partner.stdout is not None
        url = partner.stdout.readline().strip()
        environment = {
            **os.environ,
            **places(folder),
            "HOME": str(folder),
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
        }
        options_of_spark = ["--base-url", url, "--provider", "partner", "--model", "spark-practice"]
        start = [sys.executable, "-P", "-c", START, *options_of_spark]
        pane = Pty(start, project, environment, COLUMNS, ROWS)
        try:
            recorder = Recorder(pane)
            still = record(recorder)
        finally:
            pane.end()
            partner.terminate()
            partner.wait()
    save(recorder, still, TITLE, file)


if __name__ == "__main__":
    main()
