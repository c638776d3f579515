"""Reading scripts from TOML, with every mistake named: file, place, and what was expected."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from edits.hunk import Action, Hunk
from session.partner.script.patches import PatchError, read_lines, read_patch
from session.partner.script.script import (
    PRACTICE_MODELS,
    Call,
    Calls,
    Close,
    Fail,
    Garbage,
    Handshake,
    Patch,
    Redirect,
    Rest,
    Say,
    Scenario,
    Script,
    Stall,
    Step,
    Think,
)
from session.protocol.dialects import NAMES

DEMO = Path(__file__).with_name("demo.toml")
_T = TypeVar("_T")


class ScriptError(Exception):
    """A script cannot be played; the message names the file, the place and the mistake."""


def load(path: Path = DEMO) -> Script:
    """The script in the TOML file ``path``. Raises :class:`ScriptError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(f"{path}: cannot be read: {error}") from error
    try:
        return parse(text, name=path.stem)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from None


def parse(text: str, name: str = "script") -> Script:
    """The script that ``text`` (TOML) describes. Raises :class:`ScriptError`."""
    try:
        table = _Table(tomllib.loads(text), "the script")
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"not TOML: {error}") from None
    handshake, http = table.table("handshake"), table.table("http")
    script = Script(
        name=table.get("name", str, name),
        scenarios=tuple(_scenario(entry, number) for number, entry in enumerate(table.tables("scenario"), 1)),
        models=table.strings("models") or PRACTICE_MODELS,
        refuse_models=frozenset(table.strings("refuse_models")),
        warm_up=table.one_of("warm_up", ("yes", "unsupported", "ignored")),
        bare=table.get("bare", bool, False),
        handshake=None if handshake is None else _handshake(handshake),
        requests_per_connection=table.get("requests_per_connection", int, None),
        http=None if http is None else _handshake(http),
        dialects=table.strings("dialects") or NAMES,
    )
    table.end()
    return script


class _Table:
    """A TOML table that is read key by key; what is left over at the end is a mistake."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values = dict(values)
        self.where = where

    def get(self, key: str, kind: Callable[..., _T] | type[_T], default: Any) -> Any:
        value = self._values.pop(key, default)
        if value is default or (kind is float and type(value) in (int, float)):
            return value
        if type(value) is not kind:
            raise self.wrong(f"{key} must be a {getattr(kind, '__name__', kind)}")
        return value

    def strings(self, key: str) -> tuple[str, ...]:
        values = self.get(key, list, [])
        if not all(isinstance(value, str) for value in values):
            raise self.wrong(f"{key} must be a list of strings")
        return tuple(values)

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        value: str = self.get(key, str, choices[0])
        if value not in choices:
            raise self.wrong(f"{key} must be one of {', '.join(choices)}")
        return value

    def table(self, key: str) -> _Table | None:
        values = self.get(key, dict, None)
        return None if values is None else _Table(values, f"{self.where}, {key}")

    def tables(self, key: str) -> list[_Table]:
        values = self.get(key, list, [])
        if not all(isinstance(value, dict) for value in values):
            raise self.wrong(f"{key} must be tables")
        return [_Table(value, f"{self.where}, {key} {n}") for n, value in enumerate(values, 1)]

    def raw(self, key: str) -> Any:
        return self._values.pop(key, None)

    def has(self, key: str) -> bool:
        return key in self._values

    def wrong(self, why: str) -> ScriptError:
        return ScriptError(f"{self.where}: {why}")

    def end(self) -> None:
        if self._values:
            raise self.wrong(f"unknown: {', '.join(sorted(self._values))}")


def _handshake(table: _Table) -> Handshake:
    handshake = Handshake(
        table.get("status", int, 426),
        table.get("body", str, ""),
        table.get("content_type", str, "application/json"),
    )
    table.end()
    return handshake


def _scenario(table: _Table, number: int) -> Scenario:
    identity = table.get("id", str, f"scenario-{number}")
    table.where = f"scenario {identity}"
    hunks: dict[str, Hunk] = {}
    _hunks(table, hunks)
    steps = _steps(table, hunks)
    redirect_table = table.table("redirect")
    redirect = None
    if redirect_table is not None:
        own = set(hunks)
        _hunks(redirect_table, hunks)
        dropped = frozenset(redirect_table.strings("drop"))
        if not dropped <= own:
            raise redirect_table.wrong(f"drop names unknown hunks: {', '.join(sorted(dropped - own))}")
        prompt = redirect_table.get("prompt", str, "")
        redirect = Redirect(prompt, _steps(redirect_table, hunks), dropped)
        redirect_table.end()
    prompt = table.get("prompt", str, "")
    scenario = Scenario(
        identity, prompt, table.strings("match"), steps, hunks, redirect, table.get("times", int, None)
    )
    table.end()
    return scenario


def _hunks(table: _Table, known: dict[str, Hunk]) -> None:
    for entry in table.tables("hunk"):
        identity = entry.get("id", str, "")
        if not identity or identity in known:
            raise entry.wrong("each hunk needs an id of its own")
        action = Action(entry.one_of("action", (Action.UPDATE, Action.ADD, Action.DELETE)))
        path, anchor = entry.get("path", str, ""), entry.get("anchor", str, "")
        try:
            known[identity] = read_lines(path, action, entry.get("lines", str, ""), anchor)
        except PatchError as error:
            raise entry.wrong(str(error)) from None
        entry.end()


def _steps(table: _Table, hunks: dict[str, Hunk]) -> tuple[Step, ...]:
    steps = []
    for entry in table.tables("step"):
        steps.append(_step(entry, hunks))
        entry.end()
    return tuple(steps)


def _step(entry: _Table, hunks: dict[str, Hunk]) -> Step:
    if entry.has("patch"):
        return _patch(entry, hunks)
    limit = entry.get("tokens", int, None)
    if calls := entry.tables("call"):
        return Calls(tuple(_call(call) for call in calls), limit)
    if entry.has("think"):
        return Think(entry.get("think", str, ""), limit)
    if entry.has("say"):
        return Say(entry.get("say", str, ""), limit)
    if entry.has("rest"):
        entry.get("rest", bool, True)
        return Rest()
    if entry.has("stall"):
        return Stall(entry.get("stall", float, 0.0))
    if entry.has("garbage"):
        return Garbage(tuple(_frame(text) for text in entry.strings("garbage")))
    fail, close = entry.table("fail"), entry.table("close")
    if fail is not None:
        step: Step = Fail(
            fail.get("code", str, ""),
            fail.get("message", str, "The script says so."),
            fail.get("status", int, 400),
            fail.one_of("shape", ("nested", "flat", "response")),
            fail.get("once", bool, False),
        )
        fail.end()
        return step
    if close is not None:
        step = Close(close.get("code", int, 0), close.get("reason", str, ""), close.get("once", bool, False))
        close.end()
        return step
    raise entry.wrong("a step is one of think, say, patch, call, rest, stall, garbage, fail, close")


def _call(entry: _Table) -> Call:
    tool, given = entry.get("tool", str, ""), entry.raw("arguments")
    entry.end()
    if not tool:
        raise entry.wrong("each call needs a tool")
    return Call(tool, given if isinstance(given, str) else json.dumps(given or {}))


def _patch(entry: _Table, hunks: dict[str, Hunk]) -> Patch:
    given, limit = entry.raw("patch"), entry.get("tokens", int, None)
    if isinstance(given, str):
        try:
            read = read_patch(given)
        except PatchError as error:
            raise entry.wrong(str(error)) from None
        names = [f"{entry.where}#{number}" for number in range(1, len(read) + 1)]
        hunks.update(zip(names, read, strict=True))
        return Patch(tuple(names), limit)
    if not isinstance(given, list) or not given or not all(name in hunks for name in given):
        raise entry.wrong("patch must be a V4A patch, or a list of hunk ids of this scenario")
    return Patch(tuple(given), limit)


def _frame(text: str) -> str | bytes:
    """A garbage frame; ``hex:00ff`` stands for the binary frame of those bytes."""
    if not text.startswith("hex:"):
        return text
    try:
        return bytes.fromhex(text[4:])
    except ValueError:
        raise ScriptError(f"garbage: {text!r} is not hexadecimal") from None
