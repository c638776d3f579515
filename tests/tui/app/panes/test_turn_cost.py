"""What the next turn costs is told before Enter, and a turn over its limit is asked about in the composer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import stage
from tui.app.panes.titles import cost_told

PRICED = '[models."gpt-6-luna"]\nprice = { input = 100.0, cached = 10.0, output = 500.0 }\n'


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's config.toml."""
    for kind in ("CONFIG", "STATE", "CACHE"):
        monkeypatch.delenv(f"XDG_{kind}_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / ".config" / "spark"
    folder.mkdir(parents=True)
    return folder / "config.toml"


def test_a_cent_or_less_is_not_worth_a_word() -> None:
    assert cost_told(None) == cost_told(0.01) == ""
    assert cost_told(0.0149) == " ($0.01 at least)" and cost_told(1234.5) == " ($1,234.50 at least)"


async def test_the_composer_shows_what_the_draft_costs_at_least(tmp_path: Path, config: Path) -> None:
    config.write_text(PRICED)
    async with stage(tmp_path) as it:
        await it.until(lambda: it.session.context.snapshot.complete, "the project")
        assert "at least" not in it.screen
        await it.pilot.press(*"say something short")
        await it.until(lambda: "Enter sends ($0." in it.screen and "at least)" in it.screen, "the cost")
        it.key("enter", "\r")
        await it.done()
        assert "at least" not in it.screen


async def test_a_prompt_over_the_limit_comes_back_and_enter_sends_it_all_the_same(
    tmp_path: Path, config: Path
) -> None:
    config.write_text(f"[budget]\ndollars_per_turn = 0.01\n{PRICED}")
    async with stage(tmp_path) as it:
        it.app.composer.insert("just talk")
        it.key("enter", "\r")
        await it.until(lambda: "Enter sends it all the same" in " ".join(it.chat.split()), "the question")
        await it.until(lambda: it.app.composer.draft == "just talk", "the prompt in the composer")
        it.key("enter", "\r")
        await it.until(lambda: "The end of the talk" in it.chat, "the answer")
        await it.done()
