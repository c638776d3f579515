"""The titles of the panes, at every width."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from tui.app.panes.titles import composer_title


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
