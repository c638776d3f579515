"""The question about a project's own instructions: it waits in the bar, and nothing is used meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import TurnEnded
from session.wire.instructions import AGREED_HEAD
from tests.tui.stage import GREETER, Stage, stage

HIDDEN = "\U000e0049\U000e0067\U000e006e\u202e"
LONG = "".join(f"Rule {number}.\n" for number in range(40))
FILES = {"greeter.py": GREETER, "AGENTS.md": f"Be brief.{HIDDEN}\n{LONG}"}


def sent(it: Stage) -> str:
    assert it.partner is not None
    return str(it.partner.requests[-1].items)


async def asked(it: Stage) -> None:
    held = it.app.panes.held
    await it.until(lambda: held.question is not None and held.question.name == "trust", "the question")
    await it.pilot.pause()


async def talk(it: Stage) -> None:
    await it.ask("just talk")
    await it.done()


async def test_the_app_is_usable_while_the_question_waits_and_the_file_is_not_used(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await asked(it)
        assert it.app.composer.has_focus
        assert "AGENTS.md" in it.screen and "Be brief." not in it.screen, "the title alone stands there"
        await talk(it)
        assert "Be brief." not in sent(it)
        assert it.app.panes.held.display, "the question stays"


async def test_all_of_the_file_is_read_before_it_can_be_agreed_to(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await asked(it)
        await it.pilot.press("shift+tab")
        await it.pilot.pause()
        assert "⟨tag latin capital letter i⟩" in it.screen and "⟨right-to-left override⟩" in it.screen
        assert "read to the end" in it.screen and "MORE LINES BELOW" in it.screen
        held = it.app.panes.held
        for _ in range(3):
            await it.pilot.pause(0.5)
            await it.pilot.press("y")
        assert held.question is not None, "it has not been read yet"
        while "read to the end" in it.screen:
            await it.pilot.press("pagedown")
        await it.answer("y")
        await it.until(lambda: "AGENTS.md: used from now on" in it.chat, "the answer")
        await talk(it)
        assert AGREED_HEAD.splitlines()[0] in sent(it) and "Rule 39." in sent(it)
        assert HIDDEN not in sent(it) and "tag latin capital letter i" in sent(it)


@pytest.mark.parametrize(("key", "told"), [("n", "data only"), ("l", "/trust asks again")])
async def test_a_file_that_is_declined_or_put_off_is_not_used(tmp_path: Path, key: str, told: str) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await asked(it)
        await it.answer(key)
        await it.until(lambda: told in it.screen, "the answer")
        assert not it.app.panes.held.display and it.app.composer.has_focus
        await talk(it)
        assert "Be brief." not in sent(it)
        await it.pilot.press(*"/trust")
        it.key("enter", "\r")
        await asked(it)


async def test_keys_that_were_on_their_way_answer_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, files={**FILES, "AGENTS.md": "Be brief.\n"}) as it:
        await asked(it)
        await it.pilot.press("shift+tab", "y", "y", "n", "l")
        await it.pilot.pause()
        assert it.app.panes.held.question is not None
        assert it.session.trust.asked


async def test_typing_a_prompt_never_answers(tmp_path: Path) -> None:
    async with stage(tmp_path, files={**FILES, "AGENTS.md": "Be brief.\n"}) as it:
        await asked(it)
        await it.pilot.press(*"yes", "n", "l")
        assert it.app.composer.draft == "yesnl" and it.session.trust.asked
        assert not [event for event in it.session.past() if isinstance(event, TurnEnded)]
