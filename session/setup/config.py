"""Collects the settings: defaults, then the user's ``config.toml``, then the project's ``.spark.toml`` once
its folder is trusted, then the environment, then the command line's flags.

A project's file comes from a stranger. It may set only ``PROJECT_KEYS``, never the endpoint, the
provider, or anything that runs or is trusted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from session.base.storage.private_files import open_to_read
from session.base.text.tables import Table, TableError
from session.checks.check import Check, read_checks
from session.models.catalogue import EFFORTS, Catalogue, CatalogueError, load_catalogue
from session.models.effort import nearest
from session.models.engine.settings import LocalSettings, read_local
from session.models.key import read_commands
from session.project.active_guards import GuardSettings, read_guards
from session.project.trust import NO_ANSWERS, SETTINGS_FILE, Answers, Standing, read_settings_file
from session.setup.user_tables import (
    AttemptSettings,
    BudgetSettings,
    SideSettings,
    read_attempts,
    read_budget,
    read_side,
)
from session.tools.command.rules import Rule
from session.tools.mcp.settings import McpServer, read_servers
from session.tools.settings import ToolSettings, read_rules, read_tool_settings

DEFAULT_MODEL = "gpt-6-luna"
"""The catalogue's default of the provider openai."""
DEFAULT_EFFORT = "medium"
LOCAL_PROVIDER = "local"
"""The provider that stands for the embedded engine."""
MOST_MINUTES = 24 * 60
"""The most minutes that a turn may go on without a screen."""
NOTIFY = ("auto", "osc9", "osc777", "bell", "off")
"""The values of ``notify``; the first is the default."""
LEAN = ("auto", "on", "off")
"""The values of ``lean``; the first is the default."""
PROJECT_KEYS = ("effort", "model", "theme")
"""The keys of ``.spark.toml``; besides, it may have ``allow`` and ``[[checks]]``."""
MOST_FIX_ROUNDS = 10
_CATALOGUE_TABLES = ("models", "providers")
_OLD_PROVIDER_KEYS = ("lanes",)
"""Keys of ``[providers.*]`` that earlier versions read. They are accepted and have no effect."""


class ConfigError(Exception):
    """A setting is wrong; the message names the file or variable, the key, and what is expected."""


class FlagError(ConfigError):
    """An option of the command line is wrong."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The options of the command line; None for one that was not given."""

    base_url: str | None = None
    model: str | None = None
    provider: str | None = None
    account: str | None = None
    """An account of a plan, by the name that the user gave it."""
    effort: str | None = None
    fast: bool | None = None
    theme: str | None = None
    review: bool | None = None
    max_cost: float | None = None
    """The most dollars of a turn."""
    local: str | None = None
    """A model for the embedded engine: a file, or a pulled model's name."""
    trust: bool = False
    """Whether this run trusts the project's folder, whatever its files say."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a session."""

    model: str = DEFAULT_MODEL
    model_named: bool = False
    """Whether the user named the model; else it is the fastest for coding that the key can use."""
    provider: str = "openai"
    provider_named: bool = False
    """Whether the user named the provider, its model or its address; else a key decides."""
    told_by_model: bool = False
    """Whether only a model that the user named tells the provider."""
    told_by_variable: str = ""
    """The variable whose address alone tells the provider; empty where it is told in another way."""
    account: str = ""
    """The account of a plan that the user named; empty for the one signed in to last."""
    base_url: str = ""
    effort: str = DEFAULT_EFFORT
    fast: bool = False
    theme: str = "auto"
    notify: str = "auto"
    """How a user who looks elsewhere is told that a turn ended or waits: one of ``NOTIFY``."""
    lean: str = "auto"
    """Whether the screen draws less, to save bytes: one of ``LEAN``."""
    review: bool = False
    trusted: bool = False
    guards: GuardSettings = field(default_factory=GuardSettings)
    key_commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """The commands that print keys, by provider; kept out of the repr, since an argument may be a secret."""
    compact_with_model: bool = True
    """Whether the model may be asked to write the ledger of a long dialogue."""
    tools: ToolSettings = field(default_factory=ToolSettings)
    unattended_minutes: int = 60
    """How long a turn may go on without a screen while nobody follows it."""
    local: str = ""
    engine: LocalSettings = field(default_factory=LocalSettings)
    mcp: tuple[McpServer, ...] = ()
    """The MCP servers whose tools are offered to the model."""
    notes: tuple[str, ...] = ()
    """Lines for the user about settings that are accepted and have no effect."""
    attempts: AttemptSettings = field(default_factory=AttemptSettings)
    """What differs between the attempts of a race, and the limits of one."""
    keymap: Mapping[str, Any] = field(default_factory=dict)
    """The user's own keys, as they are written; the screen knows what they mean."""
    allow: tuple[Rule, ...] = ()
    """The commands that need no question by the project's file, which the user agreed to."""
    checks: tuple[Check, ...] = ()
    """The configured checks; each still needs an agreement in each project."""
    side: SideSettings = field(default_factory=SideSettings)
    """The requests that spark makes by itself, and their budget."""
    budget: BudgetSettings = field(default_factory=BudgetSettings)
    """What may be spent on a window, a turn, an hour and a day."""
    auto_fix: int = 0
    """How many times in a row what is red goes back to the model by itself, while hunks are judged."""


def load_settings(
    root: Path,
    config: Path,
    environ: Mapping[str, str],
    flags: Flags,
    answers: Answers = NO_ANSWERS,
) -> tuple[Settings, Catalogue]:
    """The settings for the project at ``root`` and the catalogue they refer to. The project's own file counts
    where the folder is trusted as a whole, or where ``answers`` has that the user agreed to what it says.

    Raises ConfigError for a setting or file that cannot be used.
    """
    flags = _served_here(flags)
    user_file = config / "config.toml"
    user, notes = _without_old_keys(_read(user_file), user_file)
    try:
        catalogue = load_catalogue(user)
        settings, trusted_folders = _user_settings(user)
        settings = replace(settings, notes=notes)
    except TableError as problem:
        raise ConfigError(f"{user_file}: {problem}") from problem
    served = _provider_of(settings, user, flags, catalogue)
    listed = root.resolve() in {_whole_path(folder, user_file) for folder in trusted_folders}
    settings = replace(settings, trusted=listed)
    project_file = root / SETTINGS_FILE
    whole = listed or flags.trust
    if (project := _trusted_file(root, project_file, answers, whole=whole)) is not None:
        settings = _with_project(settings, project, project_file)
        # A file in a repository must not decide to whom the code goes, not even by naming a model.
        if _provider_of(settings, user, flags, catalogue) != served:
            raise ConfigError(
                f"{project_file}: model {settings.model!r} is not served by {served!r}, and a project's file "
                "cannot change the provider; choose it with --provider or in config.toml"
            )
    settings = _merge(settings, {"theme": environ.get("SPARK_THEME") or None})
    given = {each.name for each in fields(flags)} - {"trust", "max_cost"}
    settings = _merge(settings, {name: getattr(flags, name) for name in given})
    named = flags.model is not None or "model" in user or settings.model != DEFAULT_MODEL
    settings = replace(settings, model_named=named)
    if flags.max_cost is not None:
        settings = replace(settings, budget=replace(settings.budget, turn=flags.max_cost))
    return _finish(settings, user, flags, environ, catalogue), catalogue


def _served_here(flags: Flags) -> Flags:
    """``flags`` with the provider that ``--local`` implies."""
    if flags.local is None:
        return flags
    for name in ("base_url", "provider", "model"):
        if getattr(flags, name) is not None:
            option = "--" + name.replace("_", "-")
            raise FlagError(
                f"--local and {option} exclude each other: the file says what runs, and it runs here"
            )
    return replace(flags, provider=LOCAL_PROVIDER)


def _without_old_keys(user: Mapping[str, Any], file: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """``user`` without the keys that only earlier versions knew, and a line for the user about each."""
    providers = user.get("providers")
    if not isinstance(providers, dict):
        return dict(user), ()
    kept: dict[str, Any] = {}
    notes: list[str] = []
    for name, row in providers.items():
        old = [key for key in _OLD_PROVIDER_KEYS if isinstance(row, dict) and key in row]
        kept[name] = {key: value for key, value in row.items() if key not in old} if old else row
        notes += [f"{file}: {key} of [providers.{name}] has no effect any more; remove it" for key in old]
    return {**user, "providers": kept}, tuple(notes)


def _user_settings(user: Mapping[str, Any]) -> tuple[Settings, tuple[str, ...]]:
    """The settings of the user's file, and the folders it trusts. Raises TableError."""
    table = Table("", user)
    for key in _CATALOGUE_TABLES:
        table.take(key)
    engine = read_local(table.take("local", {}))
    context = Table("[context]", table.take("context", {}))
    trust = Table("[trust]", table.take("trust", {}))
    session = Table("[session]", table.take("session", {}))
    defaults = Settings()
    settings = Settings(
        model=table.text("model", defaults.model),
        provider=table.text("provider", defaults.provider),
        base_url=table.text("base_url", defaults.base_url),
        account=table.text("account", defaults.account),
        effort=table.text("effort", defaults.effort),
        fast=table.flag("fast", defaults.fast),
        theme=table.text("theme", defaults.theme),
        notify=_one_of(table, "notify", NOTIFY),
        lean=_one_of(table, "lean", LEAN),
        review=table.flag("review", defaults.review),
        guards=read_guards(table.take("guards", {})),
        key_commands=read_commands(table.take("keys", {})),
        tools=read_tool_settings(table.take("tools", {})),
        mcp=read_servers(table.take("mcp", {})),
        keymap=_raw_table(table, "keymap"),
        checks=read_checks(table.take("checks", [])),
        budget=read_budget(table.take("budget", {})),
        auto_fix=table.whole("auto_fix", 0, least=0, most=MOST_FIX_ROUNDS),
        attempts=read_attempts(table.take("attempts", {})),
        side=read_side(table.take("side", {})),
        compact_with_model=context.flag("compact_with_model", True),
        unattended_minutes=session.whole(
            "unattended_minutes", defaults.unattended_minutes, least=0, most=MOST_MINUTES
        ),
        local=engine.model,
        engine=engine,
    )
    folders = trust.texts("folders")
    for each in (context, trust, session, table):
        each.end()
    _check_effort_name(settings.effort)
    return settings, folders


def _one_of(table: Table, name: str, values: tuple[str, ...]) -> str:
    """A setting that is one of ``values``, the first by default. Raises TableError."""
    found = table.text(name, values[0])
    if found not in values:
        raise TableError(f"{name} must be one of {', '.join(values)}")
    return found


def _raw_table(table: Table, name: str) -> Mapping[str, Any]:
    """A table that another part of spark reads. Raises TableError where it is none."""
    found = table.take(name, {})
    if not isinstance(found, dict):
        raise TableError(f"{name} must be a table: [{name}]")
    return found


def _trusted_file(root: Path, file: Path, answers: Answers, *, whole: bool) -> dict[str, Any] | None:
    """The project's own file, if there is one that the user trusts. Raises ConfigError."""
    found = read_settings_file(root)
    if found is None:
        return None
    from context.disk.source import Unread  # read_settings_file has imported it

    if isinstance(found, Unread):
        if whole and not found.gone:
            raise ConfigError(f"cannot read {file}: {found.why}")
        return None
    if not whole and answers.standing(SETTINGS_FILE, found.digest) is not Standing.TRUSTED:
        return None
    return _parsed(found.text, file)


def _with_project(settings: Settings, project: Mapping[str, Any], file: Path) -> Settings:
    """``settings`` with those of a trusted project's file. Of two checks with the same name the user's own
    counts. Raises ConfigError."""
    known = (*PROJECT_KEYS, "allow", "checks")
    for key in project:
        if key not in known:
            allowed = ", ".join(known)
            raise ConfigError(f"{file}: {key!r} cannot be set in a project's file, only {allowed} can")
    table = Table(str(file), project)
    try:
        given = {key: table.text(key) for key in PROJECT_KEYS if table.has(key)}
        _check_effort_name(given.get("effort", "auto"), f"{file}: ")
    except TableError as problem:
        raise ConfigError(str(problem)) from problem
    try:
        allow = read_rules(table, "allow")
        checks = read_checks(table.take("checks", []), SETTINGS_FILE)
    except TableError as problem:
        raise ConfigError(f"{file}: {problem}") from problem
    names = {check.name for check in settings.checks}
    own = tuple(check for check in checks if check.name not in names)
    return _merge(settings, {**given, "allow": allow, "checks": (*own, *settings.checks)})


def _check_effort_name(effort: str, where: str = "") -> None:
    if effort not in EFFORTS:
        raise TableError(f"{where}effort {effort!r} is not one of {', '.join(EFFORTS)}")


def _finish(
    settings: Settings,
    user: Mapping[str, Any],
    flags: Flags,
    environ: Mapping[str, str],
    catalogue: Catalogue,
) -> Settings:
    """Choose the provider and its address: those that the user named, else those of the model's row."""
    if settings.effort not in EFFORTS:
        raise _wrong(f"effort {settings.effort!r} is not one of {', '.join(EFFORTS)}", flags.effort)
    if not settings.model.strip():
        raise _wrong("the model's name is empty", flags.model)
    settings = replace(settings, provider=_provider_of(settings, user, flags, catalogue))
    try:
        provider = catalogue.provider(settings.provider)
    except CatalogueError as problem:
        raise _wrong(str(problem), flags.provider) from problem
    if not settings.model_named and provider.coding:
        settings = replace(settings, model=catalogue.default_model(settings.provider))
    elif (row := catalogue.models.get(settings.model)) is not None:
        settings = replace(settings, model=row.name)
    settings = _with_effort(settings, catalogue, flags, named="effort" in user or flags.effort is not None)
    by_variable = environ.get(provider.base_url_variable, "").rstrip("/")
    if by_variable == provider.base_url.rstrip("/"):
        by_variable = ""  # many shells export the usual address: it says nothing
    elsewhere = by_variable or settings.base_url
    # A model that no row knows says nothing of its provider.
    model_tells = settings.model_named and settings.model in catalogue.models
    chosen = flags.provider is not None or "provider" in user or bool(flags.base_url)
    named = chosen or bool(elsewhere)
    address = flags.base_url or elsewhere or provider.base_url
    told = model_tells and not named
    variable = provider.base_url_variable if by_variable and not chosen else ""
    return replace(
        settings,
        provider_named=named or told,
        told_by_model=told,
        told_by_variable=variable,
        base_url=address,
    )


def _provider_of(settings: Settings, user: Mapping[str, Any], flags: Flags, catalogue: Catalogue) -> str:
    named = flags.provider is not None or flags.base_url is not None or "provider" in user
    if settings.model in catalogue.models and not named:
        return catalogue.models[settings.model].provider
    return settings.provider


def _wrong(why: str, flag: str | None) -> ConfigError:
    """The error of a setting that ``flag`` may have given."""
    return ConfigError(why) if flag is None else FlagError(why)


def _with_effort(settings: Settings, catalogue: Catalogue, flags: Flags, *, named: bool) -> Settings:
    """``settings`` with an effort that the model has: the nearest one, unless the user named another."""
    efforts = catalogue.model(settings.model, settings.provider).efforts
    # A model without efforts gets none, whatever the settings say.
    if not efforts or settings.effort in ("auto", *efforts):
        return settings
    if not named and settings.effort == DEFAULT_EFFORT:
        return replace(settings, effort=nearest(settings.effort, efforts))
    raise _wrong(
        f"model {settings.model!r} has no effort {settings.effort!r}; it has {', '.join(efforts)}",
        flags.effort,
    )


def _merge(settings: Settings, values: Mapping[str, Any]) -> Settings:
    given = {key: value for key, value in values.items() if value is not None}
    return replace(settings, **given)


def _parsed(text: str, file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ConfigError(f"{file} is not valid TOML: {problem}") from problem
    except RecursionError as problem:
        raise ConfigError(f"{file} is not valid TOML: its values are nested too deep") from problem


def _read(file: Path) -> dict[str, Any]:
    try:
        with open_to_read(file) as opened:
            text = opened.read().decode("utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        return {}
    except UnicodeDecodeError as problem:
        raise ConfigError(f"{file} is not UTF-8 (byte {problem.start})") from problem
    except OSError as problem:
        raise ConfigError(f"cannot read {file}: {problem.strerror}") from problem
    return _parsed(text, file)


def _whole_path(folder: str, file: Path) -> Path:
    try:
        path = Path(folder).expanduser()
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError) as problem:
        raise ConfigError(f"{file}: [trust] folders: {folder!r} is not a path: {problem}") from problem
    if not path.is_absolute():
        # A relative path would trust a different folder wherever the command is run.
        raise ConfigError(f"{file}: [trust] folders: {folder!r} must be a whole path, as in ~/src/mine")
    return resolved
