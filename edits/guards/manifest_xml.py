"""Manifests in XML: Maven's, Ivy's and MSBuild's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from edits.guards.taken import Taken, source_in

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

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
