"""All tools of a session by name, with the checks on a call of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from session.tools.arguments import BadArguments, read_arguments
from session.tools.tool import Tool, ToolProvider
from session.wire.protocol.items import FunctionTool


class UnknownTool(Exception):
    """There is no tool of that name; the message lists the tools for the model."""


class Toolbox:
    """The tools by name: ``own`` ones, which are always there, then those of providers.

    When two tools have the same name, the first one keeps it.
    """

    def __init__(self, own: Sequence[Tool] = ()) -> None:
        self._own = tuple(own)
        self._providers: list[ToolProvider] = []
        self._tools = {tool.spec.name: tool for tool in self._own}

    async def refresh(self) -> None:
        """Ask the providers for their tools; changes take effect with the next turn."""
        tools = {tool.spec.name: tool for tool in self._own}
        for provider in self._providers:
            for tool in await provider.tools():
                tools.setdefault(tool.spec.name, tool)
        self._tools = tools

    def as_now(self) -> Toolbox:
        """A copy with the present tools, so that changes during a turn only affect the next one."""
        return Toolbox(tuple(self._tools.values()))

    def only_reading(self) -> Toolbox:
        """A copy with the present tools that only read."""
        return Toolbox(tuple(tool for tool in self._tools.values() if tool.spec.reads_only))

    def add(self, provider: ToolProvider) -> None:
        """Add a provider; its tools appear with the next :meth:`refresh`."""
        self._providers.append(provider)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in the order in which they are offered."""
        return tuple(self._tools)

    def definitions(self) -> tuple[FunctionTool, ...]:
        """The tools as Responses definitions."""
        return tuple(tool.spec.definition() for tool in self._tools.values())

    def find(self, name: str) -> Tool:
        """The tool called ``name``. Raises UnknownTool."""
        tool = self._tools.get(name)
        if tool is None:
            known = ", ".join(self._tools) or "none"
            raise UnknownTool(f"There is no tool called {name[:60]!r}; there are {known}.")
        return tool

    def arguments(self, tool: Tool, text: str) -> Mapping[str, Any]:
        """The checked arguments of a call. Raises BadArguments with a message for the model."""
        arguments = read_arguments(text, tool.spec.parameters)
        if why := tool.refusal(arguments):
            raise BadArguments(why)
        return arguments
