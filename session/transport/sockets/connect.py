"""Connecting a socket to a host that may have several addresses."""

from __future__ import annotations

import asyncio
import socket


async def connect_socket(host: str, port: int) -> socket.socket:
    """A socket connected to the first address of ``host`` that takes it.

    Raises OSError, or an ExceptionGroup of one OSError for each address. asyncio's own way joins them into
    one OSError without a number, from which nobody can tell what went wrong.
    """
    loop = asyncio.get_running_loop()
    errors: list[OSError] = []
    for family, kind, protocol, _, address in await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM):
        try:
            return await _connected(socket.socket(family, kind, protocol), address)
        except OSError as error:
            errors.append(error)
    if len(errors) == 1:
        raise errors[0]
    raise ExceptionGroup(f"no address of {host} could be connected to", errors)


async def _connected(connecting: socket.socket, address: tuple[object, ...]) -> socket.socket:
    try:
        connecting.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connecting, address)
    except BaseException:  # a cancelled attempt, too, leaves no open socket behind
        connecting.close()
        raise
    return connecting
