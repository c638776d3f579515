"""Drafts and prompts that cannot be kept: what is said, where, and what it means."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import stage
from tui.chat.composer.history import KeptTexts


async def test_what_cannot_be_kept_is_told_with_what_it_means(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        told: list[tuple[str, str]] = []
        kept = KeptTexts(it.session.draft, it.session.prompts, lambda text, level: told.append((text, level)))
        kept.keep_draft("half a thought")
        kept.remember("!make")
        assert told == [] and it.session.prompts.read()[-1] == "!make"
        state = it.session.folders.state
        for name in ("draft.txt", "prompts.jsonl"):
            (state / name).unlink()
            (state / name).mkdir()
        kept.keep_draft("half a thought more")
        kept.remember("!make again")
        (draft, level), (prompt, _) = told
        assert level == "warning" and f"{state / 'draft.txt'}: Is a directory" in draft
        assert "until that is mended, what you type is lost when spark ends" in draft
        assert f"{state / 'prompts.jsonl'}: Is a directory" in prompt and "not after that" in prompt
        for name in ("draft.txt", "prompts.jsonl"):
            (state / name).rmdir()
