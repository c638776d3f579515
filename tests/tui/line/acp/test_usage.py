"""What ``spark acp`` tells an editor of how full the window is."""

from __future__ import annotations

from pathlib import Path

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.talking import COLOURS, REPAINT
from tests.tui.line.acp.editor import Editor, agent, text

READ = '[[scenario.step]]\ncall = [{ tool = "read", arguments = { path = "colours.py" } }]\n\n'


async def test_rounds_of_a_turn_do_not_fill_the_window_again(quick_spark: Path, tmp_path: Path) -> None:
    (root := tmp_path / "project").mkdir()
    (root / "colours.py").write_text(COLOURS)
    blue = '[[scenario.step]]\npatch = ["blue"]'
    used: list[int] = []
    for script in (REPAINT, REPAINT.replace(blue, READ * 3 + blue)):
        editor = Editor()
        async with Partner(rate=float("inf"), scripts=parse(script)) as partner:
            choice = ["--base-url", partner.url, "--model", "spark-practice", "--provider", "partner"]
            async with agent(quick_spark, editor, *choice) as (client, _):
                session = await client.new_session(cwd=str(root))
                await client.prompt(session_id=session.session_id, prompt=text("repaint"))
        (root / "colours.py").write_text(COLOURS)
        used.append(editor.all("usage_update")[-1].used)
    assert used[0] <= used[1] < 1.5 * used[0]
