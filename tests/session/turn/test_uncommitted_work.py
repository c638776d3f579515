"""The user's uncommitted work in the files that a turn edits, and beside them."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.tui.stage import GREETER, stage

MINE = GREETER.replace('"""Says hello."""', '"""Says hello. Not committed yet."""\n\nMINE = 1\n')


def git(root: Path, *arguments: str) -> str:
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *own, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


async def test_uncommitted_work_is_as_it_was_after_a_turn_and_its_undo(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "greeter.py").write_text(GREETER)
    (root / "staged.py").write_text("a = 1\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")
    (root / "staged.py").write_text("a = 2\n")
    git(root, "add", "staged.py")
    (root / "staged.py").write_text("a = 3\n")
    (root / "untracked.txt").write_text("mine\n")
    files = {"greeter.py": MINE}
    async with stage(tmp_path, files=files) as it:
        before = git(root, "status", "--porcelain"), git(root, "diff"), git(root, "diff", "--cached")
        await it.ask("make it polite")
        await it.done()
        text = (root / "greeter.py").read_text()
        assert "MINE = 1" in text and "dear" in text
        for hunk in ("h2", "h1"):
            await it.session.hunks.undo(hunk)
        assert (
            git(root, "status", "--porcelain"),
            git(root, "diff"),
            git(root, "diff", "--cached"),
        ) == before
    assert (root / "greeter.py").read_text() == MINE
    assert (root / "untracked.txt").read_text() == "mine\n"
    assert git(root, "stash", "list") == ""
    assert git(root, "log", "--oneline").count("\n") == 1
