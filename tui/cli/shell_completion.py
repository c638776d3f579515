"""Shell completion of arguments: session names, providers, models, efforts.

If they cannot be read (a missing folder, an invalid configuration) nothing is offered: running the command
tells why.
"""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import CompletionItem


def sessions(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
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


def efforts(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The effort levels."""
    from session.models.catalogue import EFFORTS

    return [CompletionItem(effort) for effort in EFFORTS if effort.startswith(begun)]


def providers(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """The providers of the catalogue, including the user's own."""
    return [CompletionItem(name) for name in sorted(_catalogue()[0]) if name.startswith(begun)]


def models(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
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
