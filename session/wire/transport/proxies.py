"""Which proxy the environment names for a server, and the way through one that speaks SOCKS.

``HTTPS_PROXY`` counts before ``ALL_PROXY``, in small letters before capitals. What ``NO_PROXY`` lists is
asked directly, as curl and Go's net/http read it: host names with all below them, addresses, ranges of
addresses (CIDR), each with a port where only that is meant, or ``*`` for everything.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

_SOCKS_PORT = 1_080
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SOCKS = {"socks": 5, "socks5": 5, "socks5h": 5, "socks4": 4, "socks4a": 4}
_BRACKETED = re.compile(r"\[([0-9a-fA-F:.%]+)\](?::(\d+))?")


def proxy_for(host: str, port: int) -> str:
    """The URL of the proxy on the way to a server with TLS; empty where it is asked directly."""
    named = getproxies()
    proxy = named.get("https") or named.get("all") or named.get("socks") or ""
    if not proxy or is_exempt(host, port, named.get("no", "")) or proxy_bypass(host):
        return ""
    return proxy if _SCHEME.match(proxy) else f"http://{proxy}"


def is_exempt(host: str, port: int, no_proxy: str) -> bool:
    """Whether the list ``no_proxy`` names the server at ``host`` and ``port``."""
    return any(
        _names(entry, host.lower().rstrip("."), port) for entry in re.split(r"[,\s]+", no_proxy) if entry
    )


def _names(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    entry = _SCHEME.sub("", entry).lower()
    if bracketed := _BRACKETED.fullmatch(entry):
        name, only = bracketed.groups()
    elif entry.count(":") == 1:
        name, _, only = entry.partition(":")
    else:
        name, only = entry, None
    if only and (not only.isdecimal() or int(only) != port):
        return False
    address, range_ = _address(host), _range(name)
    if range_ is not None:
        return address is not None and address in range_
    name = name.removeprefix("*").strip(".")
    return bool(name) and address is None and (host == name or host.endswith(f".{name}"))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _range(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def is_socks(proxy: str) -> bool:
    """Whether the proxy with this URL speaks SOCKS."""
    return urlsplit(proxy).scheme.lower() in _SOCKS


async def connect_by_socks(proxy: str, host: str, port: int) -> socket.socket:
    """A socket to ``host`` by way of a SOCKS proxy, which looks the name up. Raises OSError."""
    from python_socks import ProxyError, ProxyTimeoutError, ProxyType
    from python_socks.async_.asyncio import Proxy

    parts = urlsplit(proxy)
    kind = ProxyType.SOCKS5 if _SOCKS[parts.scheme.lower()] == 5 else ProxyType.SOCKS4
    user, password = (None if each is None else unquote(each) for each in (parts.username, parts.password))
    try:
        where = parts.hostname or "", parts.port or _SOCKS_PORT
        way = Proxy(kind, *where, user, password, rdns=True, loop=asyncio.get_running_loop())
        return await way.connect(host, port)
    except ProxyTimeoutError as error:
        raise TimeoutError(str(error)) from error
    except (ProxyError, ValueError) as error:
        raise ConnectionError(str(error)) from error
