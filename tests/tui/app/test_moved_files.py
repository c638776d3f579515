"""A file that a hunk moves: the open text follows it there, and back when the hunk is undone."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import RunSpark
from tests.tui.stage import GREETER, stage

_MOVE = '''
[[scenario]]
id = "move"
match = ["move"]

[[scenario.step]]
patch = """
*** Begin Patch
*** Update File: greeter.py
*** Move to: sub/hello.py
@@
-    """A greeting."""
+    """A welcome."""
*** End Patch
"""
'''.replace('"""A', "'''A").replace('."""', ".'''")


async def test_unsaved_text_goes_with_a_file_whose_move_is_undone_and_redone(tmp_path: Path) -> None:
    files = {"greeter.py": GREETER.replace('"""', "'''")}
    async with stage(tmp_path, script=_MOVE, files=files) as it:
        old, new = it.root / "greeter.py", it.root / "sub/hello.py"
        await it.ask("move it")
        await it.done()
        await it.until(lambda: it.app.shown_file.path == "sub/hello.py", "the moved file")
        await it.pilot.press("f2", "ctrl+end", "m", "i", "n", "e")
        await it.pilot.press("f9")
        await it.until(lambda: it.app.shown_file.path == "greeter.py", "the file where it was")
        assert old.exists() and not new.exists()
        assert it.app.editor.buffer.text.endswith("mine") and "A greeting." in it.app.editor.buffer.text
        assert "h1 undone: greeter.py" in it.app.status.status.message
        await it.pilot.press("f10")
        await it.until(lambda: it.app.shown_file.path == "sub/hello.py", "the file where it goes")
        assert it.app.editor.buffer.text.endswith("mine") and "A welcome." in it.app.editor.buffer.text
        assert "h1 redone: sub/hello.py" in it.app.status.status.message
        await it.pilot.press("ctrl+s")
        await it.until(lambda: not it.app.shown_file.dirty, "the saved text")
        assert new.read_text().endswith("mine") and not old.exists()


async def test_a_hunk_whose_file_is_gone_already_brings_no_complaint(tmp_path: Path) -> None:
    """A deletion may be on disk before its file could be shown; a hunk that cannot land says so itself."""
    async with stage(tmp_path) as it:
        assert not await it.app.shown_file.bring("gone.py")
        assert it.app.status.status.message == ""


def test_the_commands_name_the_file_where_it_is_now(run_spark: RunSpark, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    patch = "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-one\n+two\n*** End Patch\n"
    assert run_spark("apply", cwd=tmp_path, given=patch).code == 0
    assert run_spark("undo", cwd=tmp_path).out == "h1 undone a.txt:1\n"
    assert run_spark("redo", cwd=tmp_path).out == "h1 redone b.txt:1\n"
