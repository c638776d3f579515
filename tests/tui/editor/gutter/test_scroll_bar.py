"""The scroll bar of the editor, alone and in the real app."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.tui.stage import GREETER, stage
from tui.editor.drawing import bar_cells
from tui.editor.signs import signs


def test_without_anything_to_scroll_there_is_no_bar() -> None:
    assert bar_cells(0, 10, 10, [(1, 2, "added")]) == ()


@given(st.integers(1, 60), st.integers(1, 5000), st.data())
def test_the_thumb_stays_in_the_bar_and_every_sign_is_in_it(
    height: int, more: int, data: st.DataObject
) -> None:
    total = height + more
    top = data.draw(st.integers(0, total))
    start = data.draw(st.integers(0, total))
    end = data.draw(st.integers(start, total + 3))
    plain = bar_cells(top, total, height, [])
    assert len(plain) == height and any(glyph == "┃" for glyph, _ in plain)
    assert top > 0 or plain[0][0] == "┃"
    assert top < total - height or plain[-1][0] == "┃"
    marked = bar_cells(top, total, height, [(start, end, "changed"), (start, end, "held")])
    urgent = min((signs()["changed"], signs()["held"]), key=lambda sign: sign.rank)
    assert len(marked) == height and urgent.glyph in {glyph for glyph, _ in marked}


async def test_a_long_file_shows_where_hunks_landed(tmp_path: Path) -> None:
    files = {"greeter.py": GREETER + "".join(f"# line {number}\n" for number in range(300))}
    async with stage(tmp_path, files=files) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2", "ctrl+end")
        await it.pilot.pause()
        editor = it.app.editor
        cells = [editor.render_line(y).text[-1] for y in range(editor.size.height)]
        assert cells[0] == "~" and cells[-1] == "┃" and cells[2] == "│"
        assert "# line 299" in it.screen
        await it.pilot.press("ctrl+home")
        await it.pilot.pause()
        cells = [editor.render_line(y).text[-1] for y in range(editor.size.height)]
        assert cells[-1] == "│"
        await it.pilot.press("f4", "f9", "f9")
        await it.until(
            lambda: not [y for y in range(editor.size.height) if editor.render_line(y).text[-1] == "~"],
            "no hunk any more",
        )
