"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from tui.cli.shell_completion import efforts, models, providers
from tui.front.exits import CONFIGURATION, USAGE, leave

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.project.workspace import Workspace
    from session.setup.opening import Opening

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

folder_option = click.option(
    "-C",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Work in DIR instead of this folder.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
theme_option = click.option("--theme", metavar="NAME", help="The theme; /theme shows them all.")


def editing_options(command: Decorated) -> Decorated:
    """The options of every command whose model edits this folder."""
    return agent_options(folder_option(command))


def agent_options(command: Decorated) -> Decorated:
    """The options of every command whose model edits files."""
    review = click.option("--review", is_flag=True, default=None, help="Hold every edit until you accept it.")
    return _model_options(review(command))


def asking_options(command: Decorated) -> Decorated:
    """The options of every command that only asks a model about this folder."""
    return _model_options(folder_option(command))


def _model_options(command: Decorated) -> Decorated:
    for option in reversed(
        (
            click.option("--base-url", metavar="URL", help="The server's address, up to /responses."),
            click.option("--model", metavar="ID", shell_complete=models, help="The model to ask."),
            click.option("--provider", metavar="NAME", shell_complete=providers, help="Who serves it."),
            click.option(
                "--effort",
                metavar="LEVEL",
                shell_complete=efforts,
                help="low, medium, high, xhigh or auto.",
            ),
            click.option("--local", metavar="FILE.gguf", help="Run this model here (docs/local.md)."),
            click.option("--fast", is_flag=True, default=None, help="The provider's faster service tier."),
            click.option("--trust", is_flag=True, help="Use AGENTS.md and .spark.toml this time, unasked."),
        )
    ):
        command = option(command)
    return command


def opening(folder: Path, *, theme: str | None = None, **given: Any) -> Opening:
    """The project, settings and key for a command; exits with 2 where an option is wrong, with 3 where
    anything else is."""
    from session.models.keys.credentials import CredentialsError
    from session.project.workspace import NoFolderError, WorkspaceError
    from session.setup.config import ConfigError, FlagError, Flags
    from session.setup.opening import open_project

    try:
        return open_project(folder, Flags(theme=theme, **given), os.environ)
    except FlagError as problem:
        leave(str(problem), USAGE)
    except NoFolderError as problem:
        leave(str(problem), _code_for(folder))
    except (ConfigError, CredentialsError, WorkspaceError) as problem:
        leave(str(problem), CONFIGURATION)


def _code_for(folder: Path) -> int:
    """The exit code where ``folder`` is none: without ``-C`` it is the one that the shell is in."""
    return CONFIGURATION if folder == Path() else USAGE


def typed_checks(commands: tuple[str, ...]) -> list[Check]:
    """The checks of ``--check``: to write a command there is to agree to it."""
    from session.checks.check import Check
    from session.checks.settings import command_problem

    for text in commands:
        if problem := command_problem(text):
            leave(f"--check {problem}", USAGE)
    return [Check(" ".join(text.split())[:40], text, source="--check") for text in commands]


def session_file(workspace: Workspace, name: str) -> Path:
    """The journal of the session called ``name``. Exits with 2 where there is none, with 3 where it cannot be
    read."""
    from session.base.storage.line_files import StoreError
    from session.record.journal.session_list import NoSessionError, check_readable, find_session

    try:
        file = find_session(workspace.folders.sessions, name)
        check_readable(file)
    except NoSessionError as problem:
        leave(str(problem), USAGE)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    return file


def last_session_file(workspace: Workspace) -> tuple[Path, str | None]:
    """The journal of the last session that can be read, and a line on those that cannot. Exits with 2 where
    there is no session, with 3 where none can be read."""
    from session.base.storage.line_files import StoreError
    from session.base.text.sanitize import clean_line
    from session.record.journal.session_list import NoSessionError, last_session

    try:
        found = last_session(workspace.folders.sessions)
    except NoSessionError as problem:
        leave(str(problem), USAGE)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    if not found.problems:
        return found.file, None
    more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
    return found.file, clean_line(f"{found.problems[0]}{more}; this is the session before, {found.file.stem}")


def opening_workspace(folder: Path) -> Workspace:
    """The project at ``folder``, for commands that ask no model; exits with 2 where there is no such folder,
    with 3 where it cannot be opened."""
    from session.project.workspace import NoFolderError, WorkspaceError, open_workspace

    try:
        return open_workspace(folder, os.environ)
    except NoFolderError as problem:
        leave(str(problem), _code_for(folder))
    except WorkspaceError as problem:
        leave(str(problem), CONFIGURATION)
