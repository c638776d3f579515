"""A host name with several addresses; the real resolver answers for all other names."""

from __future__ import annotations

import socket
from typing import Any

import pytest

NAME = "several.localhost"


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Resolve ``several.localhost`` to these IPv4 addresses."""
    real = socket.getaddrinfo

    def resolve(host: Any, port: Any, *rest: Any, **more: Any) -> Any:
        if host not in (NAME, NAME.encode()):
            return real(host, port, *rest, **more)
        kind, tcp = socket.SOCK_STREAM, socket.IPPROTO_TCP
        return [(socket.AF_INET, kind, tcp, "", (address, int(port))) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
