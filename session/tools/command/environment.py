"""The environment of programs that act for the model: commands and MCP servers.

It is built from a list of allowed names (``environment.toml``), not by removing known secrets: nobody knows
all the names under which credentials are kept. The user's configuration can add names.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

_PASSWORD_IN_URL = re.compile(r"://[^/\s@]*:[^/\s@]+@")


def server_environment(environ: Mapping[str, str], added: Collection[str] = ()) -> dict[str, str]:
    """The variables for a program that does not work in the project, such as an MCP server.

    Those that name folders of code are left out: a user who works on the project has it in them, and the
    program would run the project's code without being told to.
    """
    code = set(_allowed()["code"]) - set(added)
    return {name: value for name, value in allowed_environment(environ, added).items() if name not in code}


def allowed_environment(environ: Mapping[str, str], added: Collection[str] = ()) -> dict[str, str]:
    """The variables of ``environ`` that are on the list, and those that ``added`` names.

    Added variables are taken as they are. A listed one is left out where its name looks like that of a
    secret, or where its value is a URL with a password.
    """
    return {
        name: value
        for name, value in environ.items()
        if name in added or (_is_allowed(name) and not _PASSWORD_IN_URL.search(value))
    }


def without_keys(environ: Mapping[str, str], variables: Iterable[str]) -> dict[str, str]:
    """``environ`` without the key ``variables``, and without others that hold the same key."""
    names = {name for name in variables if name}
    keys = {environ[name] for name in names if environ.get(name)}
    return {name: value for name, value in environ.items() if name not in names and value not in keys}


def _is_allowed(name: str) -> bool:
    allowed = _allowed()
    if name in allowed["names"]:
        return True
    return name.startswith(tuple(allowed["prefixes"])) and not re.search(allowed["secret"], name)


@cache
def _allowed() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("environment.toml").read_text("utf-8"))
