"""Connecting a socket to a host that may have several addresses, or stand behind a proxy."""

from __future__ import annotations

import asyncio
import socket

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.proxies import connect_by_socks, is_socks

HEAD_START = 0.25
"""Seconds after which the next address is tried beside one that does not answer (RFC 8305)."""


async def connect_to(endpoint: Endpoint) -> socket.socket | None:
    """A socket to ``endpoint``, by way of a SOCKS proxy where the environment names one; None where an HTTP
    proxy is to be asked. Raises as :func:`connect_socket` does."""
    proxy = endpoint.proxy_url
    if proxy and not is_socks(proxy):
        return None
    return await (connect_by_socks(proxy, *endpoint.address) if proxy else connect_socket(*endpoint.address))


async def connect_socket(host: str, port: int) -> socket.socket:
    """A socket connected to the first address of ``host`` that takes it.

    Raises OSError, or an ExceptionGroup of one OSError for each address. asyncio's own way joins them into
    one OSError without a number, from which nobody can tell what went wrong.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    waiting = [(socket.socket(*kind), address) for *kind, _, address in found]
    trying: set[asyncio.Task[socket.socket]] = set()
    errors: list[OSError] = []
    try:
        while waiting or trying:
            if waiting:
                trying.add(loop.create_task(_connected(*waiting.pop(0))))
            patience = HEAD_START if waiting else None
            done, trying = await asyncio.wait(trying, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            connected: list[socket.socket] = []
            for task in done:
                try:
                    connected.append(task.result())
                except OSError as error:
                    errors.append(error)
            for late in connected[1:]:
                late.close()
            if connected:
                return connected[0]
    finally:
        for unused, _ in waiting:
            unused.close()
        for task in trying:
            task.cancel()
            task.add_done_callback(_close_if_connected)
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


def _close_if_connected(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()
