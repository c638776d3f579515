"""The titles of the panes, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from tui.app.panes.titles import Tab, composer_title, editor_title


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("width", range(20, 140, 3))
def test_no_half_hint_stands_in_a_title(width: int, running: bool) -> None:
    whole = composer_title("", 500, running=running).plain.strip().split(" · ")
    assert (
        composer_title("", width, running=running).plain.strip().split(" · ")
        == whole[: len(composer_title("", width, running=running).plain.split(" · "))]
    )


async def test_the_composers_title_follows_the_width(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(120, 30)) as it:
        await it.until(lambda: "Ctrl+J new line ─" in it.screen, "the whole title")
        await it.pilot.resize_terminal(40, 30)
        await it.until(lambda: "Enter sends · F1 keys ─" in it.screen, "what fits")
        await it.pilot.resize_terminal(120, 30)
        await it.until(lambda: "Ctrl+J new line ─" in it.screen, "the whole title again")


@pytest.mark.parametrize("shown", [0, 1])
def test_the_shown_tab_is_marked_whatever_has_the_focus(shown: int) -> None:
    tabs = [Tab(name, at == shown, False, True) for at, name in enumerate(("a.py", "b.py"))]
    title = editor_title(tabs, None, (0, 0), 80)
    styles = {title.plain[each.start : each.end].strip(): str(each.style) for each in title.spans}
    assert "underline" in styles.pop(tabs[shown].path)
    assert not any("underline" in style for style in styles.values())
