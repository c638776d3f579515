"""Which faults of a room are tried."""

from __future__ import annotations

import random
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

from tests.mutate.operators import Mutation, defaults_of, mutations
from tests.mutate.room import PACKAGES, ROOT, Room, relative

EQUIVALENT = Path(__file__).with_name("equivalent.toml")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The faults to try, and those that were drawn but cannot change behaviour, each with the reason."""

    tried: tuple[Mutation, ...]
    equivalent: tuple[tuple[Mutation, str], ...]


def choose(room: Room, count: int, seed: int) -> Chosen:
    """Draw ``count`` faults, spread over the room's files and over the kinds of faults."""
    known = _equivalents()
    sources = {relative(path): path.read_bytes() for path in room.sources}
    tried: list[Mutation] = []
    equivalent: list[tuple[Mutation, str]] = []
    for mutation in _drawn(sources, seed):
        if len(tried) == count:
            break
        reason = known.get(_key(mutation))
        if reason is not None:
            equivalent.append((mutation, reason))
        elif _changes(sources[mutation.path], mutation):
            tried.append(mutation)
    return Chosen(tuple(tried), tuple(equivalent))


def again(room: Room, told: list[Mutation]) -> Chosen:
    """The faults that were told before, as far as they are in the room still."""
    wanted = {_key(mutation) for mutation in told}
    known = _equivalents()
    sources = {relative(path): path.read_bytes() for path in room.sources}
    found = [mutation for mutation in _drawn(sources, 0) if _key(mutation) in wanted]
    return Chosen(
        tuple(mutation for mutation in found if _key(mutation) not in known),
        tuple((mutation, known[_key(mutation)]) for mutation in found if _key(mutation) in known),
    )


def _key(mutation: Mutation) -> tuple[str, str, str]:
    return mutation.path, mutation.text, mutation.change


def _drawn(sources: dict[str, bytes], seed: int) -> Iterator[Mutation]:
    """All faults in the order of drawing: one of each file and kind, then one more of each, and so on."""
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*.py"))
    defaults = defaults_of(path.read_bytes() for path in files)
    groups: dict[tuple[str, str], list[Mutation]] = defaultdict(list)
    for path, source in sources.items():
        for mutation in mutations(path, source, defaults):
            groups[path, mutation.kind].append(mutation)
    draw = random.Random(seed)
    left = [groups[key] for key in sorted(groups)]
    for group in left:
        draw.shuffle(group)
    while left:
        draw.shuffle(left)
        for group in left:
            yield group.pop()
        left = [group for group in left if group]


def _changes(source: bytes, mutation: Mutation) -> bool:
    """Whether a fault compiles, and to other instructions."""
    try:
        changed = compile(mutation.applied(source), mutation.path, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return not _same(changed, compile(source, mutation.path, "exec", dont_inherit=True))


def _same(one: CodeType, other: CodeType) -> bool:
    """Whether two pieces of code do the same, wherever they stand."""
    mine, theirs = _meaning(one), _meaning(other)
    inner = [value for value in one.co_consts if isinstance(value, CodeType)]
    outer = [value for value in other.co_consts if isinstance(value, CodeType)]
    return mine == theirs and len(inner) == len(outer) and all(map(_same, inner, outer))


def _meaning(code: CodeType) -> tuple[object, ...]:
    constants = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_exceptiontable, code.co_flags


def _equivalents() -> dict[tuple[str, str, str], str]:
    entries = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    return {(one["file"], one["line"], one["mutation"]): one["reason"] for one in entries}
