"""The programs that the frame bench measures side by side, each with the partner as its server."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.bench.pty_spark import START, Pty, Stage

COLUMNS, ROWS = 160, 48
CODEX = """model = "spark-practice"
model_provider = "bench"
[model_providers.bench]
name = "bench"
base_url = "{url}"
wire_api = "responses"
env_key = "BENCH_KEY"
[projects."{project}"]
trust_level = "trusted"
"""
ANSWERS = {
    "\x1b[6n": "\x1b[1;1R",
    "\x1b[c": "\x1b[?62;c",
    "\x1b]10;?": "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    "\x1b]11;?": "\x1b]11;rgb:0000/0000/0000\x1b\\",
}
"""What a terminal answers to the questions that a program begins with."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program, and how it is started on a stage."""

    name: str
    start: Callable[[Stage], AbstractContextManager[Pty]]


class AnsweringPty(Pty):
    """A terminal that answers questions."""

    def read(self, seconds: float, most: int = 65536) -> bool:
        """Read what the program writes, and answer what it asks."""
        before = len(self.raw)
        wrote = super().read(seconds, most)
        for question, answer in ANSWERS.items():
            if question in self.raw[max(0, before - len(question)) :]:
                self.type(answer)
        return wrote


@contextlib.contextmanager
def _spark(at: Stage) -> Iterator[Pty]:
    with at.spark(START, columns=COLUMNS, rows=ROWS) as pane:
        pane.until("ready")
        yield pane


SPARK = Program("spark", _spark)


def codex(path: Path) -> Program:
    """The Codex CLI whose executable is at ``path``."""

    @contextlib.contextmanager
    def start(at: Stage) -> Iterator[Pty]:
        home = at.folder / "codex"
        home.mkdir()
        (home / "config.toml").write_text(CODEX.format(url=at.url, project=at.project), "utf-8")
        environ = {**at.environ, "CODEX_HOME": str(home), "BENCH_KEY": "bench"}
        pane = AnsweringPty([str(path)], at.project, environ, COLUMNS, ROWS)
        try:
            pane.until("Ask Codex")
            yield pane
        finally:
            pane.end()
            _end_below(home)

    return Program("Codex", start)


def _end_below(folder: Path) -> None:
    """End what a program left running: its daemons, whose executables it put below ``folder``."""
    for process in psutil.process_iter(["exe"]):
        if (process.info["exe"] or "").startswith(f"{folder}/"):
            with contextlib.suppress(psutil.Error):
                process.kill()


PEERS: dict[str, Callable[[Path], Program]] = {"codex": codex}
"""The programs that can be measured beside spark, by the name that ``--peer`` gives them."""
