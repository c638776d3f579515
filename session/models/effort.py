"""Effort ``auto``: chooses one of a model's efforts by the size and kind of the request, and says why.

The rules are data (``effort.toml``). Each thing found in the request gives points, and their sum picks a
level. The turn before counts as well: an answer that did not help raises the level, and a redirect never
lowers it, since the task is the same. In a long conversation a small difference changes nothing where another
effort makes the server read all of it again (``session/wire/protocol/efforts.py``).
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

LEVELS = ("low", "medium", "high", "xhigh")
"""The efforts that ``auto`` chooses from, lowest first."""
_ORDER = ("none", "minimal", *LEVELS, "max")

_FILE = re.compile(
    r"@[\w./-]+|(?<![\w/])[\w-]+(?:/[\w.-]+)+|(?<![\w/])[\w-]+\.(?:[a-z]{1,4}|toml|json|yaml)(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Before:
    """The turn before. ``effort`` is what it used, empty for a first turn; ``trouble`` says why its answer
    did not help, empty if it did; ``tokens`` is what another effort would have
    the server read again."""

    effort: str = ""
    trouble: str = ""
    redirect: bool = False
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Picked:
    """An effort and, in a few words, the reason; the effort is empty for a model that has none."""

    effort: str
    why: str


@dataclass(frozen=True, slots=True)
class _Found:
    """One thing found in a request, with its points."""

    points: int
    why: str


@cache
def _rules() -> Mapping[str, Any]:
    return tomllib.loads(resources.files("session.models").joinpath("effort.toml").read_text("utf-8"))


def pick(request: str, efforts: Sequence[str], before: Before = Before()) -> Picked:
    """Choose one of a model's ``efforts`` for ``request``, given the turn ``before``."""
    if not efforts:
        return Picked("", "this model has no efforts")
    found = _findings(request)
    total = sum(each.points for each in found)
    level, why = _level(total), _reason(found, total)
    last = LEVELS.index(before.effort) if before.effort in LEVELS else None
    if last is not None:
        again = _fits(request, _rules()["again"]["phrases"])
        small = total < 0 and not again and not before.redirect
        if (again or before.trouble) and not small:
            step = min(last + 1, len(LEVELS) - 1)
            if step > level or level == last:
                level, why = max(step, level), before.trouble or _rules()["again"]["why"]
        elif before.redirect and level < last:
            level, why = last, "redirect of the same task"
        elif level != last and before.tokens >= _rules()["stay"]["tokens"] and _near(total, last):
            level, why = last, f"as before; {why}"
    return Picked(nearest(LEVELS[level], efforts), why)


def first(efforts: Sequence[str]) -> str:
    """The effort that a first request most likely gets; empty for a model that has none."""
    return nearest(_rules()["first"], efforts)


def nearest(effort: str, efforts: Sequence[str]) -> str:
    """``effort`` if ``efforts`` has it, else the next lower one, else the next higher one."""
    if effort in efforts or not efforts:
        return effort if efforts else ""
    if effort not in _ORDER:
        return efforts[0]
    wanted = _ORDER.index(effort)
    known = [_ORDER.index(each) for each in efforts if each in _ORDER]
    lower, higher = [at for at in known if at < wanted], [at for at in known if at > wanted]
    if lower or higher:
        return _ORDER[max(lower) if lower else min(higher)]
    return efforts[0]


def _findings(request: str) -> list[_Found]:
    rules = _rules()
    words = len(request.split())
    counts = {"words": words, "lines": request.count("\n") + 1, "count": len(set(_FILE.findall(request)))}
    found = [
        _Found(rule["points"], rule["why"])
        for rule in (_first(rules["size"], counts), _first(rules["files"], counts))
        if rule is not None
    ]
    found += [_Found(rule["points"], rule["why"]) for rule in rules["kind"] if _is_kind(request, rule)]
    short = rules["short"]
    if words <= short["words"] and all(each.points <= 0 for each in found):
        found.append(_Found(short["points"], short["why"]))
    return found


def _first(rules: Sequence[Mapping[str, Any]], counts: Mapping[str, int]) -> Mapping[str, Any] | None:
    """The first rule whose minimum is reached."""
    return next((rule for rule in rules for key in counts if counts[key] >= rule.get(key, math.inf)), None)


def _is_kind(request: str, rule: Mapping[str, Any]) -> bool:
    text = request.strip().lower()
    if "ends" in rule and text.endswith(rule["ends"]):
        return True
    return text.startswith(tuple(rule.get("starts", ()))) or _fits(request, rule.get("phrases", ()))


@cache
def _pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    parts = [
        re.escape(phrase.removesuffix("$")) + (r"(?!\w)" if phrase.endswith("$") else "")
        for phrase in phrases
    ]
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})", re.IGNORECASE)


def _fits(request: str, phrases: Sequence[str]) -> bool:
    return bool(phrases) and _pattern(tuple(phrases)).search(" ".join(request.split()) + " ") is not None


def _level(total: int) -> int:
    named = [LEVELS.index(name) for name, least in _rules()["levels"].items() if total >= least]
    return max(named, default=0)


def _near(total: int, level: int) -> bool:
    """Whether ``total`` is within ``stay.points`` of the range of ``level``."""
    margin = _rules()["stay"]["points"]
    return any(_level(total + step) == level for step in range(-margin, margin + 1))


def _reason(found: Sequence[_Found], total: int) -> str:
    """The two findings that contributed most to the outcome."""
    side = [each for each in found if (each.points > 0) == (total >= 0) and each.points]
    side.sort(key=lambda each: -abs(each.points))
    return ", ".join(each.why for each in side[:2]) or "ordinary request"
