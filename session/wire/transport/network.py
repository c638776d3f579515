"""Whether an open socket still belongs to the network that this machine is on, and how long this machine has
slept.

When the Wi-Fi, a cable or a VPN changes, nobody tells a TCP connection that its route is gone: it is
silent until a ping fails half a minute later. The system knows at once, and answers without a packet:
by the address it would send from, and by whether it still has the address of the socket. While the machine
sleeps the loop's clock stands still, and sockets die unnoticed.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Callable
from enum import Enum

Address = tuple[str, int]
"""A numeric IP address and a port."""


class Standing(Enum):
    """How a socket stands in the network."""

    SAME = "same"
    MOVED = "moved"
    """The route to the server now begins at another address of this machine: the old one may be dead."""
    GONE = "gone"
    """This machine does not have the socket's address any more."""


Judge = Callable[[Address, Address], Standing]


def standing(local: Address, peer: Address) -> Standing:
    """How a socket between ``local`` and ``peer`` stands. A few microseconds; nothing is sent."""
    family = socket.AF_INET6 if ":" in peer[0] else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((local[0], 0))
    except OSError as error:  # anything else (no free descriptor, say) tells nothing of the socket
        return Standing.GONE if error.errno == errno.EADDRNOTAVAIL else Standing.SAME
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(peer)
            here: str = probe.getsockname()[0]
    except OSError:
        return Standing.SAME  # no route at all: there is nothing better to be had
    return Standing.SAME if here == local[0] else Standing.MOVED


_SLEPT_SECONDS = 5.0
"""A shorter sleep kills no socket, and the two clocks drift apart a little by themselves."""


def slept_seconds() -> float:
    """Seconds this machine has been suspended, from an arbitrary start: only differences mean something.

    Where there is no clock that counts sleep (Linux has one), the wall clock stands in: setting it by more
    than the threshold then costs a reconnection and nothing else.
    """
    boot = getattr(time, "CLOCK_BOOTTIME", None)
    now = time.time() if boot is None else time.clock_gettime(boot)
    return now - time.monotonic()


class SleepClock:
    """Notices that the machine has slept; ``slept`` gives the seconds it has been suspended so far."""

    def __init__(self, slept: Callable[[], float]) -> None:
        self._slept = slept
        self._before = slept()

    def has_slept(self) -> bool:
        """Whether the machine has slept since the last call."""
        slept, before = self._slept(), self._before
        self._before = slept
        return abs(slept - before) >= _SLEPT_SECONDS
