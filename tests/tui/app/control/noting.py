"""What a control calls, as text: stand-ins for the panes and the session of which every call is noted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


class Noted:
    """Takes any call and notes it in ``log``, as in ``status.say('text')``; ``given`` are its attributes."""

    def __init__(self, log: list[str], name: str = "", **given: Any) -> None:
        self._log, self._name = log, name
        self.__dict__.update(given)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Noted(self._log, f"{self._name}.{name}" if self._name else name)
        self.__dict__[name] = made
        return made

    def __call__(self, *values: Any, **named: Any) -> None:
        told = [*map(repr, values), *(f"{key}={value!r}" for key, value in named.items())]
        self._log.append(f"{self._name}({', '.join(told)})")

    def answers(self, value: Any = None) -> Callable[..., Any]:
        """A call that is noted like any other and gives ``value``."""

        def call(*values: Any, **named: Any) -> Any:
            self(*values, **named)
            return value

        return call

    def gives(self, value: Any = None) -> Callable[..., Awaitable[Any]]:
        """The same as a coroutine; an exception is raised."""

        async def call(*values: Any, **named: Any) -> Any:
            self(*values, **named)
            if isinstance(value, Exception):
                raise value
            return value

        return call


class Started:
    """The background tasks of a control, run when a test says so."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._waiting: list[Coroutine[Any, Any, Any]] = []

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> None:
        self.names.append(name)
        self._waiting.append(work)

    async def run(self) -> None:
        """Do all that was started."""
        while self._waiting:
            await self._waiting.pop(0)


def started() -> Any:
    """Background tasks in place of those of the app."""
    return Started()
