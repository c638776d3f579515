"""From a folder and flags to a session that can be opened.

Nothing is dialled here: what is missing (a key, say) is noted, so that a front end can open and
say it, while a command without a screen can refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from session.config import ConfigError, Flags, Settings, load_settings
from session.credentials import find_key
from session.paths import config_folder
from session.providers import Catalogue, Model
from session.service import Service
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError
from session.workspace import Workspace, open_workspace


@dataclass(frozen=True, slots=True)
class Opening:
    """What a session is made of. ``endpoint`` is None where something is missing: ``missing`` says
    what to do then, in one line."""

    workspace: Workspace
    settings: Settings
    catalogue: Catalogue
    model: Model
    endpoint: Endpoint | None
    missing: str
    service: Service = field(default_factory=Service)
    """How the provider is talked to."""


def open_project(folder: Path, flags: Flags, environ: Mapping[str, str]) -> Opening:
    """Read the settings for ``folder`` and find the key for its provider.

    Raises WorkspaceError, ConfigError or CredentialsError.
    """
    workspace = open_workspace(folder, environ)
    config = config_folder(environ)
    settings, catalogue = load_settings(workspace.root, config, environ, flags)
    endpoint, missing = _endpoint(settings, catalogue, config, environ)
    model = catalogue.model(settings.model, settings.provider)
    provider = catalogue.provider(settings.provider)
    if flags.fast and not provider.has_fast(model.name):
        raise ConfigError(f"--fast: {provider.name} has no faster tier for {model.name}")
    service = provider.service
    if settings.base_url != provider.base_url:
        service = replace(service, lanes=1)  # what stands before a provider seldom passes lanes on
    return Opening(workspace, settings, catalogue, model, endpoint, missing, service)


def _endpoint(
    settings: Settings, catalogue: Catalogue, config: Path, environ: Mapping[str, str]
) -> tuple[Endpoint | None, str]:
    provider = catalogue.provider(settings.provider)
    if not settings.base_url:
        return None, f"provider {provider.name!r} has no address: give --base-url"
    key = find_key(provider, config, environ)
    endpoint = Endpoint(settings.base_url, key.secret if key else None, provider.headers, provider.key_header)
    try:
        endpoint.websocket_url()
    except LinkError as problem:
        return None, problem.message
    if key is None and not endpoint.is_loopback:
        name = provider.key_variable or f"{provider.name} in {config / 'credentials.toml'}"
        return None, f"no key: set {name}, or practise without one: spark demo"
    return endpoint, ""
