"""Refactoring in place in the real app: the key, the sentence, the hunks, Esc."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.tui.stage import GREETER, Stage, stage

BLOCK = """greeter.py
```python
<<<<<<< SEARCH
    return "Bye " + name
=======
    return f"Bye {name}"
>>>>>>> REPLACE
```
"""


def script(said: str) -> str:
    return f"""
[[scenario]]
match = ["rewrite the selected"]
[[scenario.step]]
say = {json.dumps(said)}
"""


async def select(it: Stage, first: int, last: int) -> None:
    await it.until(lambda: it.session.context.snapshot.complete, "the reading of the project")
    assert await it.app.shown_file.open("greeter.py")
    await it.pilot.press("f2")
    it.app.editor.choose(((first - 1, 0), (last, 0)))


async def test_the_selected_lines_are_rewritten_and_undone(tmp_path: Path) -> None:
    async with stage(tmp_path, script=script(BLOCK)) as it:
        await select(it, 9, 11)
        await it.pilot.press("alt+o")
        await it.until(lambda: "Rewrite lines 9–11 of greeter.py" in it.screen, "the bar")
        for char in "use f-strings":
            it.key(char, char)
        it.key("enter", "\r")
        await it.until(lambda: 'f"Bye {name}"' in (it.root / "greeter.py").read_text(), "the landing")
        await it.until(lambda: 'return f"Bye {name}"' in it.app.editor.buffer.text, "it in the editor")
        assert it.app.editor.has_focus and "Rewrite lines" not in it.screen
        await it.until(lambda: not it.app.status.status.message, "its end told")
        sent = str(it.partner.requests[-1].body) if it.partner else ""
        assert "use f-strings" in sent and "Selected, lines 9-11" in sent
        await it.pilot.press("ctrl+z")
        await it.until(lambda: (it.root / "greeter.py").read_text() == GREETER, "the undo")


async def test_esc_gives_the_sentence_up(tmp_path: Path) -> None:
    async with stage(tmp_path, script=script(BLOCK)) as it:
        await select(it, 9, 11)
        await it.pilot.press("alt+o", "x", "escape")
        await it.until(lambda: "Rewrite lines" not in it.screen and it.app.editor.has_focus, "the editor")
        assert it.app.editor.buffer.text == GREETER
        await it.pilot.press("alt+o")
        await it.until(lambda: "Rewrite lines" in it.screen, "the bar again")


async def test_esc_stops_what_runs(tmp_path: Path) -> None:
    slow = BLOCK.replace(
        '    return f"Bye', "".join(f"    x{n} = {n}\n" for n in range(900)) + '    return f"Bye'
    )
    async with stage(tmp_path, script=script(slow), rate=300.0) as it:
        await select(it, 9, 11)
        await it.pilot.press("alt+o", "x", "enter")
        await it.until(lambda: re.search(r"x\d+ = \d+", it.screen), "the hunk as it is typed")
        await it.pilot.press("escape")
        await it.until(lambda: "was stopped: 0 hunks landed" in it.app.status.status.message, "the end")
        await it.until(
            lambda: "x1 = 1" not in it.app.screen_stack[0].query_one("#editor").render_line(9).text
        )
        assert (it.root / "greeter.py").read_text() == GREETER


async def test_unsaved_text_and_no_file_are_told(tmp_path: Path) -> None:
    async with stage(tmp_path, script=script(BLOCK)) as it:
        await select(it, 9, 11)
        it.app.editor.choose(((0, 0), (0, 0)))
        await it.pilot.press("x", "alt+o")
        await it.until(lambda: "unsaved text" in it.app.status.status.message, "why not")
        assert "Rewrite line" not in it.screen


async def test_the_sentence_may_be_typed_in_one_read_with_the_key(tmp_path: Path) -> None:
    async with stage(tmp_path, script=script(BLOCK)) as it:
        await select(it, 9, 11)
        it.key("alt+o")
        for char in "use f-strings":
            it.key(char, char)
        it.key("enter", "\r")
        await it.until(lambda: 'f"Bye {name}"' in (it.root / "greeter.py").read_text(), "the landing")
        assert not it.app.shown_file.dirty and "use f-strings" in str(
            it.partner and it.partner.requests[-1].body
        )
