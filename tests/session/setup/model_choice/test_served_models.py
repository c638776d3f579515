"""The choice of a model from the catalogue, from the server's list, and without either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from session.base.tasks import BackgroundTasks
from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.setup.config import Flags
from session.setup.model_choice import ChoiceError
from session.setup.opening import open_project
from session.setup.served_models import ServedModels
from tests.session.local_servers import LOCKED, OLLAMA, Pages, models, serving
from tests.session.talking import PLAIN, environment

NOWHERE = "http://127.0.0.1:9/v1"
ALIAS = {**OLLAMA, "/v1/models/qwen3-alias": (200, {"id": "qwen3:8b", "object": "model"})}


def served(folder: Path, url: str, provider: str, config: str = "") -> ServedModels:
    environ = environment(folder)
    file = Path(environ["XDG_CONFIG_HOME"]) / "spark" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(config)
    opening = open_project(folder, Flags(base_url=url, provider=provider, model="first"), environ)
    return ServedModels(opening, BackgroundTasks(print))


def own(url: str, provider: str = "ollama") -> str:
    """A configuration in which ``url`` is the provider's own address."""
    return f'[providers.{provider}]\nbase_url = "{url}"\n'


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("qwen3:8", "; did you mean qwen3:8b?"),
        ("LLAMA3.2", "; did you mean llama3.2?"),
        ("nosuch", "; it has qwen3:8b, llama3.2"),
    ],
)
async def test_a_model_that_the_server_lacks_is_refused_with_those_it_has(
    tmp_path: Path, name: str, meant: str
) -> None:
    async with serving(OLLAMA) as server:
        models_there = served(tmp_path, server.url, "ollama", own(server.url))
        with pytest.raises(ChoiceError) as caught:
            await models_there.find(name)
    assert str(caught.value) == f"127.0.0.1:{server.port} has no model {name}{meant}"


@pytest.mark.parametrize(
    ("pages", "name"),
    [(OLLAMA, "qwen3:8b"), (ALIAS, "qwen3-alias"), ({"/v1/models": models("mystery:latest")}, "mystery")],
    ids=["listed", "an alias", "without its tag"],
)
async def test_a_model_that_only_the_server_knows_is_used_and_the_assumptions_are_told(
    tmp_path: Path, pages: Pages, name: str
) -> None:
    async with serving(pages) as server:
        model, told = await served(tmp_path, server.url, "ollama", own(server.url)).find(name)
    assert (model.name, model.provider, model.edit_format) == (name, "ollama", "search-replace")
    assert told.split("\n") == [
        f"127.0.0.1:{server.port} has {name}; spark does not know it",
        "assumed of it: a window of 128,000 tokens, 16,000 of them for its answer; edits as search-replace; "
        f'efforts low, medium, high, xhigh; config.toml can say otherwise: [models."{name}"]',
    ]


@pytest.mark.parametrize("provider", ["ollama", "azure", "mine"])
async def test_an_unlisted_model_is_used_if_the_server_may_have_more_than_it_lists(
    tmp_path: Path, provider: str
) -> None:
    async with serving(OLLAMA) as server:
        config = own(server.url, "mine") if provider == "mine" else ""
        model, told = await served(tmp_path, server.url, provider, config).find("qwen3:8")
    assert model.name == "qwen3:8"
    assert told.startswith(
        f"127.0.0.1:{server.port} does not list qwen3:8, and may refuse it; did you mean qwen3:8b?\nassumed"
    )


@pytest.mark.parametrize("pages", [LOCKED, {}, {"/v1/models": models()}], ids=["locked", "none", "empty"])
async def test_any_model_is_used_if_the_server_gives_no_list_and_the_reason_is_told(
    tmp_path: Path, pages: Pages
) -> None:
    async with serving(pages) as server:
        model, told = await served(tmp_path, server.url, "ollama", own(server.url)).find("nosuch")
    assert model.name == "nosuch"
    assert "nosuch is unknown to spark, and it cannot be told whether the server has it: 127.0.0.1" in told


async def test_a_model_of_the_catalogue_needs_no_question_to_the_server(tmp_path: Path) -> None:
    config = '[models.mine]\nprovider = "groq"\nefforts = []\n'
    there = served(tmp_path, NOWHERE, "groq", config)
    assert (await there.find("mine"))[1] == ""
    model, told = await there.find("openai/gpt-oss-120b")
    assert (model.window, told) == (131_072, "")
    with pytest.raises(ChoiceError, match="spark-practice is served by partner; start spark again with"):
        await there.find("spark-practice")
    _, told = await there.find("nosuch")
    assert "Nothing listens at 127.0.0.1:9" in told


async def test_another_providers_model_is_taken_where_this_server_lists_it(tmp_path: Path) -> None:
    async with serving({"/v1/models": models("grok-4.7")}) as server:
        model, told = await served(tmp_path, server.url, "litellm").find("grok-4.7")
    assert (model.provider, model.window, model.price, told) == ("litellm", 500_000, None, "")


async def test_the_partner_says_which_models_it_has(tmp_path: Path) -> None:
    async with Partner(scripts=parse(PLAIN), key="sk-1") as partner:
        there = served(tmp_path, partner.url, "partner")
        _, told = await there.find("nosuch")
        assert "wants an API key" in told
    async with Partner(scripts=parse(PLAIN)) as partner:
        there = served(tmp_path / "again", partner.url, "partner")
        with pytest.raises(ChoiceError, match=r"has no model nosuch; it has spark-practice, spark-practice-"):
            await there.find("nosuch")
        with pytest.raises(ChoiceError, match=r"did you mean spark-practice-text or spark-practice\?"):
            await there.find("spark-practice-txt")


async def test_the_names_to_choose_from_are_the_servers_once_it_gave_them(tmp_path: Path) -> None:
    async with serving({"/v1/models": models("b", "a", "e\u202evil")}) as server:
        there = served(tmp_path, server.url, "groq")
        assert there.names()[0] == "openai/gpt-oss-120b", "until then the catalogue's"
        with pytest.raises(ChoiceError, match="served by"):
            await there.find("grok-4.7")
        assert there.names() == ("b", "a"), "none that could not be shown as it is"
        await there.close()


@pytest.mark.parametrize(
    ("row", "window", "reserve"),
    [
        ({"context_window": 131_072, "max_completion_tokens": 8_192}, 131_072, 8_192),
        ({"context_length": 40_960, "top_provider": {"max_completion_tokens": 65_000}}, 40_960, 16_000),
        ({"max_model_len": 8_192}, 8_192, 4_096),
        ({"max_input_tokens": 1_000_000, "max_tokens": 128_000}, 1_000_000, 16_000),
        ({"context_window": "many", "max_model_len": -1, "max_tokens": True}, 128_000, 16_000),
        ({"context_window": 10**12}, 128_000, 16_000),
        ({"context_window": 1, "max_tokens": 1}, 128_000, 16_000),
    ],
)
async def test_the_limits_that_the_server_lists_are_used(
    tmp_path: Path, row: dict[str, Any], window: int, reserve: int
) -> None:
    async with serving({"/v1/models": models("new-model", **row)}) as server:
        model, told = await served(tmp_path, server.url, "ollama", own(server.url)).find("new-model")
    assert (model.window, model.output_reserve) == (window, reserve)
    assert f"a window of {window:,} tokens, {reserve:,} of them" in told


async def test_a_model_that_the_server_calls_retired_is_not_offered(tmp_path: Path) -> None:
    rows = [{"id": "old", "lifecycle": "retired"}, {"id": "gone", "active": False}, {"id": "new"}]
    async with serving({"/v1/models": (200, {"data": rows})}) as server:
        served_models = served(tmp_path, server.url, "ollama", own(server.url))
        await served_models.find("new")
        assert served_models.names() == ("new",)
        with pytest.raises(ChoiceError, match="has no model old; it has new"):
            await served_models.find("old")
