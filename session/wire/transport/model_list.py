"""The models a key can use: to list them, to try a key, and for the message about one that it cannot use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import quote

from session.base.text.wording import listed
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import NO_SUCH_PATH, LinkError, LinkProblem, one_line
from session.wire.transport.refusals import from_server, read_refusal

TIMEOUT = 5.0
MOST_BYTES = 4 * 1024 * 1024
_MOST_NAMED = 12
_LEAST_TOKENS, _MOST_TOKENS = 1_000, 100_000_000
"""A limit outside of these is taken for nonsense."""
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as a server lists it. ``window`` and ``output`` are its limits in tokens, 0 where the server
    does not say them; ``ends`` is the day on which it is shut down, if that is told."""

    name: str
    window: int = 0
    output: int = 0
    ends: date | None = None
    retired: bool = False
    """Whether the server says that it no longer serves it."""

    def usable(self, today: date) -> bool:
        """Whether it can be asked."""
        return not self.retired and (self.ends is None or today < self.ends)


_WINDOWS = (
    *("n_ctx", "loaded_context_length", "context_window", "context_length", "max_context_length"),
    *("max_model_len", "max_input_tokens"),
)
_OUTPUTS = ("max_completion_tokens", "max_output_tokens", "max_tokens")
_ENDS = ("shutdown_date", "retires_at")


async def list_models(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The ids that ``GET /models`` gives, in the server's order; empty where it gives none in time."""
    try:
        return await fetch_models(endpoint, open_timeout=open_timeout)
    except LinkError:
        return ()


async def fetch_models(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The same, but raises :class:`LinkError` where there is no such list: ``unauthorized`` for a key
    that is not taken, ``refused`` for an answer that is no list."""
    return tuple(model.name for model in await fetch_listed(endpoint, open_timeout=open_timeout))


async def fetch_listed(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[ListedModel, ...]:
    """The models with what ``GET /models`` tells of them. Raises as :func:`fetch_models`."""
    body = await _get(endpoint, "/models", open_timeout)
    try:
        answer = parse_object(body)
    except NotAnObject:
        raise _no_list(endpoint) from None
    rows = answer.get("data") if "data" in answer else answer.get("models")
    listed = (_listed(row) for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()
    return tuple(model for model in listed if model is not None)


def _listed(row: Mapping[str, Any]) -> ListedModel | None:
    """A row of the list. Servers name the same things differently: OpenAI, Anthropic, Groq, OpenRouter,
    vLLM and LM Studio are known, and OpenAI's list for a ChatGPT plan, which says what is meant to be shown.
    """
    name = row.get("id") or row.get("slug")
    if not isinstance(name, str) or not name or row.get("visibility", "list") != "list":
        return None
    top = row.get("top_provider")
    meta = row.get("meta")  # llama.cpp's
    limits = {**(top if isinstance(top, dict) else {}), **(meta if isinstance(meta, dict) else {}), **row}
    return ListedModel(
        one_line(name)[:_LONGEST_NAME],
        _tokens(limits, _WINDOWS),
        _tokens(limits, _OUTPUTS),
        next((day for key in _ENDS if (day := _day(row.get(key))) is not None), None),
        retired=row.get("lifecycle") == "retired" or row.get("active") is False,
    )


def _tokens(limits: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """The first of the limits that is a number of tokens; 0 for none."""
    values = (limits.get(name) for name in names)
    return next(
        (value for value in values if type(value) is int and _LEAST_TOKENS <= value <= _MOST_TOKENS), 0
    )


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


async def fetch_object(endpoint: Endpoint, path: str, *, open_timeout: float = TIMEOUT) -> Mapping[str, Any]:
    """The JSON object that ``GET path`` gives; empty where it gives none."""
    try:
        return parse_object(await _get(endpoint, path, open_timeout))
    except (LinkError, NotAnObject):
        return {}


async def has_model(endpoint: Endpoint, name: str, *, open_timeout: float = TIMEOUT) -> bool:
    """Whether ``GET /models/NAME`` gives a model: a list may have further pages, and leaves out aliases.

    A server that does not know the path has none there. Raises :class:`LinkError` where it cannot be asked.
    """
    try:
        body = await _get(endpoint, f"/models/{quote(name, safe='/:')}", open_timeout)
        return isinstance(parse_object(body).get("id"), str)
    except NotAnObject:
        return False
    except LinkError as problem:
        if problem.status in (400, 404, 405, 501):
            return False
        raise


async def _get(endpoint: Endpoint, path: str, seconds: float) -> bytes:
    """The body that ``GET path`` gives. Raises :class:`LinkError`."""
    import httpx2

    from session.wire.transport.http import client_for, explain

    endpoint = await endpoint.with_key()
    try:
        async with (
            asyncio.timeout(seconds),
            await client_for(endpoint, seconds) as client,
            client.stream("GET", endpoint.http_url(path)) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise _no_list(endpoint)
            if not response.is_success:
                raise from_server(read_refusal(response.status_code, body, response.headers), endpoint, "")
    except (TimeoutError, OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise explain(error, endpoint, seconds) from error
    return body


def _no_list(endpoint: Endpoint) -> LinkError:
    message = f"{endpoint.host} does not list its models: check the base URL."
    return LinkError(LinkProblem.REFUSED, message, code=NO_SUCH_PATH)


def usable_models(models: tuple[str, ...]) -> str:
    """``models`` as a sentence to end a message with; empty for none."""
    return f" This key can use {listed(models, _MOST_NAMED)}." if models else ""
