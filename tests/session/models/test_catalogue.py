from __future__ import annotations

import pytest

from session.models.catalogue import EFFORTS, CatalogueError, load_catalogue
from session.wire.instructions import load_instructions


def test_every_built_in_model_is_served_by_a_known_provider_and_has_instructions() -> None:
    catalogue = load_catalogue()
    assert "gpt-5.3-codex-spark" in catalogue.models
    for model in catalogue.models.values():
        assert catalogue.provider(model.provider).name == model.provider
        assert set(model.efforts) <= set(EFFORTS[:-1])
        assert model.checked or model.provider == "partner"
        assert model.price is None or 0 < model.price.cached <= model.price.input < model.price.output
        served = catalogue.provider(model.provider)
        assert model.fast_price is None or (model.price is not None and served.has_fast(model.name))
        assert 0 < model.budget < model.window
        assert load_instructions(model.edit_format).text


def test_keys_are_never_looked_up_for_the_practice_server() -> None:
    assert load_catalogue().provider("partner").key_variable == ""


@pytest.mark.parametrize(
    ("name", "edit_format", "budget"),
    [
        ("gpt-5.5-mini", "v4a", 272_000),
        ("codex-mini", "v4a", 272_000),
        ("gpt-6.3-terra", "v4a", 922_000),
        ("openai/gpt-6.3-terra", "v4a", 922_000),
        ("gpt-oss-20b", "search-replace", 112_000),
        ("Claude-Opus-9", "search-replace", 129_230),
        ("some-open-model", "search-replace", 112_000),
        ("", "search-replace", 112_000),
    ],
)
def test_an_unknown_model_gets_cautious_assumptions_by_its_family(
    name: str, edit_format: str, budget: int
) -> None:
    model = load_catalogue().model(name, "openai")
    assert (model.name, model.provider, model.edit_format) == (name, "openai", edit_format)
    assert model.budget == budget


def test_a_window_that_nobody_told_is_known_as_assumed() -> None:
    catalogue = load_catalogue({"models": {"mine": {"provider": "litellm", "window": 50_000}}})
    unknown = catalogue.model("some-open-model", "openai")
    assert unknown.window_assumed and unknown.limited(0, 4_000).window_assumed
    assert not unknown.limited(32_000, 0).window_assumed, "its server tells it"
    assert not catalogue.model("mine", "litellm").window_assumed
    assert not catalogue.model("gpt-5.6-luna", "openai").window_assumed


def test_models_of_the_newest_families_get_the_patch_tool() -> None:
    catalogue = load_catalogue()
    for name in ("gpt-6-astra", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-5.6-luna", "gpt-7"):
        assert catalogue.model(name, "openai").edit_format == "v4a"
    assert catalogue.model("gpt-6.2-sol", "vercel").edit_format == "v4a"


def test_tools_are_an_item_where_both_the_model_and_its_provider_take_that() -> None:
    catalogue = load_catalogue()
    assert catalogue.model("gpt-6.2-sol", "openai").tools_as_item, "its row says nothing, so its family does"
    assert catalogue.model("gpt-6.9", "openai").tools_as_item
    assert not catalogue.model("gpt-5.3-codex", "openai").tools_as_item
    assert not catalogue.model("gpt-6.2-sol", "litellm").tools_as_item


def test_a_row_of_the_users_own_begins_with_what_its_family_has() -> None:
    catalogue = load_catalogue({"models": {"deepseek-v9": {"provider": "litellm", "window": 50_000}}})
    model = catalogue.model("deepseek-v9", "litellm")
    assert (model.window, model.reasoning_field) == (50_000, "reasoning_content")
    assert model.efforts == ("low", "high")


def test_an_unknown_provider_is_refused_by_name() -> None:
    with pytest.raises(CatalogueError, match="unknown provider 'x'; known are alibaba, anthropic, azure, "):
        load_catalogue().provider("x")


def test_additions_do_not_stay_for_the_next_catalogue() -> None:
    load_catalogue({"models": {"mine": {"window": 50_000}}, "providers": {"p": {"base_url": "u"}}})
    assert "mine" not in load_catalogue().models
    assert "p" not in load_catalogue().providers


def test_every_provider_of_the_catalogue_can_be_asked() -> None:
    providers = load_catalogue().providers
    assert len(providers) == 26
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


def test_input_written_to_a_cache_has_a_price_of_its_own() -> None:
    price = load_catalogue().models["gpt-6.2-sol"].price
    assert price is not None
    assert price.cost(100_000, 20_000, 1_000, 50_000) == pytest.approx(
        0.03 * 2 + 0.02 * 0.1 + 0.05 * 2.5 + 0.001 * 10
    )
    assert price.cost(272_001, 0, 0, 272_001) == pytest.approx(0.272001 * 5)
    plain = (
        load_catalogue({"models": {"mine": {"price": {"input": 1.0, "output": 4.0}}}}).models["mine"].price
    )
    assert plain is not None and plain.cost(1000, 0, 0, 400) == pytest.approx(0.001), "as other input"


def test_the_faster_tier_and_long_requests_of_todays_models_have_prices() -> None:
    models = load_catalogue().models
    for name in ("gpt-6.2-sol", "gpt-5.6-luna"):
        price, fast = models[name].price, models[name].fast_price
        assert price is not None and fast is not None
        assert fast.cost(1000, 0, 1000) == pytest.approx(2 * price.cost(1000, 0, 1000))
        assert price.cost(300_000, 0, 0) == pytest.approx(2 * price.input * 0.3)
        assert price.cost(300_000, 0, 1_000_000) - price.cost(300_000, 0, 0) == pytest.approx(
            1.5 * price.output
        )


def test_headers_go_where_the_provider_asks_for_them() -> None:
    catalogue = load_catalogue()
    fast, effort = "fast-mode-2026-02-01", "mid-conversation-output-config-2026-07-01"
    anthropic = catalogue.providers["anthropic"]
    for name, is_fast, beta in (
        ("claude-opus-5", True, f"{effort},{fast}"),
        ("claude-opus-5-5", True, effort),
        ("claude-fable-5-2", True, effort),
        ("claude-opus-5", False, effort),
        ("claude-haiku-4-5", False, None),
    ):
        headers = anthropic.headers_for(catalogue.model(name, "anthropic"), "s", fast=is_fast)
        assert headers["anthropic-version"] == "2023-06-01"
        assert headers.get("anthropic-beta") == beta, name
    grok = catalogue.model("grok-4.7", "xai")
    assert catalogue.providers["xai"].headers_for(grok, "s1", fast=False) == {"x-grok-conv-id": "s1"}


def test_the_effort_is_an_item_where_the_maker_says_so_and_the_provider_takes_it() -> None:
    catalogue = load_catalogue()
    for name, provider, takes in (
        ("gpt-6.2-sol", "openai", True),
        ("gpt-6-astra", "chatgpt", True),
        ("gpt-6-astra-pro", "openai", False),
        ("gpt-5.6-luna", "openai", False),
        ("gpt-6.2-sol", "azure", False),
        ("claude-fable-5-1", "anthropic", True),
        ("claude-fable-5", "anthropic", False),
        ("claude-opus-4-8", "anthropic", False),
    ):
        assert catalogue.model(name, provider).effort_items is takes, (name, provider)


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
