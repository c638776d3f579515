"""The screen of a user with a ChatGPT plan: what stands beside the model, and where the plan does not pay."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from session.base.storage.folders import config_folder
from session.setup.config import Flags
from session.setup.model_offers import OfferKind, find_offers
from session.setup.opening import open_project
from tests.session.models.sign_in.issuer_server import Fault, IssuerServer, issuing
from tests.session.models.sign_in.signing import settings_of, signed_in
from tests.tui.stage import Stage, stage
from tui.app.panes.status import Status, parts
from tui.front.words.figures import report

SCRIPT = """
plan = true
models = ["gpt-6-luna"]
[[scenario]]
match = ["limit"]
[[scenario.step]]
say = "A beginning. "
[[scenario.step]]
fail = {code = "subscription_sharing_usage_limit_exceeded", message = "limit", shape = "response"}
[[scenario]]
match = ["part"]
[[scenario.step]]
fail = {code = "subscription_sharing_unsupported_capability", message = "no", status = 400, shape = "nested"}
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "The plan pays."
"""


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with issuing() as server:
        yield server


@asynccontextmanager
async def on_the_plan(
    folder: Path, issuer: IssuerServer, size: tuple[int, int] = (120, 36)
) -> AsyncIterator[Stage]:
    config = config_folder({})
    config.mkdir(parents=True)
    (config / "config.toml").write_text(settings_of(issuer))
    await signed_in(issuer, config)
    options = {"script": SCRIPT, "model": "gpt-6-luna", "provider": "chatgpt"}
    async with stage(folder, size=size, **options) as it:  # type: ignore[arg-type]
        yield it


async def test_the_plan_is_named_beside_the_model(tmp_path: Path, issuer: IssuerServer) -> None:
    async with on_the_plan(tmp_path, issuer) as it:
        assert "gpt-6-luna · medium · Using ChatGPT plan" in it.screen
        await it.ask("hello")
        await it.done()
        assert "The plan pays." in it.chat and "Using ChatGPT plan" in it.screen
        assert "chatgpt.com/settings/usage" in it.session.models.prices
        told = await report(it.session.usage, it.session.models.prices)
        assert told.count("on the ChatGPT plan") >= 2 and "unknown" not in told
        it.session.models.choose(effort="high")
        await it.until(lambda: "gpt-6-luna · high · Using ChatGPT plan" in it.screen, "the effort")


def test_a_narrow_line_keeps_the_model_without_the_plan() -> None:
    status = Status(model="gpt-6-luna", effort="medium", link="ready", plan="Using ChatGPT plan")

    def line(width: int) -> str:
        left, right = parts(status, width)
        return "".join(text for text, _ in (*left, *right))

    assert "gpt-6-luna · medium · Using ChatGPT plan" in line(80)
    assert "gpt-6-luna · medium" in line(40) and "Using" not in line(40)


async def test_a_limit_keeps_the_prompt_and_says_where_to_look(tmp_path: Path, issuer: IssuerServer) -> None:
    async with on_the_plan(tmp_path, issuer) as it:
        await it.ask("use all of the limit")
        await it.until(lambda: "https://chatgpt.com/settings/usage" in it.chat, "the reason")
        words = " ".join(it.chat.split())
        assert "The limit of your ChatGPT plan is reached, and no key is used in its place." in words
        await it.until(lambda: it.app.composer.draft == "use all of the limit", "the prompt")
        assert not it.session.running


async def test_a_refusal_of_any_kind_keeps_the_prompt_while_a_plan_pays(
    tmp_path: Path, issuer: IssuerServer
) -> None:
    async with on_the_plan(tmp_path, issuer) as it:
        await it.ask("a part of the request")
        await it.until(lambda: it.app.composer.draft == "a part of the request", "the prompt")
        said = "does not pay for a part of this request. Take another model (/model)"
        await it.until(lambda: said in " ".join(it.chat.split()), "the reason and what to do")


async def test_an_ended_sign_in_keeps_the_prompt_and_says_how_to_sign_in(
    tmp_path: Path, issuer: IssuerServer
) -> None:
    async with on_the_plan(tmp_path, issuer) as it:
        assert it.partner is not None
        it.partner.model.key = "another"
        issuer.faults["/token"] = [Fault(400, {"error": "invalid_grant"})]
        await it.partner.drop_clients()
        await it.until(lambda: it.app.status.status.link == "failed", "the refusal")
        it.app.composer.insert("go on")
        it.key("enter", "\r")
        await it.until(lambda: "spark login chatgpt" in it.chat, "the reason")
        assert "was withdrawn" in " ".join(it.chat.split())
        await it.until(lambda: it.app.composer.draft == "go on", "the prompt")


async def test_the_first_start_offers_to_continue_with_chatgpt(tmp_path: Path) -> None:
    opening = open_project(tmp_path, Flags(), {})
    assert opening.keyless
    found = await find_offers(opening)
    logins = [(offer.title, offer.provider) for offer in found if offer.kind is OfferKind.LOGIN]
    assert logins[:2] == [("Continue with ChatGPT", "chatgpt"), ("Log in to openai", "openai")]
    named = await find_offers(open_project(tmp_path, Flags(provider="chatgpt"), {}))
    assert [offer.provider for offer in named if offer.kind is OfferKind.LOGIN][:2] == ["chatgpt", "openai"]
