"""Manifests that are trees: JSON, TOML and INI, and the XML of Maven, Ivy and MSBuild."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from edits.guards.manifest_lines import Taken, read_requirements, source_in

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


_Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Which keys of a manifest name packages, and which say where they come from (``manifests.toml``)."""

    names: tuple[_Key, ...]
    sources: tuple[_Key, ...]
    but: tuple[_Key, ...]
    plain: frozenset[str]
    python: bool = False
    """Whether names are those of Python's packages, which are the same in many spellings."""


def read_table(name: str, text: str, keys: Table) -> Taken | None:
    """What a manifest called ``name`` takes from elsewhere; None if its text does not parse."""
    try:
        table = _parsed(name, text)
    except (ValueError, RecursionError, configparser.Error):
        return None
    names: set[str] = set()
    sources: set[str] = set()
    for key in keys.names:
        for found in _at(table, key):
            _packages(found, keys, names, sources)
    for key in keys.sources:
        for path, leaf in _leaves(table, key, keys.but):
            if path[-1] != "version" or len(path) < 3:
                sources.add(f"{'.'.join(path)} = {_said(leaf)}")
    return Taken(frozenset(names), frozenset(sources))


def _parsed(name: str, text: str) -> Any:
    if not text.strip():
        return {}
    if name.endswith(".json"):
        return json.loads(text)
    if name.endswith((".cfg", ".ini")):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read_string(text)
        return _nested(parser)
    return tomllib.loads(text)


def _nested(parser: configparser.ConfigParser) -> dict[str, Any]:
    """The sections of an INI file, where dots in a name stand for tables in tables."""
    table: dict[str, Any] = {}
    for section in parser.sections():
        inner = table
        for part in section.split("."):
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise ValueError(section)
        inner.update(parser[section])
    return table


def _packages(found: Any, keys: Table, names: set[str], sources: set[str]) -> None:
    """Add the packages of one table or list, and where each comes from."""
    if isinstance(found, str):
        found = found.split("\n")
    if isinstance(found, list):
        for line in (one for one in found if isinstance(one, str)):
            taken = read_requirements(line)
            names |= taken.names
            sources |= taken.sources
    for package, spec in found.items() if isinstance(found, dict) else ():
        known = (
            "-".join(package.lower().replace("_", "-").replace(".", "-").split("-"))
            if keys.python
            else package
        )
        names.add(known)
        for one in spec if isinstance(spec, list) else [spec]:
            sources.update(f"{known} from {where}" for where in _from(one, keys.plain))


def _from(spec: Any, plain: frozenset[str]) -> Iterator[str]:
    if isinstance(spec, str):
        where = source_in(spec)
        if where is not None:
            yield where
    elif isinstance(spec, dict):
        for key, value in spec.items():
            if key not in plain or (isinstance(value, str) and key == "version" and source_in(value)):
                yield f"{key} {_said(value)}"


def _at(table: Any, key: _Key) -> Iterator[Any]:
    """The values at a key, in which ``*`` stands for every key of a table."""
    if not key:
        yield table
    elif isinstance(table, dict):
        for one in table if key[0] == "*" else [key[0]]:
            if one in table:
                yield from _at(table[one], key[1:])


def _leaves(table: Any, key: _Key, but: tuple[_Key, ...], path: _Key = ()) -> Iterator[tuple[_Key, Any]]:
    """All single values at a key and below, with their paths, without those in ``but``."""
    if any(_is_below(path, one) for one in but):
        return
    if isinstance(table, dict) and (table or not key):
        for one in table if not key or key[0] == "*" else [key[0]]:
            if one in table:
                yield from _leaves(table[one], key[1:], but, (*path, one))
    elif key:
        return
    elif isinstance(table, list):
        for place, one in enumerate(table):
            yield from _leaves(one, (), but, (*path, str(place)))
    else:
        yield path, table


def _is_below(path: _Key, key: _Key) -> bool:
    return len(path) >= len(key) and all(part in ("*", one) for part, one in zip(key, path, strict=False))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


_SETTING = re.compile(r"v?\d[\w.+-]*|true|false|UTF-8|utf-8")
"""Values of properties that are versions, or switch something on or off."""
_VERSIONS = ("version", "versionoverride")


@dataclass(frozen=True, slots=True)
class Elements:
    """The elements that count, which of them name a package, and those with properties, whose values may be
    addresses."""

    counting: frozenset[str]
    packages: frozenset[str]
    properties: frozenset[str]


def read_xml(text: str, which: Elements) -> Taken | None:
    """What a manifest takes from elsewhere; None if it does not parse, or defines entities of its own."""
    from xml.etree import ElementTree

    if not text.strip():
        return Taken()
    if "<!DOCTYPE" in text or "<!ENTITY" in text:  # a few bytes of entities can stand for gigabytes
        return None
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - no entities, as was looked above
        sources = {f"{_tag(root)} {_words(root, deep=False)}"} if root.attrib else set()
        for element in root.iter():
            if _tag(element) in which.properties:
                values = ((_tag(one), (one.text or "").strip()) for one in element)
                sources.update(
                    f"{name} {value}" for name, value in values if value and not _SETTING.fullmatch(value)
                )
            elif _tag(element) in which.counting:
                sources.add(f"{_tag(element)} {_words(element)}")
    except (ElementTree.ParseError, RecursionError, ValueError):
        return None
    names = frozenset(
        one for one in sources if one.partition(" ")[0] in which.packages and source_in(one) is None
    )
    return Taken(names, frozenset(sources) - names)


def _words(element: Element, *, deep: bool = True) -> str:
    """All that an element says but for versions, on one line."""
    said = [f"{key}={value}" for key, value in sorted(element.items()) if key.lower() not in _VERSIONS]
    said += (element.text or "").split()
    for child in element if deep else ():
        if _tag(child).lower() not in _VERSIONS:
            said.append(f"{_tag(child)} {_words(child)}".strip())
    return " ".join(said)


def _tag(element: Element) -> str:
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
