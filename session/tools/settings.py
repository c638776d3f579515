"""What the user lets a model do by tools: the table ``[tools]`` of the user's ``config.toml``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Running(StrEnum):
    """Whether commands may be run."""

    NEVER = "never"
    ASK = "ask"
    ALWAYS = "always"


class ToolsError(ValueError):
    """A setting of the table cannot be used."""


@dataclass(frozen=True, slots=True)
class ToolSettings:
    """The table. ``read``: whether the model may look at the project by itself. A project's own file
    cannot set any of it."""

    read: bool = True
    run: Running = Running.ASK


def read_tool_settings(table: Any) -> ToolSettings:
    """The settings in ``table``. Raises ToolsError naming the key."""
    if not isinstance(table, Mapping):
        raise ToolsError("[tools] must be a table")
    settings = ToolSettings()
    for key, value in table.items():
        if key == "read" and isinstance(value, bool):
            settings = ToolSettings(value, settings.run)
        elif key == "run" and value in tuple(Running):
            settings = ToolSettings(settings.read, Running(value))
        elif key in ("read", "run"):
            wanted = "true or false" if key == "read" else '"never", "ask" or "always"'
            raise ToolsError(f"[tools] {key} must be {wanted}, not {value!r}")
        else:
            raise ToolsError(f"[tools] {key!r} cannot be set; what can is read, run")
    return settings


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


def without_keys(environ: Mapping[str, str], variables: Iterable[str]) -> dict[str, str]:
    """``environ`` for a command: without the key ``variables``, and without others that hold such a key."""
    names = {name for name in variables if name}
    keys = {environ[name] for name in names if environ.get(name)}
    return {name: value for name, value in environ.items() if name not in names and value not in keys}
