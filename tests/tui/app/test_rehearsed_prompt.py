"""A prompt is rehearsed while it is typed: what its window needs is in memory before Enter."""

from __future__ import annotations

from pathlib import Path

from session.turn.window_report import WindowReport
from tests.tui.stage import stage


async def test_the_draft_of_a_prompt_is_rehearsed_when_the_user_pauses(tmp_path: Path) -> None:
    built: list[WindowReport] = []
    async with stage(tmp_path) as it:
        context = it.session.context

        async def build(draft: str) -> None:
            built.append(await context.explain(draft))

        context._rehearsal._build = build
        it.app.composer.focus()
        it.app.composer.insert("why does greet not say the name?")
        await it.until(lambda: built, "the window of the draft")
        assert not built[0].problem and "greeter.py" in {part.path for part in built[0].parts}
        assert not it.session.past() and it.app.composer.draft == "why does greet not say the name?"
        it.app.composer.insert(" And part?")
        await it.until(lambda: len(built) > 1, "the window of the longer draft")
