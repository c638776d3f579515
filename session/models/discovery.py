"""Finds model servers on this machine by asking the catalogue's loopback addresses for their models.

No key is sent, because whatever listens on a usual port may not be the server the key is for. The answers
are untrusted text.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import selectors
import shlex
import socket
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from session.base.text.sanitize import clean_line
from session.models.catalogue import Catalogue
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, one_line

CONNECT_SECONDS = 0.3
"""Seconds for a server to accept the connection; one on this machine does so at once."""
ANSWER_SECONDS = 3.0
"""Seconds for it to say what it is; it may be busy with another answer."""
UNKNOWN = "an OpenAI-compatible server"
_MOST_BYTES = 1024 * 1024
_MOST_MODELS = 200
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answers. ``provider`` names the catalogue's row to use for it, ``name`` what it turned
    out to be and ``models`` what it lists; ``wants_key`` is true when it lists nothing without a key."""

    provider: str
    base_url: str
    name: str
    models: tuple[str, ...] = ()
    wants_key: bool = False

    @property
    def port(self) -> int:
        """The port it listens on."""
        return urlsplit(self.base_url).port or 80

    @property
    def told(self) -> str:
        """What it is and its port, in a few words."""
        return f"{self.name} on port {self.port}"

    def flags(self, catalogue: Catalogue) -> str:
        """The command-line options that choose its first model."""
        usual = catalogue.provider(self.provider).base_url == self.base_url
        address = "" if usual else f" --base-url {self.base_url}"
        # The model's name can be anything, and this line is meant to be copied into a shell.
        model = f" --model {shlex.quote(self.models[0])}" if self.models else ""
        return f"--provider {self.provider}{address}{model}"


@dataclass(frozen=True, slots=True)
class _Mark:
    """How one kind of server is recognised."""

    name: str
    provider: str
    path: str
    needs: tuple[str, ...]
    version: str = ""
    owner: str = ""


@cache
def _marks() -> tuple[_Mark, ...]:
    table = tomllib.loads(resources.files("session.models").joinpath("local_servers.toml").read_text("utf-8"))
    return tuple(_Mark(**{**row, "needs": tuple(row["needs"])}) for row in table["server"])


async def find_servers(
    catalogue: Catalogue, *, seconds: float = CONNECT_SECONDS, answer_seconds: float = ANSWER_SECONDS
) -> tuple[LocalServer, ...]:
    """Every server that answers on a loopback address of the catalogue, in the order of its rows.

    It runs in a thread, since an event loop that is busy starting up would make every server seem slow.
    """
    return await asyncio.to_thread(lambda: asyncio.run(_find(catalogue, seconds, answer_seconds)))


async def _find(catalogue: Catalogue, seconds: float, answer_seconds: float) -> tuple[LocalServer, ...]:
    rows: dict[str, list[str]] = {}
    for provider in catalogue.providers.values():
        with contextlib.suppress(LinkError):
            if provider.plan is None and provider.base_url and Endpoint(provider.base_url).is_loopback:
                rows.setdefault(provider.base_url.rstrip("/"), []).append(provider.name)
    there = _listening(list(rows), seconds)
    open_ones = [address for address in rows if address in there]
    if not open_ones:
        return ()
    import httpx2  # noqa: F401 (loading must not count against the time limit)

    import session.wire.transport.http  # noqa: F401 (nor this)

    found = await asyncio.gather(*(_look(address, rows[address], answer_seconds) for address in open_ones))
    return tuple(server for server in found if server is not None)


def _listening(addresses: list[str], seconds: float) -> set[str]:
    """The addresses that accept a connection.

    All connections are started at once and made by the system, so even a delayed thread sees which of them
    were accepted in time.
    """
    found: set[str] = set()
    with contextlib.ExitStack() as closing, selectors.DefaultSelector() as waiting:
        for address in addresses:
            parts = urlsplit(address)
            with contextlib.suppress(OSError):
                for family, kind, _, _, where in socket.getaddrinfo(
                    parts.hostname, parts.port or 80, type=socket.SOCK_STREAM
                ):
                    trying = closing.enter_context(socket.socket(family, kind))
                    trying.setblocking(False)
                    if trying.connect_ex(where) in (0, errno.EINPROGRESS):
                        waiting.register(trying, selectors.EVENT_WRITE, address)
        end = time.monotonic() + seconds
        while waiting.get_map():
            ready = waiting.select(max(0.0, end - time.monotonic()))
            if not ready:
                break
            for key, _ in ready:
                waiting.unregister(key.fileobj)
                assert isinstance(key.fileobj, socket.socket)
                if key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    found.add(key.data)
    return found


async def _look(address: str, names: list[str], seconds: float) -> LocalServer | None:
    """The server at ``address``; None when it is not a model server."""
    parts = urlsplit(address)
    root = f"{parts.scheme}://{parts.netloc}"
    marks = _marks()
    listed, *said = await asyncio.gather(
        _get(f"{address}/models", seconds), *(_get(root + mark.path, seconds) for mark in marks)
    )
    if listed is None:
        return None
    status, answer = listed
    wants_key = status in (401, 403)
    rows = answer.get("data")
    if not wants_key and not (status == 200 and isinstance(rows, list)):
        return None
    models = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    for mark, told in zip(marks, said, strict=True):
        if told is not None and _fits(mark, told, models):
            version = told[1].get(mark.version)
            number = clean_line(one_line(version)[:40]) if isinstance(version, str) else ""
            name = f"{mark.name} {number}".rstrip()
            return LocalServer(_row(names, mark), address, name, _names(models), wants_key)
    return LocalServer(names[-1], address, UNKNOWN, _names(models), wants_key)


def _fits(mark: _Mark, told: tuple[int, Mapping[str, Any]], models: list[dict[str, Any]]) -> bool:
    status, answer = told
    owned = not mark.owner or any(model.get("owned_by") == mark.owner for model in models)
    return status == 200 and owned and all(key in answer for key in mark.needs)


def _row(names: list[str], mark: _Mark) -> str:
    """The provider to use for it: the user's own row for this address, else what it turned out to be."""
    known = {each.provider for each in _marks()}
    own = [name for name in names if name not in known]
    return own[-1] if own else mark.provider


def _names(models: list[dict[str, Any]]) -> tuple[str, ...]:
    """The models' ids, without those that the server marks as embedding models."""
    names = [model.get("id") for model in models if model.get("type") != "embeddings"]
    return tuple(
        clean_line(one_line(name)[:_LONGEST_NAME]) for name in names if isinstance(name, str) and name
    )[:_MOST_MODELS]


async def _get(url: str, seconds: float) -> tuple[int, Mapping[str, Any]] | None:
    """Status and JSON object of the answer to ``GET url``; None when none comes in time."""
    import httpx2

    from session.wire.transport.http import client_for

    try:
        async with (
            asyncio.timeout(seconds),
            await client_for(Endpoint(url), seconds) as client,
            client.stream("GET", url) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MOST_BYTES:
                    return None
        return response.status_code, parse_object(body)
    except (TimeoutError, OSError, LinkError, NotAnObject, httpx2.HTTPError, httpx2.InvalidURL):
        return None
