"""The request of a second turn after a small edit holds the prompt and the change, and little else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from session.base.events import FilesChanged
from tests.session.talking import PLAIN, talking

LONG = "".join(
    f'class Shape{number}:\n    """A shape."""\n\n    def area(self) -> int:\n        return {number}\n\n\n'
    for number in range(400)
)


async def test_a_small_edit_costs_less_than_two_kilobytes_beyond_the_prompt(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "shapes.py").write_text(LONG)
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    async with talking(root, PLAIN) as talk:
        talk.session.context.looking_at(("shapes.py",))
        talk.session.submit("how is an area found in @shapes.py?")
        assert (await talk.ended("t1")).status == "completed"
        (root / "shapes.py").write_text(LONG.replace("return 200\n", "return 200 * 2\n"))
        await talk.until(FilesChanged, lambda event: "shapes.py" in event.paths)
        talk.session.submit("and now?")
        assert (await talk.ended("t2")).status == "completed"
        first, second = (len(json.dumps(sent).encode()) for sent in talk.requests())
        assert "return 200 * 2" in talk.sent()
    assert first > 40_000, "the file was not shown at first"
    assert second - len("and now?") < 2_000
