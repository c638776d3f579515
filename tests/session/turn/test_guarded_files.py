"""Guards and path suggestions of a turn, on a real session and a real project."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from session.base.events import HunkHeld, HunkLanded, HunkRefused, HunkUndone
from session.commands.apply import apply_stream
from session.project.workspace import open_workspace
from tests.session.talking import talking

ANSWER = '''
models = ["spark-practice"]
[[scenario]]
match = ["go"]

[[scenario.step]]
say = """
{patch}
"""
'''
REWRITE = """\
*** Begin Patch
*** Add File: a.py
+one = 10
+two = 20
*** End Patch"""


def update(path: str) -> str:
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n-one = 1\n+one = 10\n*** End Patch"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository that ignores a folder and has a file of secrets."""
    folder = tmp_path / "project"
    (folder / "generated").mkdir(parents=True)
    (folder / "src").mkdir()
    for name in ("a.py", "src/app.py", "generated/config.py", "private.pem"):
        (folder / name).write_text("one = 1\n")
    (folder / ".gitignore").write_text("generated/\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


async def test_a_new_file_over_an_existing_one_waits_for_the_user_and_is_undone(root: Path) -> None:
    async with talking(root, ANSWER.format(patch=REWRITE)) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert (held.path, held.guard) == ("a.py", "overwrites")
        assert talk.text("a.py") == "one = 1\n"
        assert talk.session.answer(held.hunk, land=True)
        assert (await talk.ended("t1")).status == "completed"
        assert talk.text("a.py") == "one = 10\ntwo = 20\n"
        assert isinstance(await talk.session.hunks.undo(), HunkUndone)
        assert talk.text("a.py") == "one = 1\n"
    assert [event.path for event in talk.all(HunkLanded)] == ["a.py"]


async def test_a_new_file_over_an_existing_one_is_refused_where_nobody_can_be_asked(root: Path) -> None:
    async with talking(root, ANSWER.format(patch=REWRITE), attended=False) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
    assert {event.code for event in talk.all(HunkRefused)} == {"exists"}
    assert talk.text("a.py") == "one = 1\n"


async def test_a_lock_holds_an_edit_through_a_link(root: Path) -> None:
    (root / "link.py").symlink_to("src/app.py")
    async with talking(root, ANSWER.format(patch=update("link.py")), attended=False) as talk:
        await talk.session.locks.lock("src/*.py")
        talk.session.submit("go")
        await talk.ended("t1")
    assert {event.code for event in talk.all(HunkRefused)} == {"locked"}
    assert talk.text("src/app.py") == "one = 1\n"


RUNS = "*** Begin Patch\n*** Add File: .vscode/tasks.json\n+{}\n*** End Patch"


async def test_a_file_that_runs_by_itself_waits_for_the_user(root: Path) -> None:
    async with talking(root, ANSWER.format(patch=RUNS)) as talk:
        talk.session.submit("go")
        held = await talk.until(HunkHeld)
        assert (held.path, held.guard) == (".vscode/tasks.json", "runs")
        assert "runs by itself" in held.message
        assert not (root / ".vscode").exists()
        assert talk.session.answer(held.hunk, land=True)
        assert (await talk.ended("t1")).status == "completed"
        assert talk.text(".vscode/tasks.json") == "{}\n"


async def test_a_file_that_runs_by_itself_is_refused_where_nobody_can_be_asked(root: Path) -> None:
    async with talking(root, ANSWER.format(patch=RUNS), attended=False) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
    refused = talk.all(HunkRefused)
    assert {event.code for event in refused} == {"locked"}
    assert "runs by itself" in refused[0].message
    assert not (root / ".vscode").exists()


async def test_sparks_own_files_and_start_up_files_are_refused_in_the_home_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = ["config/spark/config.toml", "state/spark/projects/x/locks.json", "cache/spark/x", ".bashrc"]
    home = tmp_path / "xdg"  # the parent of the session's own folders
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    files = "".join(f"*** Add File: {path}\n+x = 1\n" for path in paths)
    patch = f"*** Begin Patch\n{files}*** End Patch"
    async with talking(home, ANSWER.format(patch=patch)) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
    refused = talk.all(HunkRefused)
    assert {event.code for event in refused} == {"outside_project"}
    assert {event.path for event in refused} == set(paths)
    assert not talk.all(HunkHeld) and not any((home / path).exists() for path in paths)


NAMED = {"lib/app.py": "src/app.py", "lib/config.py": None, "lib/private.pem": None}
"""Wrong paths, and the right one that may be told for each."""


async def test_a_wrong_path_never_names_an_ignored_or_secret_file(root: Path) -> None:
    patches = "\n".join(map(update, NAMED))
    async with talking(root, ANSWER.format(patch=patches), attended=False) as talk:
        await talk.session._reading.ready.wait()
        talk.session.submit("go")
        await talk.ended("t1")
    applied = apply_stream(open_workspace(root), io.BytesIO(patches.encode()), "auto")
    for events in (talk.events, list(applied)):
        refused = [event for event in events if isinstance(event, HunkRefused)]
        assert {event.path for event in refused} == set(NAMED)
        for event in refused:
            named = NAMED[event.path]
            assert f"{event.path} does not exist" in event.message
            assert ("did you mean" in event.message) == (named is not None)
            assert named is None or f"did you mean {named}?" in event.message
