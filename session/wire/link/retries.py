"""Which failures are worth another try, and after how long. Randomness is an argument.

| failure | tries again |
| --- | --- |
| connection lost before any output | yes, at once the first time |
| cannot connect | three times: the attempts go on in the background anyway |
| 429, 503, 529, overload without a named delay | yes, twice as often: for about two minutes |
| 408, 425, 5xx, or any of those with a named delay | yes; the server's own delay wins |
| the server's program has a fault, and words it just so a second time | never |
| 200 with a body that is no JSON | as a lost connection |
| quota spent, key, model, address, request too long or wrong, TLS | never |

Where the present key is refused another one may be had: that is asked for once.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from session.wire.protocol.errors import PREVIOUS_NOT_FOUND
from session.wire.transport.endpoint import Login
from session.wire.transport.errors import NO_KEY, PASSING, UNTRUSTED, LinkError, LinkProblem
from session.wire.transport.refusals import SPENT

TOO_OLD = "websocket_connection_limit_reached"
_PASSING_STATUS = frozenset({408, 425, 429})
_BUSY_CODES = frozenset(
    {
        "rate_limit_exceeded",
        "rate_limit_error",
        "overloaded_error",
        "overloaded",
        "server_overloaded",
        "server_is_overloaded",
        "slow_down",
        "service_unavailable",
        PASSING,
    }
)
_BUSY_STATUS = frozenset({429, 503, 529})
_VAGUE_CODES = frozenset({"server_error", "internal_server_error", "api_error"})
"""Codes that proxies also give to what the server behind them refused for good."""
_PASSING_CODES = _BUSY_CODES | _VAGUE_CODES | {"timeout_error"}
_PERMANENT = re.compile(
    r"\b(?:BadRequest|Authentication|PermissionDenied|NotFound|UnprocessableEntity|UnsupportedParams"
    r"|ContextWindowExceeded|ContentPolicyViolation)Error\b|\bError code: 4(?:0[0-7]|1[0-9]|22)\b"
)
"""How LiteLLM and clients behind other proxies name an error that stays."""
_FAULT = re.compile(
    r"\bjinja|\btemplate\b|\b(?:Type|Key|Value|Attribute|Index|Name|Undefined|Assertion|Template\w*)Error\b"
    r"|can only concatenate|object is not |has no attribute|unsupported operand",
    re.IGNORECASE,
)
"""How servers word that they cannot do anything with a request, as with a chat template that does not take
it: that is a 500, and no later try changes it."""
_NEVER = SPENT | {UNTRUSTED, "idle_timeout"}
_MOST_UNREACHABLE = 3


@dataclass(frozen=True, slots=True)
class Backoff:
    """Waits between attempts: ``first`` · 2^(n-1) seconds, at most ``longest``, spread by ``jitter``."""

    first: float = 0.2
    longest: float = 30.0
    jitter: float = 0.1

    def wait(self, failures: int, random: Callable[[], float]) -> float:
        """Seconds before the attempt after ``failures`` failed ones; ``random`` gives 0 to 1."""
        if failures <= 0:
            return 0.0
        base = min(self.longest, self.first * 2.0 ** min(failures - 1, 30))
        return base * (1.0 - self.jitter + 2.0 * self.jitter * random())


@dataclass(frozen=True, slots=True)
class Retries:
    """How often to try again. The wait is ``backoff``, or what the server names up to ``longest_named``."""

    most: int = 5
    backoff: Backoff = field(default_factory=Backoff)
    longest_named: float = 120.0
    """A longer wait is reported to the user instead."""


class Tries:
    """The tries of one answer."""

    def __init__(self, retries: Retries, dice: Callable[[], float] = random.random) -> None:
        self._retries = retries
        self._dice = dice
        self._made: Counter[LinkProblem] = Counter()
        self._forgiven: set[str] = set()
        self._faults: set[str] = set()
        self.total = 0

    def at_once(self, error: LinkError, *, asked: bool) -> bool:
        """Whether to try again unseen: once for each thing that is no fault of the server's. ``asked`` says
        whether the request went out: a connection may have died while nobody looked."""
        name = error.code
        if name not in (PREVIOUS_NOT_FOUND, TOO_OLD):
            if not asked or error.kind is not LinkProblem.CLOSED or name == "idle_timeout":
                return False
            name = error.kind.value
        if name in self._forgiven:
            return False
        self._forgiven.add(name)
        return True

    def wait(self, error: LinkError) -> float | None:
        """Seconds before the next try, or None where there is none."""
        if not passing(error) or error.message in self._faults:
            return None
        if _FAULT.search(error.message):
            self._faults.add(error.message)
        retries = self._retries
        self._made[error.kind] += 1
        self.total += 1
        most = min(retries.most, _MOST_UNREACHABLE) if error.kind is LinkProblem.UNREACHABLE else retries.most
        if error.kind is LinkProblem.SERVER and error.retry_after is None and _is_busy(error):
            most = 2 * retries.most
        if self._made[error.kind] > most or self.total > 2 * retries.most:
            return None
        if error.retry_after is not None:
            return error.retry_after if error.retry_after <= retries.longest_named else None
        return retries.backoff.wait(self._made[error.kind], self._dice)


def when_to_ask_again(error: LinkError, retries: Retries, now: datetime) -> str:
    """A sentence that says when to ask again, where the server named a time too far off to wait."""
    seconds = error.retry_after
    if seconds is None or (seconds <= retries.longest_named and error.code not in SPENT):
        return ""
    try:
        then = now + timedelta(seconds=seconds)
    except OverflowError:
        return ""
    day = f"on {then:%A, %d %B}, " if then.date() != now.date() else ""
    minutes = round(seconds / 60)
    span = f"{minutes} min" if minutes < 120 else f"{round(seconds / 3600)} h"
    return f" Ask again {day}at {then:%H:%M} (in {span})."


def _is_busy(error: LinkError) -> bool:
    """Whether the server has more to do than it can: seconds may not be enough for that to pass."""
    return error.status in _BUSY_STATUS or error.code in _BUSY_CODES


def passing(error: LinkError) -> bool:
    """Whether the same request may well succeed a little later."""
    if error.lasting or error.code in _NEVER:
        return False
    if error.kind in (LinkProblem.CLOSED, LinkProblem.UNREACHABLE):
        return True
    if error.kind is not LinkProblem.SERVER:
        return False
    status = error.status or 0
    if error.code in _VAGUE_CODES and (400 <= status < 500 or _PERMANENT.search(error.message)):
        return status in _PASSING_STATUS
    return status in _PASSING_STATUS or status >= 500 or error.code in _PASSING_CODES


_FORBIDDEN = 403
"""The status of a key that is known and not allowed to do this: another would not help."""


class KeyRenewal:
    """Asks for another key, at most once between two answers, so that an expired login is renewed unseen."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._asked = False

    def answered(self) -> None:
        """Note that the server accepts the key: it has completed an answer."""
        self._asked = False

    async def renew(self, problem: LinkError, key: str | None) -> str | LinkError:
        """Another key than ``key``, which was refused with ``problem``; else the error to report.

        An error about a key says how to log in.
        """
        advice = self._login.refused
        if not _about_key(problem) or (advice and problem.message.endswith(advice)):
            return problem
        new = None
        if problem.status != _FORBIDDEN and self._login.refresh is not None and not self._asked:
            self._asked = True
            try:
                new = await self._login.refresh()
            except LinkError as error:
                problem = error
        if new and new != key:
            return new
        return problem.saying(f" {advice}") if advice else problem

    def advised(self, problem: LinkError) -> LinkError:
        """``problem``, and how to log in where it is about the key and does not say so yet."""
        advice = self._login.refused
        if not advice or not _about_key(problem) or problem.message.endswith(advice):
            return problem
        return problem.saying(f" {advice}")


def _about_key(problem: LinkError) -> bool:
    """Whether the server refused the key; one that could not be read says by itself what to do."""
    return problem.kind is LinkProblem.UNAUTHORIZED and problem.code != NO_KEY
