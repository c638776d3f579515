"""Collects what a session needs from a folder and the command line's flags.

Nothing is dialled here, and only keys that a file or variable holds are read. What is missing, such as a key,
is noted, so that the app can open and say it while a command without a screen can fail.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.storage.folders import config_folder, state_folder
from session.base.storage.private_files import StoreError
from session.models.catalogue import Catalogue, Model, Provider
from session.models.credentials import CredentialsError, Key, KeyPlace, KeySupply, find_key
from session.models.engine.settings import LocalError
from session.models.sign_in.plan import sign_in_command
from session.models.token_ratios import read_ratios
from session.project.trust import AnswerFile, ProjectTrust
from session.project.workspace import Workspace, open_workspace
from session.setup.config import LOCAL_PROVIDER, ConfigError, FlagError, Flags, Settings, load_settings
from session.setup.default_model import DefaultModels, served_at, with_provider_by_key
from session.tools.command.environment import allowed_environment, without_keys
from session.tools.mcp.settings import ServerFolders
from session.wire.transport.endpoint import Endpoint, Login
from session.wire.transport.errors import NO_KEY, LinkError, LinkProblem
from session.wire.transport.service import Service

if TYPE_CHECKING:
    from session.models.engine.model import LocalModel
    from session.models.engine.process import Engine

_HERE = "http://127.0.0.1"
"""The embedded engine's address until it is known."""


@dataclass(frozen=True, slots=True)
class Opening:
    """Everything that a session needs. ``endpoint`` is None if something is missing; then ``missing`` says in
    one line what to do."""

    workspace: Workspace
    settings: Settings
    catalogue: Catalogue
    model: Model
    endpoint: Endpoint | None
    missing: str
    trust: ProjectTrust
    """What of the project is trusted."""
    service: Service = field(default_factory=Service)
    """The routes, limits and quirks of the provider's server."""
    keys: KeySupply | None = field(default=None, repr=False)
    """The source of the key, and of a newer one when it has expired."""
    key: Key | KeyPlace | None = None
    """The key as it was found: its secret or where to fetch it; None if there is none."""
    command_environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment of commands that a model runs: listed variables, and those that the user adds."""
    program_environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment without providers' keys: the engine's, and what MCP servers are given by name."""
    default_kept: bool = False
    """Whether the model is a default that the key could use lately."""
    local: LocalModel | None = None
    """The model for the embedded engine, whose address is known once it runs."""

    def engine(self) -> Engine | None:
        """The embedded engine, not yet started; None if a server is used."""
        from session.models.engine.process import Engine

        return Engine(self.local, environ=self.program_environ) if self.local is not None else None

    @property
    def server_folders(self) -> ServerFolders:
        """The folders in which MCP servers can be started."""
        return ServerFolders(self.workspace.root, self.workspace.folders.shared_state)

    @property
    def login(self) -> Login:
        """The way to a newer key when the server rejects the present one."""
        if self.keys is None:
            return Login()
        provider = self.keys.provider
        if provider.plan is not None:
            command = sign_in_command(provider.name, self.keys.account)
            return Login(_asking(self.keys.refresh), f"Sign in again: {command}.")
        variable = f", or change {provider.key_variable}" if provider.key_variable else ""
        return Login(_asking(self.keys.refresh), f"Log in again: spark login {provider.name}{variable}.")

    @property
    def plan_account(self) -> str:
        """The account whose plan pays, for the user; empty where a key does."""
        plan = self.catalogue.provider(self.settings.provider).plan
        return self.key.source if plan is not None and self.key is not None else ""

    @property
    def default_unsettled(self) -> bool:
        """Whether the model is a default of which nobody knows yet whether the key can use it."""
        if self.settings.model_named or self.endpoint is None or self.local is not None:
            return False
        return bool(self.catalogue.provider(self.settings.provider).coding) and not self.default_kept

    @property
    def engine_unsettled(self) -> bool:
        """Whether the model is that of a server without a default of its own, such as an engine at home, of
        which nobody knows yet what it serves and in which window."""
        if self.endpoint is None or self.local is not None:
            return False
        own = self.catalogue.provider(self.settings.provider).coding
        known = self.model.name in self.catalogue.models and self.settings.model_named
        return not own and not known and self.endpoint.is_loopback

    @property
    def keyless(self) -> bool:
        """Whether only a key is missing."""
        return self.endpoint is None and self.missing.startswith(_KEYLESS)


_KEYLESS = "no key: "


def open_project(folder: Path, flags: Flags, environ: Mapping[str, str]) -> Opening:
    """Read the settings for ``folder`` and find the key for its provider.

    Raises WorkspaceError, ConfigError or CredentialsError.
    """
    workspace = open_workspace(folder, environ)
    config = config_folder(environ)
    answer_file = AnswerFile(workspace.folders.state, workspace.root)
    try:
        answers = answer_file.read()
    except StoreError as problem:
        raise ConfigError(str(problem)) from problem
    settings, catalogue = load_settings(workspace.root, config, environ, flags, answers)
    catalogue = replace(catalogue, ratios=read_ratios(state_folder(environ)))
    trust = ProjectTrust(workspace.root, answer_file, answers, whole=settings.trusted or flags.trust)
    programs = without_keys(environ, (each.key_variable for each in catalogue.providers.values()))
    added = settings.tools.environment
    commands = {
        **allowed_environment(programs),
        **{name: environ[name] for name in added if name in environ},
    }
    settings = with_provider_by_key(
        settings,
        catalogue,
        lambda each: find_key(each, config, environ, settings.key_commands, settings.account) is not None,
        environ,
    )
    if settings.provider == LOCAL_PROVIDER and not flags.base_url:
        local = _open_local(workspace, settings, catalogue, trust, environ)
        return replace(local, command_environ=commands, program_environ=programs)
    provider = catalogue.provider(settings.provider)
    if flags.account and provider.plan is None:
        raise FlagError(
            f"--account: {provider.name} is used with a key; accounts are those of --provider chatgpt"
        )
    keys = KeySupply(provider, config, environ, settings.key_commands, settings.account)
    key = keys.at_hand() if settings.base_url else None
    endpoint, missing = _endpoint(settings, provider, keys, key, _plan_for(catalogue, provider))
    kept = None
    if not settings.model_named:
        place = served_at(settings, key.source if provider.plan is not None and key is not None else "")
        kept = DefaultModels(state_folder(environ)).kept(place, date.today())
        settings = replace(settings, model=kept or settings.model)
    model = catalogue.model(settings.model, settings.provider)
    if flags.fast and not provider.has_fast(model.name):
        raise FlagError(f"--fast: {provider.name} has no faster tier for {model.name}")
    return Opening(
        workspace,
        settings,
        catalogue,
        model,
        endpoint,
        missing,
        trust,
        provider.service,
        keys,
        key,
        command_environ=commands,
        program_environ=programs,
        default_kept=kept is not None,
    )


async def with_key(opening: Opening) -> Opening:
    """``opening`` with its key fetched, for callers that cannot leave that to the connection.

    Raises CredentialsError.
    """
    if opening.endpoint is None or opening.keys is None or not isinstance(opening.key, KeyPlace):
        return opening
    endpoint = replace(opening.endpoint, api_key=await opening.keys.first())
    return replace(opening, endpoint=endpoint)


def _open_local(
    workspace: Workspace,
    settings: Settings,
    catalogue: Catalogue,
    trust: ProjectTrust,
    environ: Mapping[str, str],
) -> Opening:
    """The opening for a model of the embedded engine."""
    from session.models.engine.model import find_model

    try:
        local = find_model(settings.local, settings.engine, environ)
    except LocalError as problem:
        raise ConfigError(str(problem)) from problem
    model = replace(
        catalogue.model(local.name, settings.provider),
        provider=settings.provider,
        window=local.context,
        output_reserve=local.output_reserve,
    )
    settings = replace(settings, model=local.name)
    service = catalogue.provider(settings.provider).service
    return Opening(workspace, settings, catalogue, model, Endpoint(_HERE), "", trust, service, local=local)


def _endpoint(
    settings: Settings, provider: Provider, keys: KeySupply, key: Key | KeyPlace | None, plan: str
) -> tuple[Endpoint | None, str]:
    """The server's address, or None and what is missing. ``plan`` tells how a plan could be used instead."""
    if not settings.base_url:
        return None, f"provider {provider.name!r} has no address: give --base-url"
    endpoint = Endpoint(
        settings.base_url,
        key.secret if isinstance(key, Key) else None,
        provider.headers,
        provider.key_header,
        _asking(keys.first) if isinstance(key, KeyPlace) else None,
        provider.plan.terms(provider.name) if provider.plan is not None else None,
    )
    try:
        endpoint.websocket_url()
        endpoint.request_headers()
    except LinkError as problem:
        return None, problem.message
    if provider.plan is not None:
        if settings.base_url != provider.base_url and not endpoint.is_loopback:
            return (
                None,
                f"the {provider.plan.title} plan is good for {provider.base_url} alone: leave out --base-url",
            )
        told = f"{_KEYLESS}run: spark login {provider.name} (spark demo needs none)"
        return (endpoint, "") if key is not None else (None, told)
    if key is None and not endpoint.is_loopback:
        variable = f"set {provider.key_variable}, or " if provider.key_variable else ""
        return None, f"{_KEYLESS}{variable}run: spark login {provider.name}{plan} (spark demo needs none)"
    return endpoint, ""


def _plan_for(catalogue: Catalogue, provider: Provider) -> str:
    """How a plan that serves the provider's models is signed in to; empty for none."""
    for each in catalogue.providers.values():
        if each.plan is not None and each.plan.models_of == provider.name:
            return f", or with a {each.plan.title} plan: spark login {each.name}"
    return ""


def _asking(fetch: Callable[[], Awaitable[str | None]]) -> Callable[[], Awaitable[str | None]]:
    """The function that a connection calls for a key when it dials, or after one was rejected."""

    async def ask() -> str | None:
        try:
            return await fetch()
        except CredentialsError as problem:
            raise LinkError(LinkProblem.UNAUTHORIZED, str(problem), code=NO_KEY) from None

    return ask
