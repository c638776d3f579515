"""What of an output says why something failed: one excerpt for checks and for commands.

Each failure of a run of tests is a block. Blocks that say the same stand there once, with their number; of
those that differ each is there, and the more there are, the fewer lines each has. Pure, but for the patterns,
which are data.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from context.text.secrets import redact
from session.base.text.sanitize import clean
from session.record.outputs import overwritten

MOST_LINES = 80
"""Lines that are kept of all blocks, and of what is outside of them."""
LEAST_LINES = 3
"""Lines that a block has at least."""
MOST_BLOCKS = 60
"""Different failures that are shown; the others are counted."""
LAST = 12
"""The last lines of output, which are always kept."""
LONGEST_LINE = 300
LOUD = re.compile(
    r"error|exception|panic|fail|assert|undefined|cannot|not found|expected|^E\s|^>\s", re.IGNORECASE
)
"""What is in lines that say why something failed."""
_MOST_NAMES = 3
_VARYING = re.compile(r":\d+(?::\d+)?\b|\b0x[0-9a-f]+|\b\d+(?:\.\d+)?\s?(?:ms|s)\b", re.IGNORECASE)
"""What differs between equal failures: places, addresses and times."""


@dataclass(slots=True)
class _Block:
    """Lines of the output; ``name`` is that of the failed test, empty outside of all."""

    name: str
    lines: list[str]
    same: list[str] = field(default_factory=list)
    """The names of the blocks that say the same."""

    def key(self) -> tuple[str, ...]:
        """What it says, without what differs between equal failures."""
        said = self.lines[1:] if self.name else self.lines
        errors = [line for line in said if line.startswith("E ")] or [
            line for line in said if LOUD.search(line)
        ]
        return tuple(_VARYING.sub("", line).strip() for line in errors or said)


def excerpt(text: str) -> str:
    """The lines of ``text`` that say why: every failure once, lines with places or loud words, and the last
    ones; without control sequences and keys."""
    whole = redact(clean(overwritten(text))).text.splitlines()
    cut = [line.rstrip()[:LONGEST_LINE] for line in whole]
    lines = [line for at, line in enumerate(cut) if line or (at and cut[at - 1])]
    blocks = _folded(_blocks(_counted(lines)))
    failures = [block for block in blocks if block.name]
    most = max(LEAST_LINES, MOST_LINES // (len(failures) or 1))
    shown: list[str] = []
    told = 0
    for block in blocks:
        if not block.name:
            left = [line for line in block.lines if not failures or not _told_again().search(line)]
            shown += _cut(left, MOST_LINES // (4 if failures else 1), LAST if block is blocks[-1] else 0)
        elif told < MOST_BLOCKS:
            told += 1
            shown += _cut(block.lines, most, 0, head=True)
            shown += _same(block.same)
    if len(failures) > told:
        shown.append(f"… {len(failures) - told} more failures that differ")
    return "\n".join(shown)


def _counted(lines: Iterable[str]) -> list[str]:
    """``lines``, of which equal ones in a row stand there once with their number."""
    runs: list[tuple[str, int]] = []
    for line in lines:
        if line and runs and runs[-1][0] == line:
            runs[-1] = (line, runs[-1][1] + 1)
        else:
            runs.append((line, 1))
    return [f"{line}  (× {count})" if count > 1 else line for line, count in runs]


def _blocks(lines: Iterable[str]) -> list[_Block]:
    """``lines`` in blocks: one for each failed test, and what stands between them."""
    heads, end = _heads()
    blocks = [_Block("", [])]
    for line in lines:
        found = next((match for head in heads if (match := head.search(line))), None)
        if found is not None:
            blocks.append(_Block(found["name"].strip(), [line]))
        elif blocks[-1].name and end.search(line):
            blocks.append(_Block("", [line]))
        else:
            blocks[-1].lines.append(line)
    return [block for block in blocks if any(block.lines)]


def _folded(blocks: Iterable[_Block]) -> list[_Block]:
    """``blocks`` with equal failures as one."""
    first: dict[tuple[str, ...], _Block] = {}
    kept = []
    for block in blocks:
        known = first.setdefault(block.key(), block) if block.name else block
        if known is block:
            kept.append(block)
        else:
            known.same.append(block.name)
    return kept


def _same(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return [f"… the same in {len(names)} more: {', '.join(names[:_MOST_NAMES])}{more}"]


def _cut(lines: Sequence[str], most: int, last: int, *, head: bool = False) -> list[str]:
    """At most about ``most`` of ``lines``: those that say why with their neighbours, the ``last`` ones, and
    with ``head`` the first; all where they are no more."""
    if head and len(lines) <= most:
        return list(lines)
    kept = set(range(max(0, len(lines) - last), len(lines))) | ({0} if head else set())
    loud = [at for at, line in enumerate(lines) if LOUD.search(line) or names_place(line)]
    for around in ((0,), (-1, 1)):
        for at in loud:
            if len(kept) >= most:
                break
            kept |= {at + each for each in around if 0 <= at + each < len(lines)}
    shown: list[str] = []
    before = -1
    for at in sorted(kept):
        if at > before + 1:
            gap = at - before - 1
            shown.append(f"… {gap} line{'s' if gap > 1 else ''}")
        shown.append(lines[at])
        before = at
    return shown


def names_place(line: str) -> bool:
    """Whether ``line`` is the frame of a traceback."""
    return any(pattern.search(line) for pattern in frame_patterns())


@cache
def frame_patterns() -> tuple[re.Pattern[str], ...]:
    """The patterns of frames, each with the groups ``path`` and ``line``."""
    return tuple(re.compile(each["pattern"]) for each in _data()["frame"])


@cache
def _heads() -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]:
    """The patterns of the lines at which a failed test begins, and of those that end the last one."""
    data = _data()
    return tuple(re.compile(each["begins"]) for each in data["failure"]), re.compile(data["failures_end"])


@cache
def _told_again() -> re.Pattern[str]:
    """The pattern of lines that name a failure once more."""
    return re.compile(_data()["failure_again"])


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("frames.toml").read_text("utf-8"))
