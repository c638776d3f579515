"""The OpenID provider that signs in: its endpoints, and what is asked of them.

Sources: OpenID Connect Discovery 1.0, RFC 6749 (tokens), RFC 7009 (revocation), and OpenAI's pages under
developers.openai.com/siwc/token-sharing-open-source (``sign-in``, ``profiles-and-sessions``,
``token-reference``, ``errors-and-recovery``), looked at in November 2026.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from session.models.sign_in.accounts import Tokens
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem, one_line
from session.wire.transport.refusals import from_server, read_refusal

DISCOVERY = "/.well-known/openid-configuration"
SECONDS = 20.0
"""The time limit of one request."""
_PASSING = (408, 425, 429)
_MOST_BYTES = 1024 * 1024
_TOKEN = re.compile(r"[\x21-\x7e]+")
"""What a header can carry."""
_LIFETIME = 3600.0
"""Seconds for which an access token holds where the answer does not say it."""


class TokenRefused(Exception):
    """The issuer refused a request for tokens; ``code`` is its own word, ``said`` its message."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(code)
        self.code = code
        self.said = said


@dataclass(frozen=True, slots=True)
class Granted:
    """The answer of the token endpoint. ``scopes`` is None where it names none: they are as before."""

    tokens: Tokens
    scopes: tuple[str, ...] | None
    id_token: str


@dataclass(frozen=True, slots=True)
class Issuer:
    """The endpoints of the issuer called ``name``; ``revoke`` is empty where it has none."""

    name: str
    authorize: str
    token: str
    keys: str
    revoke: str = ""

    async def exchange(self, client: str, code: str, verifier: str, redirect: str, resource: str) -> Granted:
        """The tokens for an authorization ``code``. Raises TokenRefused and LinkError."""
        fields = {"grant_type": "authorization_code", "client_id": client, "code": code}
        more = {"code_verifier": verifier, "redirect_uri": redirect, "resource": resource}
        return _granted(await self._post(self.token, fields | more), "")

    async def renew(self, client: str, refresh: str, resource: str) -> Granted:
        """New tokens for the refresh token, which is void from then on. Raises TokenRefused and LinkError."""
        fields = {"grant_type": "refresh_token", "client_id": client, "refresh_token": refresh}
        return _granted(await self._post(self.token, fields | {"resource": resource}), refresh)

    async def withdraw(self, client: str, refresh: str) -> None:
        """Withdraw the refresh token and what came of it. Raises TokenRefused and LinkError."""
        fields = {"token": refresh, "token_type_hint": "refresh_token", "client_id": client}
        await self._post(self.revoke, fields)

    async def key_set(self) -> dict[str, Any]:
        """The public keys that sign identities. Raises LinkError."""
        return _object(self.keys, await _ask(self.keys))

    async def _post(self, url: str, fields: Mapping[str, str]) -> bytes:
        try:
            return await _ask(url, fields)
        except LinkError as problem:
            status = problem.status or 0
            if problem.code and 400 <= status < 500 and status not in _PASSING:
                raise TokenRefused(problem.code, problem.message) from None
            raise


async def discover(name: str) -> Issuer:
    """The endpoints that the issuer at the address ``name`` publishes. Raises LinkError."""
    url = name.rstrip("/") + DISCOVERY
    found = _object(url, await _ask(url))
    if found.get("issuer") != name:
        raise _nonsense(url, "it speaks for another issuer")
    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
    authorize, token, keys = (_address(url, found.get(each)) for each in names)
    revoke = found.get("revocation_endpoint")
    return Issuer(name, authorize, token, keys, _address(url, revoke) if revoke else "")


def _address(url: str, found: object) -> str:
    """An endpoint of the document at ``url``: https, or on this machine."""
    if not isinstance(found, str):
        raise _nonsense(url, "an endpoint is missing")
    Endpoint(found).http_url("")
    return found


async def _ask(url: str, fields: Mapping[str, str] | None = None) -> bytes:
    """The body of the answer to a form, or to a plain request without one. Redirects are not followed: they
    would carry a token to wherever they point. Raises LinkError."""
    import httpx2

    from session.wire.transport.http import client_for, explain

    endpoint = Endpoint(url)
    endpoint.http_url("")
    try:
        async with (
            asyncio.timeout(SECONDS),
            await client_for(endpoint, SECONDS) as client,
            client.stream("GET" if fields is None else "POST", url, data=fields) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise _nonsense(url, "it is too long")
    except (TimeoutError, OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise explain(error, endpoint, SECONDS) from None  # its traceback may show the form
    if not response.is_success:
        raise _refusal(response.status_code, body, response.headers, endpoint)
    return body


def _refusal(status: int, body: bytes, headers: Mapping[str, str], endpoint: Endpoint) -> LinkError:
    """The error of an OAuth endpoint: ``error`` is its code as a string, or an object that holds one."""
    read = read_refusal(status, body, headers)
    problem = from_server(read, endpoint, "")
    try:
        said = parse_object(body)
    except NotAnObject:
        said = {}
    error = said.get("error")
    code = error.get("code") if isinstance(error, dict) else error
    words = error.get("message") if isinstance(error, dict) else said.get("error_description")
    if not isinstance(code, str):
        if status >= 500 or status in _PASSING:
            return problem
        how = "with a redirect " if 300 <= status < 400 else ""
        page = f": {one_line(read.message)}" if read.message else ""
        return LinkError(
            LinkProblem.REFUSED,
            f"{endpoint.host} answers {how}({status}) and not as a sign-in does{page}. Does a proxy, or the "
            "page of a network that wants a login, answer in its place?",
            status=status,
        )
    detail = f": {one_line(words)}" if isinstance(words, str) and words else ""
    return LinkError(
        problem.kind,
        f"{endpoint.host} answers {one_line(code)}{detail}",
        code=code,
        status=status,
        retry_after=problem.retry_after,
    )


def _granted(body: bytes, refresh: str) -> Granted:
    try:
        answer = parse_object(body)
    except NotAnObject:
        answer = {}
    access, new = answer.get("access_token"), answer.get("refresh_token", refresh)
    if not (isinstance(access, str) and _TOKEN.fullmatch(access)) or not (isinstance(new, str) and new):
        raise LinkError(LinkProblem.SERVER, "The answer to the sign-in holds no tokens.", status=502)
    lifetime = answer.get("expires_in")
    seconds = float(lifetime) if isinstance(lifetime, int | float) and lifetime > 0 else _LIFETIME
    scope, identity = answer.get("scope"), answer.get("id_token")
    return Granted(
        Tokens(access, new, time.time() + seconds),
        tuple(scope.split()) if isinstance(scope, str) else None,
        identity if isinstance(identity, str) else "",
    )


def _object(url: str, body: bytes) -> dict[str, Any]:
    try:
        return parse_object(body)
    except NotAnObject:
        raise _nonsense(url, "it is not JSON") from None


def _nonsense(url: str, why: str) -> LinkError:
    return LinkError(LinkProblem.REFUSED, f"The answer of {url} cannot be used: {why}.")
