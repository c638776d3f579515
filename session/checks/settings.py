"""The tables ``[[checks]]`` of a configuration file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from session.base.text.sanitize import invisible_character
from session.base.text.tables import Table, TableError
from session.checks.check import FILES, SECONDS, TESTS, Check, Kind

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_MOST_SECONDS = 86_400
LONGEST_COMMAND = 2_000


def read_checks(values: Any, source: str = "config.toml") -> tuple[Check, ...]:
    """The checks of a file called ``source``. Raises TableError."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise TableError("[[checks]] must be a list of tables, each under [[checks]]")
    checks = tuple(_check(number, each, source) for number, each in enumerate(values, 1))
    names = [check.name for check in checks]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"[[checks]] has {name!r} more than once; each check needs a name of its own")
    return checks


def _check(number: int, values: Any, source: str) -> Check:
    table = Table(f"[[checks]] number {number}", values)
    name = table.text("name")
    if not _NAME.fullmatch(name):
        raise table.wrong("needs a name of at most 40 letters, digits and any of _ . : -")
    check = Check(
        name,
        command=table.text("command"),
        kind=Kind(table.choice("kind", tuple(Kind), Kind.OTHER)),
        seconds=table.seconds("seconds", _MOST_SECONDS) or SECONDS,
        files=table.texts("files"),
        network=table.flag("network", default=False),
        source=source,
    )
    table.end()
    if problem := command_problem(check.command):
        raise table.wrong(problem)
    return check


def command_problem(command: str) -> str:
    """Why ``command`` cannot be a check's; empty if it can."""
    if not command.strip():
        return "needs a command that is not empty"
    if len(command) > LONGEST_COMMAND:
        return f"has a command of more than {LONGEST_COMMAND:,} characters; put it into a script"
    if hidden := invisible_character(command):
        return f"has a command with an invisible character ({hidden}); leave it out"
    if quoted := next((name for name in (FILES, TESTS) if _is_quoted(command, name)), ""):
        return f"has {quoted} between quotes in its command; leave these out, since each name gets its own"
    return ""


def _is_quoted(command: str, name: str) -> bool:
    """Whether ``name`` stands between quotes somewhere: there the shell would read file names as code."""
    quote, at = "", 0
    while at < len(command):
        if quote and command.startswith(name, at):
            return True
        char = command[at]
        if char == "\\" and quote != "'":
            at += 1
        elif char == quote:
            quote = ""
        elif char in "\"'`" and not quote:
            quote = char
        at += 1
    return False
