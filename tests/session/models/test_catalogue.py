from __future__ import annotations

import pytest

from session.instructions import load_instructions
from session.models.catalogue import EFFORTS, CatalogueError, load_catalogue


def test_every_built_in_model_is_served_by_a_known_provider_and_has_instructions() -> None:
    catalogue = load_catalogue()
    assert "gpt-5.3-codex-spark" in catalogue.models
    for model in catalogue.models.values():
        assert catalogue.provider(model.provider).name == model.provider
        assert set(model.efforts) <= {*EFFORTS[:-1], "max"}
        assert model.checked or model.provider == "partner"
        assert model.price is None or 0 < model.price.cached <= model.price.input < model.price.output
        served = catalogue.provider(model.provider)
        assert model.fast_price is None or (model.price is not None and served.has_fast(model.name))
        assert 0 < model.budget < model.window
        assert load_instructions(model.edit_format).text


def test_keys_are_never_looked_up_for_the_practice_server() -> None:
    assert load_catalogue().provider("partner").key_variable == ""


@pytest.mark.parametrize(
    ("name", "edit_format"),
    [
        ("gpt-5.9", "v4a"),
        ("codex-mini", "v4a"),
        ("some-open-model", "search-replace"),
        ("", "search-replace"),
    ],
)
def test_an_unknown_model_gets_cautious_assumptions_by_its_family(name: str, edit_format: str) -> None:
    model = load_catalogue().model(name, "openai")
    assert (model.name, model.provider, model.edit_format) == (name, "openai", edit_format)
    assert model.budget == 112_000


def test_an_unknown_provider_is_refused_by_name() -> None:
    with pytest.raises(CatalogueError, match="unknown provider 'x'; known are anthropic, azure, "):
        load_catalogue().provider("x")


def test_additions_do_not_stay_for_the_next_catalogue() -> None:
    load_catalogue({"models": {"mine": {"window": 50_000}}, "providers": {"p": {"base_url": "u"}}})
    assert "mine" not in load_catalogue().models
    assert "p" not in load_catalogue().providers


def test_every_provider_of_the_catalogue_can_be_asked() -> None:
    providers = load_catalogue().providers
    assert len(providers) == 16
    for provider in providers.values():
        assert provider.service.routes
        assert provider.base_url.startswith(("https://", "http://localhost:")) or not provider.base_url
        assert not provider.service.spare or "localhost" not in provider.base_url
    ways = {name: str(provider.service.routes[0]) for name, provider in providers.items()}
    assert ways["openai"] == ways["azure"] == ways["xai"] == ways["vercel"] == "Responses over WebSocket"
    assert ways["cerebras"] == ways["ollama"] == "Chat Completions over HTTP"
    assert ways["anthropic"] == "Messages over HTTP"


def test_a_provider_without_freeform_tools_is_sent_no_patch_tool() -> None:
    catalogue = load_catalogue()
    assert catalogue.model("gpt-5.3-codex-spark", "openai").edit_format == "v4a"
    for provider in ("openrouter", "cerebras", "anthropic"):
        assert catalogue.model("gpt-5.3-codex-spark", provider).edit_format == "search-replace"


def test_an_unknown_model_gets_what_its_family_takes() -> None:
    catalogue = load_catalogue()
    assert catalogue.model("claude-opus-9", "anthropic").thinking == "adaptive"
    assert catalogue.model("claude-haiku-4-5", "anthropic").thinking == "budget", "its row says otherwise"
    assert catalogue.model("gpt-5.9", "openai").edit_format == "v4a"
    assert catalogue.model("unheard-of", "openai").edit_format == "search-replace"


def test_a_server_of_the_users_own_is_asked_every_way_in_turn() -> None:
    catalogue = load_catalogue({"providers": {"mine": {"base_url": "http://localhost:1/v1"}}})
    ways = [str(route) for route in catalogue.provider("mine").service.routes]
    assert ways == ["Responses over WebSocket", "Responses over HTTP", "Chat Completions over HTTP"]
    chat = load_catalogue({"providers": {"mine": {"base_url": "u", "dialects": ["chat"]}}})
    assert [str(route) for route in chat.provider("mine").service.routes] == ["Chat Completions over HTTP"]


def test_a_long_request_has_a_price_of_its_own() -> None:
    row = {"price": {"input": 1.0, "output": 4.0, "long": {"over": 1000, "input": 2.0, "output": 6.0}}}
    price = load_catalogue({"models": {"mine": row}}).models["mine"].price
    assert price is not None
    assert price.cost(1000, 500, 1000) == pytest.approx(0.005)
    assert price.cost(1001, 500, 1000) == pytest.approx(0.008002)


def test_prices_of_another_provider_say_nothing() -> None:
    catalogue = load_catalogue()
    assert catalogue.model("gpt-5.3-codex", "openai").price is not None
    assert catalogue.model("gpt-5.3-codex", "litellm").price is None


@pytest.mark.parametrize(
    ("provider", "model", "has"),
    [
        ("openai", "anything", True),
        ("anthropic", "claude-opus-5-5", True),
        ("anthropic", "claude-sonnet-5-5", False),
        ("vercel", "openai/gpt-5.3-codex", True),
        ("vercel", "anthropic/claude", False),
        ("ollama", "anything", False),
    ],
)
def test_the_faster_tier_is_for_some_models(provider: str, model: str, has: bool) -> None:
    assert load_catalogue().provider(provider).has_fast(model) is has
