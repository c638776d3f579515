"""Whoever runs an engine is answered by the model that it serves, in the window that it was started with."""

from __future__ import annotations

import asyncio
from datetime import date
from pathlib import Path

import pytest

from session.base.events import Notice
from session.models.catalogue import Model
from session.session import Session
from session.setup.config import Flags
from session.setup.default_model import DefaultModels
from session.setup.opening import open_project
from tests.session.local_servers import Pages, models, serving
from tests.session.talking import PATIENCE, environment

BLOCKS = "search-replace"
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"
META = models(QWEN, meta={"n_ctx": 8192, "n_ctx_train": 32_768})
PROPS = {"/v1/models": models(QWEN), "/props": (200, {"default_generation_settings": {"n_ctx": 6_144}})}
LOADED = {"models": [{"name": "qwen3:8b", "context_length": 16_384}]}
CASES: list[tuple[str, Pages, str | None, tuple[str, int, str]]] = [
    ("llamacpp", {"/v1/models": META}, None, (QWEN, 8_192, "whole")),
    ("llamacpp", {"/v1/models": META}, QWEN, (QWEN, 8_192, "whole")),
    ("llamacpp", PROPS, None, (QWEN, 6_144, "whole")),
    (
        "vllm",
        {"/v1/models": models("mistral", max_model_len=24_000)},
        None,
        ("mistral", 24_000, "search-replace"),
    ),
    ("ollama", {"/v1/models": models("qwen3:8b")}, None, ("qwen3:8b", 4_096, "search-replace")),
    (
        "ollama",
        {"/v1/models": models("qwen3:latest", "other")},
        "qwen3",
        ("qwen3:latest", 4_096, "search-replace"),
    ),
    (
        "ollama",
        {"/v1/models": models("qwen3:8b", "other"), "/api/ps": (200, LOADED)},
        "qwen3:8b",
        ("qwen3:8b", 16_384, BLOCKS),
    ),
]


@pytest.mark.parametrize(("provider", "pages", "named", "found"), CASES)
async def test_the_window_is_read_before_the_first_request(
    tmp_path: Path, provider: str, pages: Pages, named: str | None, found: tuple[str, int, str]
) -> None:
    (tmp_path / "project").mkdir()
    async with serving(pages) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        flags = Flags(provider=provider, base_url=url, model=named)
        session = Session(open_project(tmp_path / "project", flags, environment(tmp_path / "xdg")))
        told, model = await settled(session)
        assert (model.name, model.window, model.edit_format) == found and model.brief == (provider != "vllm")
        assert ("OLLAMA_CONTEXT_LENGTH" in told) == (provider == "ollama" and model.window == 4_096)
        assert ("no other model" in told) == (named is None)
        kept = DefaultModels(tmp_path / "xdg" / "state" / "spark").kept(url, date.today())
        assert kept == (None if named else found[0])


async def settled(session: Session) -> tuple[str, Model]:
    """What is told until the model is chosen, and the model."""
    told: list[str] = []

    async def listen() -> None:
        async for event in session.listen():
            if isinstance(event, Notice):
                told.append(event.text)

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    await session.open()
    async with asyncio.timeout(PATIENCE):
        await session.settled()
    model = session._choice.model
    await session.close()
    listening.cancel()
    return "\n".join(told), model


async def test_a_model_that_is_kept_is_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    environ = environment(tmp_path / "xdg")
    async with serving({"/v1/models": models("a", "b")}) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        DefaultModels(tmp_path / "xdg" / "state" / "spark").keep(url, "b", date.today())
        opening = open_project(tmp_path / "project", Flags(provider="llamacpp", base_url=url), environ)
        assert opening.model.name == "b"
