"""The address of a model server, and the URLs that are made from it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, urlsplit, urlunsplit

from session.wire.transport.errors import LinkError, LinkProblem, PlanTerms

_BESIDE = "/.."
"""Begins a path that is not below the base URL's last part, its version."""
_ENDPOINTS = re.compile(r"/(?:chat/completions|responses|messages)/*$")
"""What users leave at the end of a base URL that they copied from an example of a request."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A header's name (RFC 9110, section 5.1)."""
_SECURE = {"https": "wss", "wss": "wss"}
_PLAIN = {"http": "ws", "ws": "ws"}


@dataclass(frozen=True, slots=True)
class Login:
    """How to react to a key that is refused."""

    refresh: Callable[[], Awaitable[str | None]] | None = None
    """Returns another key, or None where there is none. Raises :class:`LinkError` where it cannot tell."""
    refused: str = ""
    """A sentence for the user: how to get a key that is accepted."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server's base URL (the part before ``/responses``), the key for it, and further headers.

    The key goes out as a bearer token, or as it is in the header that ``key_header`` names.
    """

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    key_header: str = ""
    ask_key: Callable[[], Awaitable[str | None]] | None = field(default=None, repr=False, compare=False)
    """Where ``api_key`` is still to be fetched: gives it, or raises :class:`LinkError`."""
    plan: PlanTerms | None = None
    """The plan that pays, where the key is a sign-in to one."""

    async def with_key(self) -> Endpoint:
        """This endpoint with its key fetched. To be called before dialling."""
        if self.api_key is not None or self.ask_key is None:
            return self
        return replace(self, api_key=await self.ask_key())

    @property
    def has_key(self) -> bool:
        """Whether a key is sent."""
        return bool(self.api_key) or self.ask_key is not None

    @property
    def holder(self) -> str:
        """What is refused or accepted, for messages."""
        return "API key" if self.plan is None else "sign-in"

    def websocket_url(self) -> str:
        """``wss://…/responses`` for an https base URL, ``ws://…`` for http on a loopback address.

        Raises :class:`LinkError` (``refused``) for an address that is none, and for plain http to
        another machine: the key and the code would cross the network readable.
        """
        parts = self._parts()
        scheme = _SECURE.get(parts.scheme) or _PLAIN[parts.scheme]
        return urlunsplit((scheme, parts.netloc, parts.path.rstrip("/") + "/responses", parts.query, ""))

    def http_url(self, path: str) -> str:
        """``https://…`` and ``path`` (which begins with ``/``). Raises as :meth:`websocket_url` does."""
        parts = self._parts()
        scheme = "https" if parts.scheme in _SECURE else "http"
        base = parts.path.rstrip("/")
        if path.startswith(_BESIDE):
            base, path = base.rpartition("/")[0], path.removeprefix(_BESIDE)
        return urlunsplit((scheme, parts.netloc, base + path, parts.query, ""))

    def request_headers(self) -> dict[str, str]:
        """The headers of a request. Raises :class:`LinkError` for one that cannot be sent."""
        headers = dict(self.headers)
        if self.api_key:
            if not self.api_key.isascii() or not self.api_key.isprintable() or " " in self.api_key.strip():
                message = (
                    "The API key contains characters that are not allowed (was it pasted with a line break?)"
                )
                raise LinkError(LinkProblem.UNAUTHORIZED, message)
            key = self.api_key.strip()
            name = self.key_header or "Authorization"
            if name.lower() not in {given.lower() for given in headers}:  # the user's own comes first
                headers[name] = key if self.key_header else f"Bearer {key}"
        for name, value in headers.items():
            if not (_NAME.fullmatch(name) and value.isascii() and value.isprintable()):
                raise LinkError(
                    LinkProblem.REFUSED, f"The header {name!r} contains characters that cannot be sent."
                )
        return headers

    @property
    def host(self) -> str:
        """``host:port`` as it is written, for messages."""
        return self._parts().netloc.rpartition("@")[2]

    @property
    def address(self) -> tuple[str, int]:
        """Host name and port to connect to."""
        parts = self._parts()
        return parts.hostname or "", parts.port or (443 if parts.scheme in _SECURE else 80)

    @property
    def is_loopback(self) -> bool:
        """True when the server is on this machine."""
        return _is_loopback(self._parts().hostname or "")

    @property
    def proxy_url(self) -> str:
        """The proxy that the environment names for this server; empty for none."""
        from session.wire.transport.proxies import proxy_for

        return "" if self.is_loopback else proxy_for(*self.address)

    @property
    def proxy(self) -> str:
        """``host:port`` of :attr:`proxy_url`, for messages."""
        return urlsplit(self.proxy_url).netloc.rpartition("@")[2]

    def _parts(self) -> SplitResult:
        try:
            parts = urlsplit(self.base_url.strip())
            host, _ = parts.hostname, parts.port
            parts = parts._replace(path=_ENDPOINTS.sub("", parts.path))
        except ValueError as error:
            raise self._bad(str(error)) from None
        if parts.scheme not in _SECURE and parts.scheme not in _PLAIN:
            raise self._bad("it must begin with https:// (or http:// on this machine)")
        if not host:
            raise self._bad("it has no host name")
        if any(character.isspace() or not character.isprintable() for character in parts.netloc + parts.path):
            raise self._bad("it contains a space or a control character")
        if parts.scheme in _PLAIN and not _is_loopback(host):
            raise self._bad(f"plain http would send the key and the code readable to {host}; use https://")
        return parts

    def _bad(self, why: str) -> LinkError:
        return LinkError(LinkProblem.REFUSED, f"The base URL {self.base_url!r} cannot be used: {why}.")


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
