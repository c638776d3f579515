"""A line of some rate and delay between a TCP client and a server, whose buffers take everything at once."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
import time

PIECE = 1024


class SlowTcp:
    """Passes bytes on: to the client at ``rate`` bytes a second, and both ways ``delay`` seconds late."""

    def __init__(self, server: int, rate: float, delay: float) -> None:
        self._server, self._rate, self._delay = server, rate, delay
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more."""
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._line(client, server, float("inf"))
                self._line(server, client, self._rate)

    def _line(self, source: socket.socket, to: socket.socket, rate: float) -> None:
        """Pass bytes one way."""
        waiting: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()

        def take() -> None:
            free = 0.0
            with contextlib.suppress(OSError):
                while data := source.recv(PIECE):
                    free = max(free, time.monotonic()) + len(data) / rate
                    waiting.put((free + self._delay, data))
            waiting.put((0.0, b""))

        def give() -> None:
            with contextlib.suppress(OSError):
                while True:
                    due, data = waiting.get()
                    if not data:
                        break
                    time.sleep(max(0.0, due - time.monotonic()))
                    to.sendall(data)
                to.shutdown(socket.SHUT_WR)

        for each in (take, give):
            threading.Thread(target=each, daemon=True).start()
