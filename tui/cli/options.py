"""Options and arguments that several commands share, what they stand for, and how a shell completes them.

Completion offers nothing where the names cannot be read (a missing folder, an invalid configuration): running
the command tells why.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from tui.front.exits import CONFIGURATION, USAGE, leave

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.project.workspace import Workspace
    from session.setup.opening import Opening


Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_MISTYPED = 0.8
"""Least similarity of a word and a command's name, from 0 to 1, as difflib counts it, for a mistake."""

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
            click.option("--model", metavar="ID", shell_complete=complete_models, help="The model to ask."),
            click.option(
                "--provider", metavar="NAME", shell_complete=complete_providers, help="Who serves it."
            ),
            click.option(
                "--account", metavar="NAME", shell_complete=complete_accounts, help="Whose plan pays."
            ),
            click.option(
                "--effort",
                metavar="LEVEL",
                shell_complete=complete_efforts,
                help="One of the model, as low, high or max, or auto.",
            ),
            click.option("--local", metavar="FILE.gguf", help="Run this model here (docs/local.md)."),
            click.option("--fast", is_flag=True, default=None, help="The provider's faster service tier."),
            click.option(
                "--max-cost",
                type=click.FloatRange(0, 1_000_000),
                metavar="DOLLARS",
                help="The most that a turn may cost ([budget] in config.toml); 0 for no limit.",
            ),
            click.option("--trust", is_flag=True, help="Use AGENTS.md and .spark.toml this time, unasked."),
        )
    ):
        command = option(command)
    return command


def opening(folder: Path, *, theme: str | None = None, **given: Any) -> Opening:
    """The project, settings and key for a command; exits with 2 where an option is wrong, with 3 where
    anything else is."""
    from session.models.credentials import CredentialsError
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
    from session.checks.check import Check, command_problem

    for text in commands:
        if problem := command_problem(text):
            leave(f"--check {problem}", USAGE)
    return [Check(" ".join(text.split())[:40], text, source="--check") for text in commands]


def session_file(workspace: Workspace, name: str) -> Path:
    """The journal of the session called ``name``. Exits with 2 where there is none, with 3 where it cannot be
    read."""
    from session.base.storage.private_files import StoreError
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
    from session.base.storage.private_files import StoreError
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


def prompt_argument(*, required: bool = False) -> Callable[[Decorated], Decorated]:
    """The argument ``prompt``: one word of the command line, in quotes where it has blanks."""
    metavar = "PROMPT" if required else "[PROMPT]"
    return click.argument("prompt", nargs=-1, required=required, metavar=metavar, callback=_one_prompt)


def _one_prompt(context: click.Context, _parameter: click.Parameter, words: tuple[str, ...]) -> str | None:
    if len(words) > 1:
        refuse_mistyped(words[0] if context.command_path.endswith(" open") else None)
        command = context.command_path.removesuffix(" open")
        raise click.UsageError(f"Put the prompt in quotes: {command} {shlex.quote(' '.join(words))}")
    return words[0] if words else None


def refuse_mistyped(prompt: str | None) -> None:
    """Exit with 2 where the first word of ``spark PROMPT`` is a command's name with a typing mistake."""
    if prompt is None or not re.fullmatch("[a-z]{3,}", prompt):
        return
    if near := _near_command(prompt):
        leave(
            f"there is no command {prompt!r}; did you mean spark {near}? As a prompt, type it in the app",
            USAGE,
        )


def _near_command(word: str) -> str:
    """The command whose letters are in ``word`` in another order, or that is most like it; empty where it is
    like none, or a command itself."""
    from difflib import get_close_matches  # imported for a first word that may be a command alone

    from tui.cli.main import COMMANDS

    if word in COMMANDS:
        return ""
    turned = [name for name in COMMANDS if sorted(name) == sorted(word)]
    return next(iter(turned or get_close_matches(word, COMMANDS, 1, _MISTYPED)), "")


def complete_sessions(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The project's sessions, newest first, with their first prompt."""
    from session.base.text.sanitize import clean_line
    from session.project.workspace import WorkspaceError, open_workspace
    from session.record.journal.session_list import list_sessions

    try:
        workspace = open_workspace(context.params.get("folder") or Path(), os.environ)
        rows = list_sessions(workspace.folders.sessions).rows
    except WorkspaceError:
        return []
    return [
        CompletionItem(row.name, help=clean_line(row.title)[:60])
        for row in rows
        if row.name.startswith(begun)
    ]


def complete_efforts(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The effort levels."""
    from session.models.catalogue import EFFORTS

    return [CompletionItem(effort) for effort in EFFORTS if effort.startswith(begun)]


def complete_providers(
    context: click.Context, parameter: click.Parameter, begun: str
) -> list[CompletionItem]:
    """The providers of the catalogue, including the user's own."""
    return [CompletionItem(name) for name in sorted(_catalogue()[0]) if name.startswith(begun)]


def complete_accounts(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The accounts of the plans that are signed in to."""
    from session.base.storage.folders import config_folder
    from session.models.catalogue import load_catalogue
    from session.models.key import CredentialsError
    from session.models.sign_in.accounts import AccountFile

    config, names = config_folder(os.environ), list[str]()
    try:
        for provider in load_catalogue().providers.values():
            if provider.plan is not None:
                names += AccountFile(config, provider.name).read().rows
    except CredentialsError:
        return []
    return [CompletionItem(name) for name in names if name.startswith(begun)]


def complete_models(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The models of the catalogue; of the given provider, if one was named."""
    wanted = context.params.get("provider")
    return [
        CompletionItem(name, help=provider)
        for name, provider in _catalogue()[1].items()
        if name.startswith(begun) and wanted in (None, provider)
    ]


def _catalogue() -> tuple[list[str], dict[str, str]]:
    """The providers by name, and the models with their provider."""
    from session.base.storage.folders import config_folder
    from session.setup.config import ConfigError, Flags, load_settings

    try:
        _, known = load_settings(Path(), config_folder(os.environ), os.environ, Flags())
    except ConfigError:
        return [], {}
    return list(known.providers), {model.name: model.provider for model in known.models.values()}
