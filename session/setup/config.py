"""Settings, gathered from least to most particular: defaults, the user's ``config.toml``, the
project's ``.spark.toml`` once its folder is trusted, the environment, the flags.

A project's file may set only what is harmless to a stranger's taste (``PROJECT_KEYS``): never the
endpoint, the provider, or anything that runs or is trusted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from session.engine.settings import LocalError, LocalSettings, read_local
from session.keys.key_command import CommandError, read_commands
from session.mcp.settings import McpError, McpServer, read_servers
from session.models.catalogue import EFFORTS, Catalogue, CatalogueError, load_catalogue
from session.project.active_guards import GuardError, GuardSettings, read_guards
from session.tools.settings import ToolsError, ToolSettings, read_tool_settings

DEFAULT_MODEL = "gpt-5.3-codex-spark"
LOCAL_PROVIDER = "local"
"""The catalogue's row for the embedded engine."""
PROJECT_FILE = ".spark.toml"
PROJECT_KEYS = frozenset({"model", "effort", "theme"})
USER_TABLES = frozenset(
    {"providers", "models", "trust", "guards", "keys", "context", "tools", "local", "mcp"}
)


class ConfigError(Exception):
    """A setting is wrong; the message names the file or variable, the key, and what is expected."""


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line said; None where it said nothing."""

    base_url: str | None = None
    model: str | None = None
    provider: str | None = None
    effort: str | None = None
    fast: bool | None = None
    theme: str | None = None
    review: bool | None = None
    local: str | None = None
    """A model for the embedded engine: a file, or a pulled model's name."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a session needs to know before it opens."""

    model: str = DEFAULT_MODEL
    provider: str = "openai"
    base_url: str = ""
    effort: str = "medium"
    fast: bool = False
    theme: str = "dark"
    review: bool = False
    trusted: bool = False
    guards: GuardSettings = field(default_factory=GuardSettings)
    key_commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """What the user runs for a key, by provider; an argument may be telling, so it is in no repr."""
    compact_with_model: bool = True
    """Whether the model may be asked for the ledger of a long dialogue (``[context]`` of the user's file)."""
    tools: ToolSettings = field(default_factory=ToolSettings)
    local: str = ""
    engine: LocalSettings = field(default_factory=LocalSettings)
    mcp: tuple[McpServer, ...] = ()
    """The MCP servers whose tools the model is offered."""


def load_settings(
    root: Path, config: Path, environ: Mapping[str, str], flags: Flags
) -> tuple[Settings, Catalogue]:
    """The settings for the project at ``root`` and the catalogue they refer to.

    Raises ConfigError for a setting or file that cannot be used.
    """
    flags = _served_here(flags)
    user_file = config / "config.toml"
    user = _read(user_file)
    plain = {each.name for each in fields(Settings) if each.type in ("str", "bool")}
    allowed = plain - {"trusted", "compact_with_model", "local"}
    _check(user, user_file, allowed | USER_TABLES)
    try:
        catalogue = load_catalogue(user)
        base = _from_tables(user)
    except (CatalogueError, GuardError, CommandError, ToolsError, LocalError, McpError) as problem:
        raise ConfigError(f"{user_file}: {problem}") from problem
    base = replace(base, compact_with_model=_compacts_with_model(user.get("context", {}), user_file))
    settings = _merge(base, {key: value for key, value in user.items() if key in allowed})
    served = _provider_of(settings, user, flags, catalogue)
    if _is_trusted(root, user, user_file):
        project_file = root / PROJECT_FILE
        project = _read(project_file)
        _check(project, project_file, PROJECT_KEYS)
        settings = replace(_merge(settings, project), trusted=True)
        # A file in a repository must not decide to whom the code goes, not even by naming a model.
        if _provider_of(settings, user, flags, catalogue) != served:
            raise ConfigError(
                f"{project_file}: model {settings.model!r} is not served by {served!r}, and a project's file "
                "cannot change the provider; choose it with --provider or in config.toml"
            )
    settings = _merge(settings, {"theme": environ.get("SPARK_THEME") or None})
    settings = _merge(settings, {each.name: getattr(flags, each.name) for each in fields(flags)})
    return _finish(settings, user, flags, environ, catalogue), catalogue


def _served_here(flags: Flags) -> Flags:
    """``flags`` with what ``--local`` means for the others."""
    if flags.local is None:
        return flags
    for name in ("base_url", "provider", "model"):
        if getattr(flags, name) is not None:
            option = "--" + name.replace("_", "-")
            raise ConfigError(
                f"--local and {option} exclude each other: the file says what runs, and it runs here"
            )
    return replace(flags, provider=LOCAL_PROVIDER)


def _from_tables(user: Mapping[str, Any]) -> Settings:
    """The settings that have a table, or a file, of their own. Raises what their readers raise."""
    engine = read_local(user.get("local", {}))
    return Settings(
        guards=read_guards(user.get("guards", {})),
        key_commands=read_commands(user.get("keys", {})),
        tools=read_tool_settings(user.get("tools", {})),
        mcp=read_servers(user.get("mcp", {})),
        local=engine.model,
        engine=engine,
    )


def _finish(
    settings: Settings,
    user: Mapping[str, Any],
    flags: Flags,
    environ: Mapping[str, str],
    catalogue: Catalogue,
) -> Settings:
    """Settle who serves: whoever was named, else the one that the catalogue names for the model."""
    if settings.effort not in EFFORTS:
        raise ConfigError(f"effort {settings.effort!r} is not one of {', '.join(EFFORTS)}")
    if not settings.model.strip():
        raise ConfigError("the model's name is empty")
    settings = replace(settings, provider=_provider_of(settings, user, flags, catalogue))
    _check_effort(settings, catalogue)
    try:
        provider = catalogue.provider(settings.provider)
    except CatalogueError as problem:
        raise ConfigError(str(problem)) from problem
    if flags.base_url:
        return settings
    variable = environ.get(provider.base_url_variable, "") if provider.base_url_variable else ""
    return replace(settings, base_url=variable or settings.base_url or provider.base_url)


def _provider_of(settings: Settings, user: Mapping[str, Any], flags: Flags, catalogue: Catalogue) -> str:
    named = flags.provider is not None or flags.base_url is not None or "provider" in user
    if settings.model in catalogue.models and not named:
        return catalogue.models[settings.model].provider
    return settings.provider


def _check_effort(settings: Settings, catalogue: Catalogue) -> None:
    efforts = catalogue.model(settings.model, settings.provider).efforts
    # A model without efforts is asked without one, whatever the settings say.
    if efforts and settings.effort != "auto" and settings.effort not in efforts:
        raise ConfigError(
            f"model {settings.model!r} does not know effort {settings.effort!r}; it has {', '.join(efforts)}"
        )


def _merge(settings: Settings, values: Mapping[str, Any]) -> Settings:
    given = {key: value for key, value in values.items() if value is not None}
    return replace(settings, **given)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"{file} is not valid TOML: {problem}") from problem
    except RecursionError as problem:
        raise ConfigError(f"{file} is not valid TOML: its values are nested too deep") from problem
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{file} is not UTF-8 (byte {problem.start})") from problem
    except OSError as problem:
        raise ConfigError(f"cannot read {file}: {problem.strerror}") from problem


def _compacts_with_model(table: Any, file: Path) -> bool:
    """The one key of ``[context]``."""
    if not isinstance(table, dict) or set(table) - {"compact_with_model"}:
        raise ConfigError(f"{file}: [context] holds compact_with_model = true or false, and nothing else")
    wanted = table.get("compact_with_model", True)
    if not isinstance(wanted, bool):
        raise ConfigError(f"{file}: [context] compact_with_model must be true or false, not {wanted!r}")
    return wanted


def _check(table: Mapping[str, Any], file: Path, allowed: set[str] | frozenset[str]) -> None:
    for key, value in table.items():
        if key not in allowed:
            raise ConfigError(f"{file}: {key!r} cannot be set here; what can is {', '.join(sorted(allowed))}")
        if key in USER_TABLES:
            continue
        expected = bool if key in ("fast", "review") else str
        if type(value) is not expected:
            kind = "true or false" if expected is bool else "a string"
            raise ConfigError(f"{file}: {key} must be {kind}, not {value!r}")
        if key == "effort" and value not in EFFORTS:
            raise ConfigError(f"{file}: effort {value!r} is not one of {', '.join(EFFORTS)}")


def _is_trusted(root: Path, user: Mapping[str, Any], file: Path) -> bool:
    trust = user.get("trust", {})
    folders = trust.get("folders", []) if isinstance(trust, dict) else None
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise ConfigError(f'{file}: [trust] folders must be a list of paths, as in folders = ["~/src/mine"]')
    here = root.resolve()
    return any(here == _folder(folder, file) for folder in folders)


def _folder(folder: str, file: Path) -> Path:
    try:
        path = Path(folder).expanduser()
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError) as problem:
        raise ConfigError(
            f"{file}: [trust] folders names {folder!r}, which is no path: {problem}"
        ) from problem
    if not path.is_absolute():
        # Relative to which folder? A trust that depends on where a command is run is none.
        raise ConfigError(f"{file}: [trust] folders names {folder!r}; give its whole path, as in ~/src/mine")
    return resolved
