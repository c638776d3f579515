"""The git settings that spark honours: an allow-list of those that affect how files are compared and listed.

None of them can name a program. Values are checked too, as they are written into a configuration file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

_BOOLEAN = "|".join(("true", "false", "yes", "no", "on", "off", "0", "1"))
_TRUE = frozenset({"true", "yes", "on", "1"})
_COMPARING = {
    "core.autocrlf": f"{_BOOLEAN}|input",
    "core.checkstat": "default|minimal",
    "core.eol": "lf|crlf|native",
    "core.filemode": _BOOLEAN,
    "core.ignorecase": _BOOLEAN,
    "core.precomposeunicode": _BOOLEAN,
    "core.symlinks": _BOOLEAN,
    "core.trustctime": _BOOLEAN,
}
"""Settings that the user's own configuration may give as well."""
_REPOSITORY = _COMPARING | {
    "core.repositoryformatversion": "0|1",
    "core.sparsecheckout": _BOOLEAN,
    "core.sparsecheckoutcone": _BOOLEAN,
    "extensions.objectformat": "sha1|sha256",
    "extensions.refstorage": "files|reftable",
}
_HARMLESS_EXTENSIONS = frozenset(
    {"compatobjectformat", "noop", "noop-v1", "partialclone", "preciousobjects", "relativeworktrees"}
    | {"worktreeconfig"}
)
"""Extensions of the repository format that can be passed over, as spark only reads."""

_FIXED = {
    "core.bare": "false",
    "core.quotepath": "false",
    "core.untrackedcache": "false",
    "core.fsmonitor": "false",
}


def parse_settings(listed: bytes) -> dict[str, str]:
    """Parses the output of ``git config --list -z``. The last value of a key counts."""
    settings = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        key, stands, value = entry.partition("\n")
        if key:
            settings[key] = value if stands else "true"
    return settings


def is_on(settings: Mapping[str, str], key: str) -> bool:
    """Whether a boolean setting is given and true."""
    return settings.get(key, "").lower() in _TRUE


def is_partial(repository: Mapping[str, str]) -> bool:
    """Whether objects may be missing from the repository, to be fetched when needed."""
    return "extensions.partialclone" in repository or any(key.endswith(".promisor") for key in repository)


def unknown_extension(repository: Mapping[str, str]) -> str | None:
    """An extension of the repository's format that spark does not know, if there is one."""
    if repository.get("core.repositoryformatversion", "0") == "0":
        return None
    for key in repository:
        section, _, name = key.partition(".")
        if section == "extensions" and key not in _REPOSITORY and name not in _HARMLESS_EXTENSIONS:
            return name
    return None


def allowed_config(user: Mapping[str, str], repository: Mapping[str, str]) -> str:
    """A configuration file of the settings that count: the user's, the repository's, and fixed ones."""
    settings = _allowed(user, _COMPARING) | _allowed(repository, _REPOSITORY) | _FIXED
    lines: list[str] = []
    for key, value in settings.items():
        section, _, name = key.partition(".")
        lines += [f"[{section}]", f"\t{name} = {value}"]
    return "\n".join([*lines, ""])


def excludes_file(user: Mapping[str, str], repository: Mapping[str, str], top: Path) -> Path:
    """The path of the user's own ignore rules; git's default for them where nothing is set."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    named = repository.get("core.excludesfile") or user.get("core.excludesfile") or f"{home}/git/ignore"
    try:
        return top / Path(named).expanduser()
    except RuntimeError:  # It begins with the name of an unknown user.
        return top / named


def _allowed(given: Mapping[str, str], allowed: Mapping[str, str]) -> dict[str, str]:
    return {
        key: given[key]
        for key, values in allowed.items()
        if key in given and re.fullmatch(values, given[key], re.IGNORECASE | re.ASCII)
    }
