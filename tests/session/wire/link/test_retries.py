"""Tests which failures are retried, after which wait, and that the wait is shown and can be ended."""

from __future__ import annotations

import asyncio

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, LinkError, Retries
from session.wire.link.retries import Backoff, Tries
from session.wire.link.state import LinkState
from session.wire.protocol.items import user_message
from session.wire.transport.errors import LinkProblem
from tests.session.wire.link.test_connection import PROFILE, ask, failing, linked, said, script, until

QUICK = Retries(backoff=Backoff(first=0.01, longest=0.05))


def fault(code: str, status: int, message: str = "Not now.", times: int = 1) -> str:
    fail = f'code = "{code}", message = "{message}", status = {status}'
    return f"[[scenario.step]]\nfail = {{{fail}}}\n"


def error(
    kind: LinkProblem,
    code: str = "",
    status: int | None = None,
    after: float | None = None,
    message: str = "said",
) -> LinkError:
    return LinkError(kind, message, code=code, status=status, retry_after=after)


@pytest.mark.parametrize(
    ("problem", "waits"),
    [
        (error(LinkProblem.CLOSED), [0.2, 0.4, 0.8, 1.6, 3.2, None]),
        (error(LinkProblem.UNREACHABLE), [0.2, 0.4, 0.8, None]),
        (error(LinkProblem.SERVER, status=500), [0.2, 0.4]),
        (error(LinkProblem.SERVER, status=529), [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0, None]),
        (error(LinkProblem.SERVER, status=500), [0.2, 0.4, 0.8, 1.6, 3.2, None]),
        (error(LinkProblem.SERVER, status=429), [0.2, 0.4, 0.8, 1.6, 3.2, 6.4]),
        (error(LinkProblem.SERVER, "overloaded_error"), [0.2]),
        (error(LinkProblem.SERVER, "rate_limit_exceeded", 429, 7.5), [7.5, 7.5, 7.5, 7.5, 7.5, None]),
        (error(LinkProblem.SERVER, "rate_limit_exceeded", 429, 3600.0), [None]),
        (error(LinkProblem.SERVER, "insufficient_quota", 429), [None]),
        (error(LinkProblem.SERVER, "usage_limit_reached", 429), [None]),
        (error(LinkProblem.SERVER, "invalid_value", 400), [None]),
        (error(LinkProblem.SERVER, "server_error"), [0.2]),
        (error(LinkProblem.SERVER, "server_error", 400), [None]),
        (error(LinkProblem.SERVER, "server_error", 429), [0.2]),
        (error(LinkProblem.SERVER, "server_error", message="litellm.BadRequestError: no"), [None]),
        (error(LinkProblem.SERVER, "api_error", 500, message="Error code: 404 - gone"), [None]),
        (error(LinkProblem.SERVER, "api_error", 500, message="Error code: 429 - slow"), [0.2]),
        (error(LinkProblem.UNREACHABLE, "untrusted"), [None]),
        (error(LinkProblem.CLOSED, "idle_timeout"), [None]),
        (error(LinkProblem.CONTEXT, "context_length_exceeded"), [None]),
        (error(LinkProblem.UNAUTHORIZED), [None]),
        (error(LinkProblem.MODEL), [None]),
        (error(LinkProblem.REFUSED), [None]),
    ],
    ids=str,
)
def test_each_class_of_failure_has_its_waits(problem: LinkError, waits: list[float | None]) -> None:
    tries = Tries(Retries(), dice=lambda: 0.5)
    assert [tries.wait(problem) for _ in waits] == pytest.approx(waits)


def test_a_fault_of_the_servers_program_is_tried_once_more() -> None:
    """As llama-cpp-python and vLLM answer a message that the model's chat template does not take."""
    tries = Tries(Retries())
    roles = LinkError(LinkProblem.SERVER, "Jinja Exception: roles must alternate", status=500)
    assert tries.wait(roles) is not None and tries.wait(roles) is None
    other = LinkError(LinkProblem.SERVER, 'can only concatenate str (not "list") to str', status=500)
    assert tries.wait(other) is not None and tries.wait(other) is None


def test_failures_of_many_kinds_share_one_retry_limit() -> None:
    tries = Tries(Retries(most=2), dice=lambda: 0.5)
    kinds = [error(LinkProblem.CLOSED), error(LinkProblem.UNREACHABLE), error(LinkProblem.SERVER, status=500)]
    waits = [tries.wait(kinds[n % 3]) for n in range(6)]
    assert waits[-1] is None


@pytest.mark.parametrize(
    ("code", "status"), [("server_error", 500), ("slow_down", 503), ("overloaded_error", 529), ("", 502)]
)
async def test_a_passing_failure_is_retried_silently(code: str, status: int) -> None:
    async with (
        Partner(scripts=script(fault(code, status))) as partner,
        linked(partner, retries=QUICK) as connection,
    ):
        assert said(await ask(connection, [user_message("fault")])) == "All is well."


async def test_the_servers_delay_is_kept_and_shown() -> None:
    named = fault("rate_limit_exceeded", 429, "Please try again in 50ms.")
    async with Partner(scripts=script(named)) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        states = connection.states()
        await anext(states)
        assert said(await ask(connection, [user_message("fault")])) == "All is well."
        waiting = await anext(states)
        assert (waiting.state, waiting.seconds) == (LinkState.WAITING, 0.05)
        assert waiting.message is not None and "asks to slow down" in waiting.message
        assert (await anext(states)).state is LinkState.READY


async def test_the_wait_ends_with_drop() -> None:
    named = fault("rate_limit_exceeded", 429, "Please try again in 100s.")
    async with Partner(scripts=script(named)) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        asked = asyncio.create_task(ask(connection, [user_message("fault")]))
        await until(connection, LinkState.WAITING)
        connection.drop()
        assert said(await asked) == ""
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_wait_that_is_too_long_fails_and_names_the_time() -> None:
    named = fault("rate_limit_exceeded", 429, "Please try again in 6m0s.")
    async with Partner(scripts=script(named)) as partner, linked(partner) as connection:
        problem = await failing(connection, "fault")
        assert "asks to slow down" in problem.message and problem.message.endswith("(in 6 min).")
        assert sum(request.generate for request in partner.requests) == 1


async def test_a_request_that_is_too_long_is_not_retried() -> None:
    long = fault("context_length_exceeded", 400, "maximum context length is 128000 tokens")
    async with Partner(scripts=script(long)) as partner, linked(partner) as connection:
        problem = await failing(connection, "fault")
        assert (problem.kind, problem.code) == ("context", "context_length_exceeded")
        assert sum(request.generate for request in partner.requests) == 1


async def test_a_server_that_starts_during_the_wait_answers() -> None:
    partner = Partner(scripts=script())
    await partner.serve()
    port = partner.port
    await partner.close()
    connection = Connection(Endpoint(f"http://127.0.0.1:{port}/v1"), PROFILE)
    asked = asyncio.create_task(ask(connection, [user_message("hello")]))
    await asyncio.sleep(0.3)
    await partner.serve(port)
    assert said(await asked) == "All is well."
    await connection.close()
    await partner.close()


async def test_a_refused_model_lists_the_models_of_the_key() -> None:
    head = 'refuse_models = ["spark-partner"]\nmodels = ["one", "two"]\n'
    async with Partner(scripts=script(head=head)) as partner, linked(partner) as connection:
        problem = await failing(connection, "hello")
        assert problem.kind == "model"
        assert problem.message.endswith("This key can use one, two.")
