"""All tools of a session by name, with the checks on a call of them.

Reads a call's arguments, JSON from a model, and checks them against the tool's schema.

It checks what tool schemas commonly use (types, required, enum, bounds, no other keys) and ignores the rest,
because the tool itself checks its arguments too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from context.project.snapshot import ReadsProject
from session.tools.look import LookingTool
from session.tools.tool import Tool, ToolProvider
from session.wire.protocol.items import FunctionTool

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


class BadArguments(ValueError):
    """The arguments cannot be used; the message tells the model what is wrong and what is expected."""


def read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in ``text``, without optional ones that are null. Raises BadArguments."""
    try:
        given = json.loads(text.strip() or "{}")
        if isinstance(given, str) and given.lstrip().startswith("{"):  # some models encode it twice
            given = json.loads(given)
    except RecursionError:
        raise BadArguments("The arguments are nested too deep.") from None
    except ValueError as problem:
        raise BadArguments(f"The arguments are not valid JSON ({problem}).") from None
    if not isinstance(given, dict):
        raise BadArguments("The arguments must be a JSON object.")
    required = _required(schema)
    given = {name: value for name, value in given.items() if value is not None or name in required}
    _check_object(given, schema, "")
    return given


def _check_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        properties = {}
    for name in _required(schema):
        if name not in value:
            raise BadArguments(f"{where}{name} is missing.")
    for name, entry in value.items():
        if name in properties:
            _check(entry, properties[name], f"{where}{name}")
        elif schema.get("additionalProperties") is False:
            known = ", ".join(properties) or "none"
            raise BadArguments(f"There is no argument {(where + name)[:80]!r}; there are {known}.")


def _required(schema: Mapping[str, Any]) -> list[str]:
    """The required names; a server's schema may hold anything under ``required``."""
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _check(value: Any, schema: Any, where: str) -> None:
    if not isinstance(schema, Mapping):
        return
    kind = schema.get("type")
    if isinstance(kind, str) and kind in _TYPES and not _is_a(value, kind):
        raise BadArguments(f"{where} must be {_called(kind)}, not {_shown(value)}.")
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise BadArguments(f"{where} must be one of {', '.join(map(_shown, choices))}, not {_shown(value)}.")
    least, most = schema.get("minimum"), schema.get("maximum")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(least, int | float) and value < least:
            raise BadArguments(f"{where} must be at least {least}, not {value}.")
        if isinstance(most, int | float) and value > most:
            raise BadArguments(f"{where} must be at most {most}, not {value}.")
    if isinstance(value, dict):
        _check_object(value, schema, f"{where}.")
    elif isinstance(value, list):
        for entry in value:
            _check(entry, schema.get("items"), f"each of {where}")


def _is_a(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _called(kind: str) -> str:
    return {"integer": "a whole number", "boolean": "true or false", "array": "a list"}.get(kind, f"a {kind}")


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else text[:60] + "…"


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

    def offer(self, tool: Tool) -> None:
        """Add an own tool, if it is not there yet, from now on."""
        self.withdraw(tool)
        self._own = (*self._own, tool)
        self._tools = {each.spec.name: each for each in (*self._own, *self._tools.values())}

    def withdraw(self, tool: Tool) -> None:
        """Remove an own tool, from now on."""
        self._own = tuple(each for each in self._own if each is not tool)
        self._tools = {name: each for name, each in self._tools.items() if each is not tool}

    def as_now(self) -> Toolbox:
        """A copy with the present tools, so that changes during a turn only affect the next one."""
        return Toolbox(tuple(self._tools.values()))

    def only_reading(self, project: ReadsProject) -> Toolbox:
        """A copy with the present tools that only read, of which those that look at files look at
        ``project``."""
        reading = [tool for tool in self._tools.values() if tool.spec.reads_only]
        return Toolbox(
            tuple(tool.looking_at(project) if isinstance(tool, LookingTool) else tool for tool in reading)
        )

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
