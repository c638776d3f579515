"""A session on a ChatGPT plan: what pays, what is sent, and what is said where the plan does not pay."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from session.base.events import Event, TurnEnded
from session.base.storage.folders import config_folder
from session.partner.load_script import parse
from session.partner.server.scripted_model import UNSUPPORTED
from session.partner.server.server import Partner
from session.session import Session
from session.setup.config import FlagError, Flags
from session.setup.opening import Opening, open_project
from session.wire.link.connection import Connection, RequestProfile
from session.wire.link.state import LinkState
from session.wire.protocol.items import text_of, user_message
from session.wire.transport.errors import LinkError
from session.wire.transport.model_list import fetch_models
from session.wire.transport.service import RESPONSES_OVER_SSE
from tests.session.models.sign_in.issuer_server import Fault, IssuerServer, issuing
from tests.session.models.sign_in.signing import file_in, settings_of, signed_in
from tests.session.wire.link.test_connection import ask, output, said, until

KEY = "sk-that-costs-money-0123456789"
MODEL = "gpt-5.6-luna"
SCRIPT = f"""
plan = true
models = ["{MODEL}", "gpt-6.2-sol"]
[[scenario]]
match = ["collide"]
[[scenario.step]]
say = "Some words. "
{{fault}}
[[scenario]]
match = ["*"]
[[scenario.step]]
say = "The plan pays."
"""
LIMIT, USAGE = "subscription_sharing_usage_limit_exceeded", "https://chatgpt.com/settings/usage"


@dataclass
class Signed:
    """A user who is signed in, and a model server that takes that sign-in."""

    issuer: IssuerServer
    config: Path
    root: Path
    partner: Partner

    def opening(self, environ: dict[str, str] | None = None, **flags: Any) -> Opening:
        return open_project(self.root, Flags(**flags), environ or {})

    def take(self) -> None:
        """Have the model server take the tokens that hold now."""
        self.partner.model.key = self.issuer.live[-1].access


def script(fault: str = "", head: str = "") -> Any:
    return parse(head + SCRIPT.replace("{fault}", fault))


def failing(code: str, status: int, shape: str) -> str:
    fields = f'code = "{code}", message = "{code}", status = {status}, shape = "{shape}"'
    return f"[[scenario.step]]\nfail = {{{fields}}}"


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with issuing() as server:
        yield server


@asynccontextmanager
async def signed(issuer: IssuerServer, folder: Path, played: Any = None) -> AsyncIterator[Signed]:
    async with Partner(scripts=played or script()) as partner:
        config = config_folder({})
        config.mkdir(parents=True, exist_ok=True)
        await signed_in(issuer, config)
        (config / "config.toml").write_text(settings_of(issuer, partner.url))
        root = folder / "project"
        root.mkdir()
        (root / "a.py").write_text("x = 1\n")
        it = Signed(issuer, config, root, partner)
        it.take()
        yield it


async def turn(opening: Opening, prompt: str) -> list[Event]:
    """The events of one turn."""
    session = Session(opening)
    events: list[Event] = []
    listening = session.listen()
    await session.open()
    session.submit(prompt)
    async for event in listening:
        events.append(event)
        if isinstance(event, TurnEnded):
            break
    await session.close()
    return events


def ended(events: list[Event]) -> TurnEnded:
    assert isinstance(events[-1], TurnEnded)
    return events[-1]


async def test_the_plan_goes_before_every_key(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        opening = it.opening({"OPENAI_API_KEY": KEY, "GROQ_API_KEY": KEY})
        assert (opening.settings.provider, opening.settings.notes) == ("chatgpt", ())
        assert opening.endpoint is not None and opening.endpoint.api_key is None
        named = it.opening({"OPENAI_API_KEY": KEY}, model="gpt-6.2-sol")
        assert (named.settings.provider, named.model.name) == ("chatgpt", "gpt-6.2-sol")
        assert named.model.price is None
        by_key = it.opening({"OPENAI_API_KEY": KEY}, provider="openai", model="gpt-6.2-sol")
        assert by_key.endpoint is not None and by_key.endpoint.api_key == KEY
        elsewhere = it.opening({}, base_url="http://127.0.0.1:9/v1")
        assert elsewhere.settings.provider == "openai" and not elsewhere.login.refused.startswith("Sign in")


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "https://api.openai.com/v1/", "elsewhere"])
async def test_an_address_in_the_environment_goes_before_the_plan_where_it_names_another_server(
    issuer: IssuerServer, tmp_path: Path, address: str
) -> None:
    async with signed(issuer, tmp_path) as it:
        elsewhere = address == "elsewhere"
        opening = it.opening(
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": it.partner.url if elsewhere else address}
        )
        assert opening.settings.provider == ("openai" if elsewhere else "chatgpt")
        said = " ".join(opening.settings.notes)
        assert ("and not your ChatGPT plan. To use the plan: --provider chatgpt" in said) is elsewhere
        named = it.opening({"OPENAI_BASE_URL": it.partner.url}, provider="openai")
        assert named.settings.notes == ()


async def test_the_tokens_go_to_no_other_server(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        opening = it.opening(provider="chatgpt", base_url="https://proxy.example.org/v1")
        assert (
            opening.endpoint is None and "is good for" in opening.missing and "--base-url" in opening.missing
        )


async def test_an_account_is_chosen_by_name(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        await signed_in(issuer, it.config, "work")
        assert it.opening().plan_account == "the ChatGPT plan of work"
        assert it.opening(account="me@example.org").plan_account == "the ChatGPT plan of me@example.org"
        settings = it.config / "config.toml"
        settings.write_text(f'account = "me@example.org"\n{settings.read_text()}')
        assert it.opening().plan_account == "the ChatGPT plan of me@example.org"
        with pytest.raises(FlagError, match="--account: openai is used with a key"):
            it.opening(provider="openai", account="work")


async def test_a_turn_over_the_websocket_is_shaped_as_the_route_wants_it(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    async with signed(issuer, tmp_path) as it:
        events = await turn(it.opening(model=MODEL), "hello")
        assert ended(events).status == "completed"
        asked = [request for request in it.partner.requests if request.generate][-1]
        assert asked.body["type"] == "response.create" and asked.body["store"] is False
        first = next(request for request in it.partner.requests if request.previous_response_id is None)
        kinds = [item.get("type") for item in first.body["input"]]
        assert kinds[0] == "additional_tools" and "tools" not in first.body
        assert "apply_patch" in {tool["name"] for tool in first.tools}


async def test_history_is_sent_whole_after_a_reconnect(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        connection = connected(it.opening(model=MODEL))
        items = [user_message("one")]
        items += output(await ask(connection, items))
        items += [user_message("two")]
        items += output(await ask(connection, items))
        assert it.partner.requests[-1].items == (user_message("two"),)
        await it.partner.drop_clients()
        items += [user_message("three")]
        await ask(connection, items)
        sent = it.partner.requests[-1]
        assert sent.previous_response_id is None and sent.body["input"][0]["type"] == "additional_tools"
        assert [text_of(item) for item in sent.items if item.get("role") in ("user", "assistant")] == [
            *("one", "The plan pays.", "two", "The plan pays.", "three")
        ]
        await connection.close()


def connected(opening: Opening, **changes: Any) -> Connection:
    """A connection as a session opens it, with its tools."""
    assert opening.endpoint is not None
    provider = opening.catalogue.provider("chatgpt")
    profile = RequestProfile(
        model=opening.model.name,
        instructions="Be brief.",
        tools=({"type": "function", "name": "look", "parameters": {"type": "object"}},),
        effort="low",
        service_tier="priority",
        prompt_cache_key="here",
        max_output_tokens=200,
        tools_as_item=opening.model.tools_as_item,
        tool_field=provider.tool_field,
        instructions_as_item=opening.service.instructions_as_item,
        responses_extra=provider.responses_body,
    )
    service = replace(opening.service, **{"spare": False, **changes})
    return Connection(opening.endpoint, profile, service=service, login=opening.login)


async def test_over_http_the_tools_stand_in_the_input_too(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        opening = it.opening(model=MODEL)
        connection = connected(opening, routes=(RESPONSES_OVER_SSE,))
        assert said(await ask(connection, [user_message("hello")])) == "The plan pays."
        body = it.partner.requests[-1].body
        assert body["input"][0]["type"] == "additional_tools" and "tools" not in body
        refused = set(opening.service.quirks.omit)
        assert body["store"] is False and body["stream"] is True and not refused & set(body)
        assert not connection.left_out
        await connection.close()


async def test_the_accounts_own_list_of_models_is_shown(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        endpoint = it.opening().endpoint
        assert endpoint is not None and await fetch_models(endpoint) == (MODEL, "gpt-6.2-sol")


async def test_a_default_is_one_that_the_account_has(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        events = await turn(it.opening(), "hello")
        assert ended(events).status == "completed" and it.partner.requests[-1].model == MODEL
        assert it.opening().model.name == MODEL  # remembered for this account
        await signed_in(issuer, it.config, "work")
        assert it.opening().model.name != MODEL  # and not for another


PLAN_LINES = [
    (LIMIT, 429, "plan", "The limit of your ChatGPT plan is reached, and no key is used in its place."),
    (
        "subscription_sharing_user_not_eligible",
        403,
        "plan",
        "This ChatGPT account may not use its plan in other programs.",
    ),
    ("chatpass_v2_scope_not_authorized", 403, "plan", "Allow it: spark login chatgpt."),
    (UNSUPPORTED, 400, "server", "The ChatGPT plan does not pay for a part of this request"),
    ("subscription_sharing_something_new", 403, "plan", "The ChatGPT plan does not pay for this"),
    ("subscription_sharing_invalid_user", 401, "unauthorized", "ChatGPT does not know this sign-in any more"),
]


@pytest.mark.parametrize("shape", ["nested", "response"])
@pytest.mark.parametrize(("code", "status", "kind", "line"), PLAN_LINES)
async def test_where_the_plan_does_not_pay_the_turn_says_why_and_nothing_else_pays(
    issuer: IssuerServer, tmp_path: Path, code: str, status: int, kind: str, line: str, shape: str
) -> None:
    async with signed(issuer, tmp_path, script(failing(code, status, shape))) as it:
        issuer.faults["/token"] = [Fault(503, "")] * 9
        events = await turn(it.opening({"OPENAI_API_KEY": KEY}, model=MODEL), "collide")
        told = ended(events)
        assert (told.status, told.code) == ("failed", kind)
        assert told.message is not None and line in told.message and "\n" not in told.message
        if code == LIMIT:
            assert told.message.endswith(USAGE)
        if kind == "unauthorized":  # within an answer that had begun, too
            assert told.message.count("Sign in again: spark login chatgpt") == 1
        if kind == "plan":
            assert sum("collide" in str(each.items) for each in it.partner.requests) == 1  # not again
        assert KEY not in str(list(it.partner.headers))


@pytest.mark.parametrize("route", ["upgrade", "post"])
async def test_a_limit_that_is_told_at_the_door_is_no_reason_for_another_route(
    issuer: IssuerServer, tmp_path: Path, route: str
) -> None:
    body = f'{{"error": {{"code": "{LIMIT}", "message": "limit"}}}}'
    head = f"[{'handshake' if route == 'upgrade' else 'http'}]\nstatus = 403\nbody = '{body}'\n"
    played = parse(SCRIPT.replace("{fault}", "").replace("[[scenario]]", f"{head}[[scenario]]", 1))
    async with signed(issuer, tmp_path, played) as it:
        changes = {} if route == "upgrade" else {"routes": (RESPONSES_OVER_SSE,)}
        connection = connected(it.opening(model=MODEL), **changes)
        with pytest.raises(LinkError) as told:
            await ask(connection, [user_message("hello")])
        assert told.value.kind == "plan" and told.value.lasting and USAGE in told.value.message
        assert list(it.partner.requests) == []
        await connection.close()


async def test_usage_that_cannot_be_told_is_asked_for_again(issuer: IssuerServer, tmp_path: Path) -> None:
    fault = failing("subscription_sharing_usage_unavailable", 503, "nested").replace("}", ", once = true}")
    async with signed(issuer, tmp_path, script(fault)) as it:
        events = await turn(it.opening(model=MODEL), "collide")
        assert ended(events).status == "completed"


async def test_a_route_that_the_plan_does_not_pay_for_leads_to_http_on_the_same_plan(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    body = '{"error": {"code": "subscription_sharing_route_not_supported", "message": "no sockets"}}'
    head = f"[handshake]\nstatus = 403\nbody = '{body}'\n"
    played = parse(SCRIPT.replace("{fault}", "").replace("[[scenario]]", f"{head}[[scenario]]", 1))
    async with signed(issuer, tmp_path, played) as it:
        events = await turn(it.opening({"OPENAI_API_KEY": KEY}, model=MODEL), "hello")
        assert ended(events).status == "completed" and it.partner.requests[-1].body["stream"] is True
        assert KEY not in str(list(it.partner.headers))


async def test_a_token_that_runs_out_is_renewed_unseen(issuer: IssuerServer, tmp_path: Path) -> None:
    async with signed(issuer, tmp_path) as it:
        connection = connected(it.opening(model=MODEL))
        assert said(await ask(connection, [user_message("one")])) == "The plan pays."
        it.partner.model.key = "another"
        await it.partner.drop_clients()
        issuer.may_answer.clear()
        asking = asyncio.create_task(ask(connection, [user_message("two")]))
        assert await asyncio.to_thread(issuer.renewing.wait, 30)
        it.take()
        issuer.may_answer.set()
        assert said(await asking) == "The plan pays."
        assert issuer.count("/token", grant_type="refresh_token") == 1
        await connection.close()


async def test_a_session_that_idles_for_hours_dials_with_tokens_that_hold(
    issuer: IssuerServer, tmp_path: Path
) -> None:
    async with signed(issuer, tmp_path) as it:
        it.partner.model.key = "another"
        issuer.lifetime = 60  # too near its end to be given: each dial renews
        issuer.may_answer.clear()
        connection = connected(it.opening(model=MODEL))
        connection.start()
        assert await asyncio.to_thread(issuer.renewing.wait, 30)  # the first token was refused
        it.partner.model.key = None
        issuer.may_answer.set()
        for _ in range(3):
            await until(connection, LinkState.READY)
            await it.partner.drop_clients()
            await until(connection, LinkState.CONNECTING)
        await until(connection, LinkState.READY)
        sent = [headers["authorization"] for headers in it.partner.headers]
        assert len(set(sent[-3:])) == 3 and sent[-1] == f"Bearer {issuer.live[-1].access}"
        await connection.close()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("invalid_grant", "was withdrawn"),
        ("refresh_token_expired", "has run out"),
        ("refresh_token_reused", "was used twice"),
    ],
)
async def test_a_sign_in_that_has_ended_fails_the_turn_and_no_key_pays(
    issuer: IssuerServer, tmp_path: Path, code: str, why: str
) -> None:
    async with signed(issuer, tmp_path) as it:
        it.partner.model.key = "no token"
        issuer.faults["/token"] = [Fault(400, {"error": code})]
        environ = {"OPENAI_API_KEY": KEY}
        for _ in range(2):  # and in every session after it
            told = ended(await turn(it.opening(environ, model=MODEL), "hello"))
            assert (told.status, told.code) == ("failed", "unauthorized")
            assert told.message is not None and why in told.message
            assert "Sign in again: spark login chatgpt" in told.message
            assert it.opening(environ).settings.provider == "chatgpt"
        assert list(it.partner.requests) == [] and KEY not in str(list(it.partner.headers))
        file_in(it.config).path.unlink()
        assert it.opening(environ).settings.provider == "openai"


async def test_nobody_signed_in_is_told_with_what_to_do(issuer: IssuerServer, tmp_path: Path) -> None:
    opening = open_project(tmp_path, Flags(provider="chatgpt"), {})
    assert opening.keyless and opening.missing == "no key: run: spark login chatgpt (spark demo needs none)"
