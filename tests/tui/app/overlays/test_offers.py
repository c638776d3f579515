"""What the app offers to somebody without a key, under Pilot."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from textual import events

from session.models.discovery import LocalServer
from session.setup.model_offers import Offer, OfferKind, offers
from tests.tui.stage import Stage, stage
from tui.app.overlays.offer_screen import OfferScreen
from tui.app.overlays.overlay import Lines

OLLAMA = LocalServer("ollama", "http://127.0.0.1:11434/v1", "Ollama 0.12.6", ("qwen3:8b", "[b]llama[/b]"))
MANY = LocalServer("vllm", "http://127.0.0.1:8000/v1", "vLLM", tuple(f"model-{n:02}" for n in range(40)))


async def found(*servers: LocalServer) -> Sequence[Offer]:
    return offers(servers, "openai")


def shown(it: Stage) -> bool:
    return isinstance(it.app.screen, OfferScreen) and "Practise first" in it.screen


@pytest.mark.parametrize("size", [(80, 24), (160, 48), (40, 12)])
async def test_the_first_start_offers_servers_a_login_and_practice(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    async with stage(tmp_path, server=False, size=size, offers=lambda: found(OLLAMA)) as it:
        await it.until(lambda: shown(it), "the offers")
        words = " ".join(it.screen.replace("│", " ").split())
        assert "There is no key for openai yet" in words
        assert "fail" not in words and "no key: set" not in words, "to begin is no failure"
        assert "❯ qwen3:8b" in it.screen and "[b]llama" in it.screen and "Log in to" in it.screen
        assert max(len(line) for line in it.screen.splitlines()) <= size[0]
        lines = it.app.screen.query_one(Lines)
        await it.until(lambda: lines.size.height <= len(lines.rows), "a box without empty rows")


async def test_enter_takes_the_chosen_one_and_keeps_the_draft(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, prompt="fix it", offers=lambda: found(OLLAMA)) as it:
        await it.until(lambda: shown(it), "the offers")
        assert it.app.composer.draft == "fix it" and not it.session.running
        it.key("down")
        it.key("enter")
        await it.until(lambda: it.app.taken, "the choice")
        assert it.app.taken == Offer(
            OfferKind.SERVER,
            "[b]llama[/b]",
            "Ollama 0.12.6 on port 11434",
            "ollama",
            "[b]llama[/b]",
            "http://127.0.0.1:11434/v1",
        )
        await it.until(lambda: it.app._exit, "the end")
        assert it.session.draft.read() == "fix it"


async def test_esc_leaves_and_a_prompt_nobody_can_answer_asks_again(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, offers=lambda: found()) as it:
        await it.until(lambda: shown(it), "the offers")
        it.key("escape")
        await it.until(lambda: not isinstance(it.app.screen, OfferScreen), "the panes")
        assert it.app.taken is None and it.app.focused is it.app.composer
        await it.ask_in_vain("hello")
        await it.until(lambda: shown(it), "the offers again")
        assert it.app.composer.draft == "hello"
        it.key("escape")


async def test_a_first_start_whose_terminal_is_left_takes_keys_afterwards(tmp_path: Path) -> None:
    come = asyncio.Event()

    async def late() -> Sequence[Offer]:
        await come.wait()
        return await found(OLLAMA)

    async with stage(tmp_path, server=False, offers=late) as it:
        it.app.post_message(events.AppBlur())
        await it.pilot.pause()
        come.set()
        await it.until(lambda: shown(it), "the offers")
        it.app.post_message(events.AppFocus())
        await it.pilot.pause()
        it.key("escape")
        await it.until(lambda: not isinstance(it.app.screen, OfferScreen), "the panes")
        await it.pilot.press("h", "i")
        assert it.app.composer.draft == "hi"


async def test_a_long_list_scrolls_with_the_choice(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, size=(80, 24), offers=lambda: found(MANY)) as it:
        await it.until(lambda: "❯ model-00" in it.screen, "the offers")
        it.key("end")
        await it.until(lambda: "❯ Practise first" in it.screen, "the last")
        it.key("down")
        it.key("pageup")
        await it.until(lambda: "❯ model-" in it.screen, "one before")
        it.key("home")
        await it.until(lambda: "❯ model-00" in it.screen and "There is no key" in it.screen, "the first")


async def test_the_screen_is_there_while_servers_are_looked_for(tmp_path: Path) -> None:
    answer = asyncio.Event()

    async def late() -> Sequence[Offer]:
        await answer.wait()
        return await found(OLLAMA)

    async with stage(tmp_path, server=False, offers=late) as it:
        await it.until(lambda: "looking for servers on this machine" in it.screen, "the screen")
        it.key("enter")
        await it.pilot.pause()
        assert it.app.taken is None
        answer.set()
        await it.until(lambda: "❯ qwen3:8b" in it.screen, "the offers")
        assert "looking for" not in it.screen


async def test_a_server_that_is_started_meanwhile_joins_and_moves_no_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui.app.overlays.offer_screen.AGAIN_SECONDS", 0.02)
    servers: list[LocalServer] = []
    async with stage(tmp_path, server=False, offers=lambda: found(*servers)) as it:
        await it.until(lambda: "❯ Log in to openai" in it.screen, "the offers")
        servers.append(OLLAMA)
        await it.until(lambda: "qwen3:8b" in it.screen, "the server")
        assert "❯ Log in to openai" in it.screen


async def test_unsaved_text_is_not_left(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, offers=lambda: found()) as it:
        await it.until(lambda: shown(it), "the offers")
        it.key("escape")
        await it.until(lambda: not isinstance(it.app.screen, OfferScreen), "the panes")
        assert await it.app.shown_file.open("greeter.py")
        it.app.editor.insert("x")
        await it.pilot.pause()
        it.app.start._take(offers((), "openai")[0])
        await it.until(lambda: "save the file" in it.screen, "the warning")
        assert it.app.taken is None


async def test_words_typed_over_the_offers_go_to_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, offers=lambda: found(OLLAMA)) as it:
        await it.until(lambda: shown(it), "the offers")
        for character in "just k":
            it.key("space" if character == " " else character, character)
        await it.until(lambda: it.app.composer.draft == "just k", "the words")
        assert not isinstance(it.app.screen, OfferScreen) and it.app.taken is None


@pytest.mark.parametrize("joined", [True, False])
async def test_a_paste_leaves_the_offers_and_stands_in_the_prompt(tmp_path: Path, joined: bool) -> None:
    async with stage(tmp_path, server=False, prompt="fix it", offers=lambda: found(OLLAMA)) as it:
        await it.until(lambda: shown(it), "the offers")
        it.app.post_message(events.Paste(" now,\r"))
        if not joined:
            await it.until(lambda: not isinstance(it.app.screen, OfferScreen), "the panes")
        it.key("x", "x")
        await it.until(lambda: it.app.composer.draft == "fix it now,\nx", "the paste and the key behind it")
        assert not isinstance(it.app.screen, OfferScreen) and it.app.taken is None
