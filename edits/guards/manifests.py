"""The names of the packages that a manifest depends on.

It reads PEP 508 requirement lines, pyproject.toml (PEP 621, PEP 735, Poetry), package.json, Cargo.toml and
go.mod.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")
_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+|[\w.-]+\.[\w-]+)\s+v\d", re.MULTILINE)


def is_manifest(path: str) -> bool:
    """Whether a file is a package manifest, by its name."""
    name = PurePosixPath(path).name
    return name in ("package.json", "pyproject.toml", "Cargo.toml", "go.mod") or name.startswith(
        "requirements"
    )


def dependencies(path: str, text: str) -> frozenset[str]:
    """The packages that ``text`` depends on; none for a file that is not a manifest or does not parse."""
    name = PurePosixPath(path).name
    try:
        if name == "package.json":
            return frozenset(_npm(json.loads(text)))
        if name == "pyproject.toml":
            return frozenset(_python(tomllib.loads(text)))
        if name == "Cargo.toml":
            return frozenset(_cargo(tomllib.loads(text)))
    except (ValueError, RecursionError):
        return frozenset()
    if name == "go.mod":
        return frozenset(_GO.findall(text))
    if name.startswith("requirements") and name.endswith((".txt", ".in")):
        return frozenset(_requirements(text.split("\n")))
    return frozenset()


def _requirements(lines: Any) -> Iterator[str]:
    for line in lines if isinstance(lines, list) else ():
        found = _REQUIREMENT.match(line) if isinstance(line, str) else None
        if found:
            yield re.sub(r"[-_.]+", "-", found[1]).lower()


def _npm(manifest: Any) -> Iterator[str]:
    for kind in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from _table(manifest, kind)


def _python(manifest: dict[str, Any]) -> Iterator[str]:
    project = _table(manifest, "project")
    yield from _requirements(project.get("dependencies"))
    for groups in (_table(project, "optional-dependencies"), _table(manifest, "dependency-groups")):
        for group in groups.values():
            yield from _requirements(group)
    poetry = _table(_table(manifest, "tool"), "poetry")
    for table in (poetry, *_table(poetry, "group").values()):
        yield from (name.lower() for name in _table(table, "dependencies"))


def _cargo(manifest: dict[str, Any]) -> Iterator[str]:
    workspace = _table(manifest, "workspace")
    for table in (manifest, workspace, *_table(manifest, "target").values()):
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _table(table, kind)


def _table(table: Any, key: str) -> Mapping[str, Any]:
    found = table.get(key) if isinstance(table, dict) else None
    return found if isinstance(found, dict) else {}
