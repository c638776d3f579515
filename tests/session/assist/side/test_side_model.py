"""Side requests let no model think that may not, and the middle is filled by the model made for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.assist.side_model import THINKING_ROOM, SideModel
from session.models.catalogue import load_catalogue
from session.setup.model_choice import ModelChoice
from session.tools.toolbox import Toolbox
from tests.session.setup.test_opening import opened


def side(tmp_path: Path, own_folders: Path, provider: str, model: str, config: str = "") -> SideModel:
    (own_folders / "config" / "spark").mkdir(parents=True, exist_ok=True)
    text = f'{config}\n[side]\nmodel = "{model}"\n' if model else config
    (own_folders / "config" / "spark" / "config.toml").write_text(text)
    variable = load_catalogue().provider(provider).key_variable
    opening = opened(tmp_path, own_folders, {variable: "sk-1"}, provider=provider)
    return SideModel(opening, "s1", ModelChoice(opening, "s1", Toolbox()))


@pytest.mark.parametrize(
    ("provider", "model", "effort", "extra", "silent"),
    [
        ("openai", "gpt-6-luna", "none", {}, True),
        ("openai", "gpt-6-astra", "low", {}, False),
        ("anthropic", "claude-haiku-5-5", None, {"thinking": {"type": "disabled"}}, True),
        ("anthropic", "claude-haiku-4-5", None, {}, True),
        ("anthropic", "claude-opus-5-5", "low", {}, False),
        ("deepseek", "deepseek-flash", None, {"thinking": {"type": "disabled"}}, True),
        ("inception", "mercury-3", "none", {}, True),
        ("google", "gemini-3.8-flash", "low", {}, False),
        ("sambanova", "MiniMax-M2.7", None, {}, True),
    ],
)
def test_a_model_that_need_not_think_does_not(
    tmp_path: Path,
    own_folders: Path,
    provider: str,
    model: str,
    effort: str | None,
    extra: dict[str, object],
    silent: bool,
) -> None:
    profile = side(tmp_path, own_folders, provider, model).profile("Say it.", name="suggest", most=200)
    assert (profile.model, profile.effort, profile.extra) == (model, effort, extra)
    assert profile.max_output_tokens == (200 if silent else 200 + THINKING_ROOM)


@pytest.mark.parametrize(
    ("provider", "model", "price"),
    [("mistral", "codestral-latest", 0.3), ("inception", "mercury-edit-2", 0.25), ("deepseek", None, 0.3)],
)
def test_a_provider_has_a_model_of_its_own_for_the_middle(
    tmp_path: Path, own_folders: Path, provider: str, model: str | None, price: float
) -> None:
    asked = side(tmp_path, own_folders, provider, "")
    assert asked.fim and asked.fim_model.name == (model or asked.model.name)
    told = asked.price_of(asked.fim_model.name)
    assert told is not None and told.input == price
    assert asked.price_of("another") is None
