"""The table ``[tools]`` of the user's ``config.toml``: the tools that a model may use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from session.base.text.tables import Table
from session.tools.command.rules import Rule, RuleError, parsed_rule

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Running(StrEnum):
    """When commands are run: never, within walls, once the user agrees, or always."""

    NEVER = "never"
    SANDBOX = "sandbox"
    """At once within walls; what needs out of them asks."""
    ASK = "ask"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The settings of the table. A project's own file cannot set any of them."""

    read: bool = True
    """Whether the model may look at the project by itself."""
    run: Running | None = None
    """When commands are run; None where the user's file does not say."""
    environment: tuple[str, ...] = ()
    """Environment variables that commands get besides the usual ones."""
    allow: tuple[Rule, ...] = ()
    """Commands that need no question."""


def read_tool_settings(values: Any) -> ToolSettings:
    """The settings in ``values``. Raises TableError."""
    table = Table("[tools]", values)
    settings = ToolSettings(
        read=table.flag("read", True),
        run=Running(table.choice("run", tuple(Running), Running.ASK)) if table.has("run") else None,
        environment=table.texts("environment"),
        allow=read_rules(table, "allow"),
    )
    table.end()
    for name in settings.environment:
        if not _VARIABLE.fullmatch(name):
            raise table.wrong(f"environment: {name!r} is not the name of a variable")
    return settings


def read_rules(table: Table, key: str) -> tuple[Rule, ...]:
    """The rules under ``key``, for commands that need no question. Raises TableError."""
    try:
        return tuple(map(parsed_rule, table.texts(key)))
    except RuleError as problem:
        raise table.wrong(f"{key}: {problem}") from problem


def running(settings: ToolSettings, *, attended: bool, trusted: bool) -> Running:
    """When commands may be run here: within walls, unless the user's file says something else.

    They run without asking and without walls only in a folder that the user trusts: the model reads what a
    repository holds, and the repository must not run anything through it. With nobody to ask, commands that
    need approval are not offered, and those within walls only where the user's file says so.
    """
    wanted = settings.run
    if wanted is None:
        return Running.SANDBOX if attended else Running.NEVER
    if wanted is Running.ALWAYS and not trusted:
        wanted = Running.ASK
    return Running.NEVER if wanted is Running.ASK and not attended else wanted
