"""All the tools of a session, whoever provides them, and how one call of them is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from session.protocol.items import FunctionTool
from session.tools.arguments import BadArguments, read_arguments
from session.tools.tool import Tool, ToolProvider


class UnknownTool(Exception):
    """There is no tool of that name; the message tells the model which there are."""


class Toolbox:
    """The tools by name: ``own`` ones, which are always there, and those of providers. Whoever has a name
    first keeps it."""

    def __init__(self, own: Sequence[Tool] = ()) -> None:
        self._own = tuple(own)
        self._providers: list[ToolProvider] = []
        self._tools = {tool.spec.name: tool for tool in self._own}

    async def refresh(self) -> None:
        """Ask the providers what there is now; what is offered changes with the next turn."""
        tools = {tool.spec.name: tool for tool in self._own}
        for provider in self._providers:
            for tool in await provider.tools():
                tools.setdefault(tool.spec.name, tool)
        self._tools = tools

    def as_now(self) -> Toolbox:
        """The tools that there are now, for a turn: what comes and goes meanwhile is the next one's."""
        return Toolbox(tuple(self._tools.values()))

    def add(self, provider: ToolProvider) -> None:
        """Take in a provider; its tools are there after the next :meth:`refresh`."""
        self._providers.append(provider)

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in the order they are offered."""
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
        """The arguments of a call, checked. Raises BadArguments with a sentence for the model."""
        arguments = read_arguments(text, tool.spec.parameters)
        if why := tool.refusal(arguments):
            raise BadArguments(why)
        return arguments
