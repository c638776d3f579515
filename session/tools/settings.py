"""The table ``[tools]`` of the user's ``config.toml``: the tools that a model may use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from session.base.text.tables import Table

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Running(StrEnum):
    """When commands are run: never, once the user agrees, or always."""

    NEVER = "never"
    ASK = "ask"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The settings of the table. A project's own file cannot set any of them."""

    read: bool = True
    """Whether the model may look at the project by itself."""
    run: Running = Running.ASK
    """When commands are run."""
    environment: tuple[str, ...] = ()
    """Environment variables that commands get besides the usual ones."""


def read_tool_settings(values: Any) -> ToolSettings:
    """The settings in ``values``. Raises TableError."""
    table = Table("[tools]", values)
    settings = ToolSettings(
        read=table.flag("read", True),
        run=Running(table.choice("run", tuple(Running), Running.ASK)),
        environment=table.texts("environment"),
    )
    table.end()
    for name in settings.environment:
        if not _VARIABLE.fullmatch(name):
            raise table.wrong(f"environment: {name!r} is not the name of a variable")
    return settings


def running(settings: ToolSettings, *, attended: bool, trusted: bool) -> Running:
    """Whether commands may be run here.

    They run without asking only in a folder that the user trusts: the model reads what a repository holds,
    and the repository must not run anything through it. With nobody to ask, commands that need approval are
    not offered.
    """
    wanted = settings.run
    if wanted is Running.ALWAYS and not trusted:
        wanted = Running.ASK
    return Running.NEVER if wanted is Running.ASK and not attended else wanted
