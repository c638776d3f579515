"""A small replay of real editing: a commit typed key by key into the real app."""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import pytest

from tests.bench.typing_replay import cached, replay
from tui.editor.editor import EditorPane

LINE = "    total = total + self.price_of(item, currency)\n"
BEFORE = "class Basket:\n" + "".join(f"\n    def sum_{n}(self, item):\n    {LINE}" for n in range(30))
AFTER = (
    BEFORE.replace("sum_7(self, item)", "sum_seven(self, item)") + f"\n    def more(self, item):\n    {LINE}"
)


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(folder), *who, *arguments], check=True, capture_output=True)


async def test_no_stale_suggestion_is_drawn_and_most_of_what_is_sent_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("render_line", "suggest"):  # the replay watches them
        monkeypatch.setattr(EditorPane, name, getattr(EditorPane, name))
    git(tmp_path, "init", "-q")
    for number, text in enumerate((BEFORE, AFTER)):
        (tmp_path / "basket.py").write_text(text)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", f"Change {number}")
    figures = await replay(
        tmp_path, argparse.Namespace(files=1, keys=500, pace=0.0, rate=10_000.0, off=False)
    )
    assert figures.keys > len("    def sum_all(self):") and figures.requests
    assert figures.shown and figures.drawn and not figures.stale
    total, held = cached(figures.requests)
    assert 0 < held < total
