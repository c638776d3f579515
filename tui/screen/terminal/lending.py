"""Lending the terminal: to another app, to escape sequences that draw nothing, and to another program, such
as the user's own editor (``$VISUAL``, else ``$EDITOR``), which is given a text by way of a private file.
"""

from __future__ import annotations

import asyncio
import errno
import os
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

from textual.app import App

from tui.screen.terminal.driver import SparkDriver

_PLUS_LINE = frozenset({"vi", "vim", "nvim", "kak", "nano", "micro", "joe", "emacs", "emacsclient"})
"""Editors that take the line to begin at as ``+40`` before the file; others begin where they like."""
_COLON_LINE = frozenset({"hx", "helix"})
"""Editors that take it as ``FILE:40``: before version 23, Helix took ``+40`` for the name of a file."""


@contextmanager
def given_back(app: App[Any]) -> Iterator[None]:
    """While this lasts another program has the terminal; spark goes on behind it."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        with driver.away():
            yield
    else:
        yield


def write_sequence(app: App[Any], sequence: str) -> None:
    """Send the terminal an escape sequence that draws nothing."""
    if app._driver is not None:
        app._driver.write(sequence)


def hold_copied(app: App[Any], text: str) -> None:
    """Have Ctrl+V in spark paste ``text``."""
    app._clipboard = text


def keep_keys(app: App[Any]) -> None:
    """From now on leave keys with the terminal, for the app that takes it over next."""
    driver = app._driver
    if isinstance(driver, SparkDriver):
        driver.keep_keys()


def set_mouse(app: App[Any]) -> bool:
    """Turn mouse reporting the other way; whether it is on now. Without a terminal it stays off."""
    driver = app._driver
    if not isinstance(driver, SparkDriver):
        return False
    driver.report_mouse(not driver.reports_mouse)
    return driver.reports_mouse


class EditorProblem(Exception):
    """The editor could not be run, or left no text; the message says why."""


def editor_command(root: Path) -> list[str]:
    """The command of the user's editor. Raises EditorProblem where none is set, it is no command, or there is
    no such program outside of the project ``root``."""
    from session.base.programs import command_outside

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not command.strip():
        raise EditorProblem("no editor is set: export VISUAL or EDITOR, such as VISUAL=hx")
    try:
        words = shlex.split(command)
        if os.sep in words[0] and not Path(words[0]).is_absolute():
            raise FileNotFoundError(errno.ENOENT, "a path in the project", words[0])
        return command_outside(words, root)
    except ValueError as problem:
        raise EditorProblem(f"VISUAL or EDITOR is not a command: {problem}") from problem
    except FileNotFoundError as problem:
        raise EditorProblem(
            f"the editor {problem.filename} was not found outside of the project: "
            "name it in VISUAL by its full path"
        ) from problem


async def edit_outside(command: list[str], path: str, text: str, line: int = 1) -> str:
    """The ``text`` as the user left it. ``path`` gives the file its name, and so its language. Raises
    EditorProblem; the text is then as it was."""
    name = PurePosixPath(path).name or "text.md"
    with tempfile.TemporaryDirectory(prefix="spark-edit-") as folder:
        file = Path(folder) / name
        await asyncio.to_thread(file.write_text, text, "utf-8", "surrogateescape", "\n")
        try:
            process = await asyncio.create_subprocess_exec(*command, *_at(command[0], str(file), line))
        except OSError as problem:
            raise EditorProblem(f"{command[0]} cannot be run: {problem.strerror}") from problem
        code = await process.wait()
        if code:
            raise EditorProblem(f"{command[0]} ended with {code}: the text is as it was")
        try:
            edited = await asyncio.to_thread(file.read_bytes)
        except OSError as problem:
            raise EditorProblem(f"{command[0]} left no text: {problem.strerror}") from problem
    return edited.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")


def _at(editor: str, file: str, line: int) -> list[str]:
    """The arguments by which ``editor`` opens ``file`` at a line, from 1."""
    name = PurePosixPath(editor).name
    if line > 1 and name in _PLUS_LINE:
        return [f"+{line}", file]
    return [f"{file}:{line}" if line > 1 and name in _COLON_LINE else file]
