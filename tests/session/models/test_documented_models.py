"""What docs/models.md says of the default models is what the catalogue has; and who is steered."""

from __future__ import annotations

import re

import pytest

from session.models.catalogue import load_catalogue
from tests.checkout import ROOT


def test_the_documented_defaults_are_those_of_the_catalogue() -> None:
    catalogue = load_catalogue()
    text = (ROOT / "docs/models.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `([\w ]+)` \| (.*) \|$", text, re.MULTILINE)
    documented = {name: (variable, tuple(re.findall("`([^`]+)`", models))) for name, variable, models in rows}
    providers = {name: catalogue.provider(name) for name in catalogue.key_order}
    ways = {name: each.key_variable or f"spark login {name}" for name, each in providers.items()}
    assert documented == {name: (ways[name], each.coding) for name, each in providers.items()}
    assert list(documented) == list(catalogue.key_order)


@pytest.mark.parametrize(
    ("model", "provider", "steered"),
    [
        ("gpt-6-sol", "openai", True),
        ("gpt-6.2-astra", "openai", True),
        ("gpt-6-of-tomorrow", "openai", True),
        ("gpt-5.6-sol", "openai", False),
        ("gpt-5.3-codex-spark", "openai", False),
        ("gpt-6-sol", "azure", False),
        ("openai/gpt-6-sol", "vercel", False),
    ],
)
def test_only_the_family_that_takes_a_prompt_while_it_answers_is_steered(
    model: str, provider: str, steered: bool
) -> None:
    assert load_catalogue().model(model, provider).steer is steered
