from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import pytest

from session.models.catalogue import Catalogue, load_catalogue
from session.models.discovery import LocalServer, find_servers
from session.setup.model_offers import Offer, OfferKind, hint, offers
from tests.session.local_servers import (
    LLAMA_CPP,
    LM_STUDIO,
    LOCKED,
    OLLAMA,
    OTHER,
    VLLM,
    WEB_SITE,
    Pages,
    Serving,
    serving,
)

PATIENCE = 20.0
"""Seconds for a server of the tests: a busy machine is slower than the limit of everyday."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def catalogue(**urls: str) -> Catalogue:
    """The catalogue with every loopback address on a port where nobody listens, but for ``urls``."""
    local = ("ollama", "llamacpp", "lmstudio", "vllm", "litellm")
    dead = f"http://127.0.0.1:{free_port()}/v1"
    rows: dict[str, Any] = {name: {"base_url": dead} for name in local}
    return load_catalogue({"providers": {**rows, **{name: {"base_url": url} for name, url in urls.items()}}})


async def found(pages: Pages, row: str) -> tuple[LocalServer | None, Serving]:
    async with serving(pages) as server:
        seen = await find_servers(catalogue(**{row: server.url}), seconds=PATIENCE, answer_seconds=PATIENCE)
        return (seen[0] if seen else None), server


@pytest.mark.parametrize(
    ("pages", "row", "name", "models"),
    [
        (OLLAMA, "ollama", "Ollama 0.12.6", ("qwen3:8b", "llama3.2")),
        (LLAMA_CPP, "llamacpp", "llama.cpp b6700-abc", ("/models/tiny.gguf",)),
        (LM_STUDIO, "lmstudio", "LM Studio", ("gemma",)),
        (VLLM, "vllm", "vLLM 0.11.0", ("mistral",)),
    ],
)
async def test_each_kind_is_told_by_what_it_answers(
    pages: Pages, row: str, name: str, models: tuple[str, ...]
) -> None:
    server, asked = await found(pages, row)
    assert server == LocalServer(row, asked.url, name, models)
    assert server.told == f"{name} on port {asked.port}"
    assert not any("authorization" in head.lower() for head in asked.heads)


async def test_a_server_on_anothers_port_is_what_it_proves_to_be() -> None:
    server, asked = await found(LLAMA_CPP, "vllm")
    assert server is not None and (server.provider, server.base_url) == ("llamacpp", asked.url)


async def test_one_that_proves_nothing_is_called_what_it_is_known_for() -> None:
    server, asked = await found(OTHER, "vllm")
    assert server == LocalServer("vllm", asked.url, "an OpenAI-compatible server", ("mystery",))


async def test_a_row_of_the_users_own_is_looked_at_too() -> None:
    server, _ = await found(OLLAMA, "mine")
    assert server is not None and server.provider == "mine" and server.name.startswith("Ollama")


async def test_one_that_wants_a_key_says_so() -> None:
    server, asked = await found(LOCKED, "llamacpp")
    assert server == LocalServer("llamacpp", asked.url, "llama.cpp b6700-abc", (), True)


@pytest.mark.parametrize(
    "pages",
    [
        WEB_SITE,
        {"/v1/models": (200, ["no object"])},
        {"/v1/models": (200, {"data": "no list"})},
        {"/v1/models": (500, {"data": []})},
    ],
)
async def test_what_is_no_model_server_is_not_found(pages: Pages) -> None:
    assert (await found(pages, "vllm"))[0] is None


async def test_hostile_names_reach_no_screen_as_they_are() -> None:
    rows = [{"id": "a\x1b[31mb\nc"}, {"id": ""}, {"id": 3}, "x", {"id": "n" * 5000}]
    version = {"/api/version": (200, {"version": "1\x1b]0;owned\x07" + "9" * 400})}
    server, _ = await found({"/v1/models": (200, {"data": rows}), **version}, "ollama")
    assert server is not None and len(server.models) == 2
    shown = server.name + "".join(server.models)
    assert "\x1b" not in shown and "\n" not in shown and len(shown) < 400


async def test_several_are_found_at_once_and_a_silent_one_is_not_waited_for() -> None:
    silent = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    port = silent.sockets[0].getsockname()[1]
    async with silent, serving(OLLAMA) as ollama, serving(VLLM) as vllm:
        urls = {"ollama": ollama.url, "lmstudio": f"http://127.0.0.1:{port}/v1", "vllm": vllm.url}
        servers = await find_servers(catalogue(**urls), answer_seconds=2.0)
    assert [server.provider for server in servers] == ["ollama", "vllm"]
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(1):
            await silent.wait_closed()


async def test_nobody_there_is_nobody_found() -> None:
    assert await find_servers(catalogue()) == ()


def test_offers_name_every_model_then_the_login_and_practice() -> None:
    servers = (
        LocalServer("ollama", "http://localhost:11434/v1", "Ollama 1", ("a", "b")),
        LocalServer("llamacpp", "http://localhost:9/v1", "llama.cpp", (), True),
    )
    listed = offers(servers, "openai")
    assert listed[0] == Offer(
        OfferKind.SERVER, "a", "Ollama 1 on port 11434", "ollama", "a", "http://localhost:11434/v1"
    )
    assert [(offer.kind.value, offer.provider) for offer in listed[1:]] == [
        ("server", "ollama"),
        ("login", "llamacpp"),
        ("login", "openai"),
        ("practise", ""),
    ]
    assert hint(servers, load_catalogue()) == "Ollama 1 answers on 11434: --provider ollama --model a"
    moved = (LocalServer("ollama", "http://localhost:9/v1", "Ollama", ("a",)),)
    assert "--base-url http://localhost:9/v1" in hint(moved, load_catalogue())
    assert hint((), load_catalogue()) == ""
