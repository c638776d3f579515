"""A model that is withdrawn in the middle of a session: the prompt is kept, one key asks another model."""

from __future__ import annotations

from pathlib import Path

from session.partner.load_script import parse
from tests.tui.stage import Stage, stage
from tui.app.overlays.offer_screen import OfferScreen

NAMED, NEAR = "gpt-5.3-codex-spark", "gpt-6-luna"
BEFORE = f"""
models = ["other", "{NAMED}", "{NEAR}", "gpt-5.6-luna"]
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "Just words."
"""
AFTER = f'refuse_models = ["{NAMED}"]\n{BEFORE.replace(f", {chr(34)}{NAMED}{chr(34)}", "")}'


async def withdrawn(it: Stage) -> None:
    """Have a prompt answered; then the server withdraws the model, and another prompt fails."""
    await it.ask("first")
    await it.done()
    assert it.partner is not None and it.partner.requests[-1].model == NAMED
    it.partner.script = parse(AFTER)
    it.app.composer.insert("second")
    it.key("enter", "\r")
    await it.until(lambda: "does not offer" in it.chat, "the refusal")


def offered(it: Stage) -> bool:
    return isinstance(it.app.screen, OfferScreen) and f"❯ {NEAR}" in it.screen


async def test_enter_sends_the_prompt_to_the_nearest_model(tmp_path: Path) -> None:
    async with stage(tmp_path, script=BEFORE, model=NAMED) as it:
        await withdrawn(it)
        await it.until(lambda: offered(it), "the offer")
        assert f"cannot use {NAMED}" in it.screen and it.app.composer.draft == "second"
        listed = [it.screen.index(f"{name} ") for name in (NEAR, "gpt-5.6-luna", "other")]
        assert listed == sorted(listed)
        it.key("enter", "\r")
        await it.until(lambda: it.chat.count("Just words.") == 2, "the answer")
        assert it.partner is not None and it.partner.requests[-1].model == NEAR
        assert "second" in str(it.partner.requests[-1].items) and it.app.composer.draft == ""
        await it.done()


async def test_what_is_typed_instead_belongs_to_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path, script=BEFORE, model=NAMED) as it:
        await withdrawn(it)
        await it.until(lambda: offered(it), "the offer")
        await it.pilot.press("!", "?")
        await it.until(lambda: it.app.composer.draft == "second!?", "the draft")
        assert not isinstance(it.app.screen, OfferScreen) and it.session.models.model == NAMED


async def test_a_default_is_replaced_unasked_and_the_prompt_is_back(tmp_path: Path) -> None:
    async with stage(tmp_path, script=BEFORE) as it:
        await withdrawn(it)
        await it.until(lambda: f"{NEAR} answers" in it.chat, "the next model")
        assert it.app.composer.draft == "second"
        it.key("enter", "\r")
        await it.until(lambda: it.chat.count("Just words.") == 2, "the answer")
        assert it.partner is not None and it.partner.requests[-1].model == NEAR
        assert not isinstance(it.app.screen, OfferScreen)
        await it.done()


async def test_a_default_that_spark_cannot_replace_is_asked_about(tmp_path: Path) -> None:
    unknown = 'models = ["novel-embedding", "novel-model"]' + BEFORE.partition("]")[2]
    async with stage(tmp_path, script=unknown) as it:
        assert it.partner is not None
        it.partner.script = parse(f'refuse_models = ["{NEAR}"]\n{unknown}')
        it.app.composer.insert("first")
        it.key("enter", "\r")
        await it.until(lambda: isinstance(it.app.screen, OfferScreen) and "❯ novel" in it.screen, "the offer")
        it.key("down")
        it.key("enter", "\r")
        await it.until(lambda: "Just words." in it.chat, "the answer")
        assert it.partner.requests[-1].model == "novel-model"
        await it.done()
