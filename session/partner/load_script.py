"""Reads scripts from TOML. Each mistake is named with its file, its place and what was expected."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from edits.hunk import Action, Hunk
from session.base.text.tables import Table, TableError
from session.partner.script import (
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
from session.partner.script_text import PatchError, read_lines, read_patch
from session.wire.protocol.dialects import FIM_NAMES, NAMES

DEMO = Path(__file__).with_name("demo.toml")


class ScriptError(Exception):
    """A script cannot be played; the message names the file, the place and the mistake."""


def load(path: Path = DEMO) -> Script:
    """The script in the TOML file ``path``. Raises :class:`ScriptError`."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScriptError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScriptError(f"{path} is not UTF-8 text, first at byte {error.start}") from error
    try:
        return parse(text, name=path.stem)
    except ScriptError as error:
        raise ScriptError(f"{path}: {error}") from None


def parse(text: str, name: str = "script") -> Script:
    """The script that ``text`` (TOML) describes. Raises :class:`ScriptError`."""
    try:
        return _script(Table("the script", tomllib.loads(text)), name)
    except tomllib.TOMLDecodeError as error:
        raise ScriptError(f"not TOML: {error}") from None
    except TableError as error:
        raise ScriptError(str(error)) from None


def _script(table: Table, name: str) -> Script:
    handshake, http = table.inner("handshake"), table.inner("http")
    script = Script(
        name=table.text("name", name),
        scenarios=tuple(_scenario(entry, number) for number, entry in enumerate(table.inners("scenario"), 1)),
        models=table.texts("models") or PRACTICE_MODELS,
        refuse_models=frozenset(table.texts("refuse_models")),
        warm_up=table.choice("warm_up", ("yes", "unsupported", "ignored"), "yes"),
        bare=table.flag("bare", False),
        handshake=None if handshake is None else _handshake(handshake),
        requests_per_connection=table.count("requests_per_connection"),
        http=None if http is None else _handshake(http),
        dialects=table.texts("dialects") or (*NAMES, *FIM_NAMES),
        seed=table.count("seed"),
        steer=table.choice("steer", ("yes", "unsupported", "unknown", "late"), "yes"),
        deflate=table.flag("deflate", False),
        reads_redirects=table.flag("reads_redirects", False),
        plan=table.flag("plan", False),
    )
    table.end()
    return script


def _handshake(table: Table) -> Handshake:
    handshake = Handshake(
        table.whole("status", 426, least=100, most=599),
        table.text("body", ""),
        table.text("content_type", "application/json"),
    )
    table.end()
    return handshake


def _scenario(table: Table, number: int) -> Scenario:
    identity = table.text("id", f"scenario-{number}")
    table.where = f"scenario {identity}"
    hunks: dict[str, Hunk] = {}
    _hunks(table, hunks)
    steps = _steps(table, hunks)
    redirect_table = table.inner("redirect")
    redirect = None
    if redirect_table is not None:
        own = set(hunks)
        _hunks(redirect_table, hunks)
        dropped = frozenset(redirect_table.texts("drop"))
        if not dropped <= own:
            raise redirect_table.wrong(f"drop names unknown hunks: {', '.join(sorted(dropped - own))}")
        prompt = redirect_table.text("prompt", "")
        match = redirect_table.texts("match")
        redirect = Redirect(prompt, _steps(redirect_table, hunks), dropped, match)
        redirect_table.end()
    prompt = table.text("prompt", "")
    times, chance = table.count("times"), table.take("chance", 1.0)
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 <= chance <= 1:
        raise table.wrong("chance must be a number from 0 to 1")
    scenario = Scenario(
        identity,
        prompt,
        table.texts("match"),
        steps,
        hunks,
        redirect,
        times,
        float(chance),
        table.text("name", ""),
    )
    table.end()
    return scenario


def _hunks(table: Table, known: dict[str, Hunk]) -> None:
    for entry in table.inners("hunk"):
        identity = entry.text("id", "")
        if not identity or identity in known:
            raise entry.wrong("each hunk needs an id of its own")
        action = Action(entry.choice("action", tuple(Action), Action.UPDATE))
        path, anchor = entry.text("path", ""), entry.text("anchor", "")
        try:
            known[identity] = read_lines(path, action, entry.text("lines", ""), anchor)
        except PatchError as error:
            raise entry.wrong(str(error)) from None
        entry.end()


def _steps(table: Table, hunks: dict[str, Hunk]) -> tuple[Step, ...]:
    steps = []
    for entry in table.inners("step"):
        steps.append(_step(entry, hunks))
        entry.end()
    return tuple(steps)


def _step(entry: Table, hunks: dict[str, Hunk]) -> Step:
    if entry.has("patch"):
        return _patch(entry, hunks)
    limit = entry.count("tokens")
    if calls := entry.inners("call"):
        return Calls(tuple(_call(call) for call in calls), limit)
    if entry.has("think"):
        return Think(entry.text("think", ""), limit)
    if entry.has("say"):
        return Say(entry.text("say", ""), limit)
    if entry.has("rest"):
        entry.flag("rest", True)
        return Rest()
    if entry.has("stall"):
        return Stall(entry.seconds("stall") or 0.0)
    if entry.has("garbage"):
        return Garbage(tuple(_frame(text) for text in entry.texts("garbage")))
    fail, close = entry.inner("fail"), entry.inner("close")
    if fail is not None:
        step: Step = Fail(
            fail.text("code", ""),
            fail.text("message", "The script says so."),
            fail.whole("status", 400, least=100, most=599),
            fail.choice("shape", ("nested", "flat", "response"), "nested"),
            fail.flag("once", False),
            fail.seconds("retry_after"),
        )
        fail.end()
        return step
    if close is not None:
        step = Close(
            close.whole("code", 0, least=1000, most=4999), close.text("reason", ""), close.flag("once", False)
        )
        close.end()
        return step
    raise entry.wrong("a step is one of think, say, patch, call, rest, stall, garbage, fail, close")


def _call(entry: Table) -> Call:
    tool, identity, given = entry.text("tool", ""), entry.text("id", ""), entry.take("arguments")
    entry.end()
    if not tool:
        raise entry.wrong("each call needs a tool")
    return Call(tool, given if isinstance(given, str) else json.dumps(given or {}), identity)


def _patch(entry: Table, hunks: dict[str, Hunk]) -> Patch:
    given, limit = entry.take("patch"), entry.count("tokens")
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
    """A garbage frame; ``hex:00ff`` means the binary frame with those bytes."""
    if not text.startswith("hex:"):
        return text
    try:
        return bytes.fromhex(text[4:])
    except ValueError:
        raise TableError(f"garbage: {text!r} is not hexadecimal") from None
