"""Gets another key when the server refuses the present one."""

from __future__ import annotations

from session.wire.transport.endpoint import Login
from session.wire.transport.errors import NO_KEY, LinkError, LinkProblem

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
        told = problem.code == NO_KEY or (advice and problem.message.endswith(advice))
        if problem.kind is not LinkProblem.UNAUTHORIZED or told:
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
