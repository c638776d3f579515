"""What the user lets a model do by tools: the table ``[tools]`` of the user's ``config.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Running(StrEnum):
    """Whether commands may be run."""

    NEVER = "never"
    ASK = "ask"
    ALWAYS = "always"


class ToolsError(ValueError):
    """A setting of the table cannot be used."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The table. A project's own file cannot set any of it."""

    read: bool = True
    """Whether the model may look at the project by itself."""
    run: Running = Running.ASK
    environment: tuple[str, ...] = ()
    """Variables that commands are given besides the usual ones."""


def read_tool_settings(table: Any) -> ToolSettings:
    """The settings in ``table``. Raises ToolsError naming the key."""
    if not isinstance(table, Mapping):
        raise ToolsError("[tools] must be a table")
    settings = ToolSettings()
    for key, value in table.items():
        if key == "read":
            if not isinstance(value, bool):
                raise ToolsError(f"[tools] read must be true or false, not {value!r}")
            settings = replace(settings, read=value)
        elif key == "run":
            if value not in tuple(Running):
                raise ToolsError(f'[tools] run must be "never", "ask" or "always", not {value!r}')
            settings = replace(settings, run=Running(value))
        elif key == "environment":
            settings = replace(settings, environment=_variables(value))
        else:
            raise ToolsError(f"[tools] {key!r} cannot be set; what can is environment, read, run")
    return settings


def _variables(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ToolsError(f'[tools] environment must be a list of names, as in ["AWS_PROFILE"], not {value!r}')
    for name in value:
        if not isinstance(name, str) or not _VARIABLE.fullmatch(name):
            raise ToolsError(f"[tools] environment: {name!r} is not the name of a variable")
    return tuple(value)


def running(settings: ToolSettings, *, attended: bool, trusted: bool) -> Running:
    """Whether commands may be run here.

    Without asking only in a folder that the user trusts: what a repository holds reaches the model, and
    must not run anything by it. With nobody to ask, commands that would have to be asked about are not
    to be had.
    """
    wanted = settings.run
    if wanted is Running.ALWAYS and not trusted:
        wanted = Running.ASK
    return Running.NEVER if wanted is Running.ASK and not attended else wanted
