"""The dialogue on the screen: what was compacted unfolds, the ledger can be read, lines are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.base.events import DialogueCompacted, LedgerProposed, LineForgotten, LineRemembered
from tests.tui.stage import stage
from tui.front.words.window_lines import compaction_line, compaction_text, dialogue_line
from tui.line.event_printers import json_printer

MADE = DialogueCompacted(
    through="t3",
    turns=3,
    before=12_345,
    after=678,
    by="rules",
    kept=("3 messages of yours word for word",),
    dropped=("the words of 3 answers",),
    text="## The conversation so far, compacted (t1 to t3)\n- t1: esc \x1b[2J\n",
)


async def test_a_compaction_is_a_row_that_unfolds(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        it.app.composer.focus()
        it.app.composer.put("/compact")
        it.key("enter", "\r")
        await it.until(
            lambda: "a fresh window comes next" in it.screen, "the word that a ledger would not pay"
        )
        it.app.feed.take(MADE)
        await it.until(lambda: "▸ compacted 3 turns · 12,345 → 678 tokens" in it.chat, "the row")
        assert "dropped:" not in it.chat
        await it.pilot.press("alt+r")
        await it.until(lambda: "dropped: the words of 3 answers" in it.chat, "what was dropped")
        assert "## The conversation so far, compacted" in it.chat and "\x1b" not in it.chat


async def test_lines_are_kept_and_the_ledger_is_read(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:

        async def command(text: str, told: str) -> None:
            it.app.composer.focus()
            it.app.composer.put(text)
            it.key("enter", "\r")
            await it.until(lambda: told in it.chat or told in it.screen, told)

        await command("/compact", "there is nothing to compact yet")
        it.app.composer.put("")
        await command("/ledger", "Nothing was asked yet.")
        await command("/remember", "nothing is remembered")
        await command("/remember never touch the tests", "remembered 1: never touch the tests")
        await it.ask("just talk")
        await it.done()
        await command("/ledger", "Last instruction: t1, done")
        assert "1: never touch the tests" in it.chat.split("Last instruction")[-1]
        await command("/forget 2", "no line 2 is remembered; there are 1")
        it.app.composer.put("")
        await command("/forget 1", "forgotten 1: never touch the tests")
        await command("/forget all", "nothing is remembered")
        it.app.composer.put("")
        await command("/review never", "/review takes on|off")
        await command("/try", "/try needs [all] [N] PROMPT|take N")


def test_the_lines_hold_no_control_characters() -> None:
    assert compaction_line(MADE) == "compacted 3 turns · 12,345 → 678 tokens · by rules"
    assert "\x1b" not in compaction_text(MADE)
    assert "\x1b" not in dialogue_line(LineRemembered(1, "a\x1b[2Jb"))
    assert dialogue_line(LineForgotten(1, "a")) == "forgotten 1: a"
    told = dialogue_line(LedgerProposed("t1", "", (), (), (), 2, 1_200, 30))
    assert "2 of its lines not believed" in told and "1,200 + 30 tokens" in told


def test_json_tells_a_compaction(capsys: pytest.CaptureFixture[str]) -> None:
    json_printer(0.0)(MADE)
    record = json.loads(capsys.readouterr().out)
    assert (
        record["type"] == "dialogue.compacted" and record["before"] == 12_345 and record["text"] == MADE.text
    )
