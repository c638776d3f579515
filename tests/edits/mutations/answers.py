"""Right edits of real files, and the answers that say them in each format."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edits.files.diff import changes
from edits.files.folding import fold
from edits.hunk import Rung
from edits.placing.blank_lines import matches
from tests.edits.helpers import CORPUS

FORMATS = ("search-replace", "v4a", "unified", "json", "whole")
_MOST_LINES = 400
_MOST_CHANGED = 25
_MARKUP = ("<<<<", ">>>>", "====", "```", "***", "@@", "---", "+++", "...", "…", "|", "&", "~~~")


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of a file, and how a model types it: ``old`` becomes ``new``, from line ``start`` of it."""

    path: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model wrote for an edit. ``held`` says that it cannot be placed rightly by rule, but may be."""

    edit: Edit
    format: str
    text: str = ""
    held: bool = False


OWN = (
    (
        "src/queue.py",
        "class Queue:\n    def __init__(self, size):\n        self.size = size\n        self.items = []\n\n"
        "    def push(self, item):\n        if len(self.items) == self.size:\n            raise Full(item)\n"
        "        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop(0)\n",
        "class Queue:\n    def __init__(self, size):\n        self.size = size\n"
        "        self.items = deque()\n\n"
        "    def push(self, item):\n        if len(self.items) >= self.size:\n            self.dropped += 1\n"
        "            raise Full(item)\n        self.items.append(item)\n\n    def pop(self):\n"
        "        item = self.items.popleft()\n        self.taken(item)\n        return item\n",
    ),
    (
        "web/cart.js",
        "export function total(cart) {\n\tlet sum = 0;\n\tfor (const line of cart.lines) {\n"
        "\t\tsum += line.price * line.count;\n\t}\n\treturn sum;\n}\n\nexport const empty = { lines: [] };\n",
        "export function total(cart, rate) {\n\tlet sum = 0;\n\tfor (const line of cart.lines) {\n"
        "\t\tif (line.gift) continue;\n\t\tsum += line.price * line.count;\n\t}\n\treturn sum * rate;\n}\n\n"
        "export const empty = { lines: [], paid: false };\n",
    ),
)
"""Files of our own, for a checkout without the corpus beside it."""


def edits() -> Iterator[Edit]:
    """Every change of the corpus' files, with some context: the same ones in the same order."""
    chance = random.Random(35)
    for path, before, after in _pairs():
        yield from _edits_of(path, before.splitlines(), after.splitlines(), chance)


def _pairs() -> Iterator[tuple[str, str, str]]:
    yield from OWN
    for name in ("mutated", "real_replies"):
        file = CORPUS / f"{name}.json"
        for case in json.loads(file.read_text()) if file.is_file() else ():
            if case["expect"] != "ok" or case.get("kind", "").startswith("C_"):
                continue
            for path, before in case["files_before"].items():
                after = (case["files_after"] or {}).get(path, before)
                if (
                    not {"\r", "\ufeff"} & set(before)
                    and before.endswith("\n")
                    and after.endswith("\n")
                    and " " not in path
                ):
                    yield path, before, after


def _edits_of(
    path: str, before: Sequence[str], after: Sequence[str], chance: random.Random
) -> Iterator[Edit]:
    if len(before) > _MOST_LINES:
        return
    for change in changes(before, after):
        if change.end - change.start > _MOST_CHANGED or change.new_end - change.new_start > _MOST_CHANGED:
            continue
        above = min(chance.choice((1, 2, 3, 3)), change.start)
        below = min(chance.choice((1, 2, 3, 3)), len(before) - change.end)
        head, tail = before[change.start - above : change.start], before[change.end : change.end + below]
        old = (*head, *before[change.start : change.end], *tail)
        new = (*head, *after[change.new_start : change.new_end], *tail)
        lines = (*before[: change.start], *after[change.new_start : change.new_end], *before[change.end :])
        told = _plain(old) and _plain(new) and sum(map(str.isalnum, "".join(old))) >= 20
        if told and len(matches(fold(before), old, Rung.INDENT)) == 1:
            yield Edit(path, tuple(before), lines, change.start - above, old, new)


def _plain(lines: Sequence[str]) -> bool:
    """Whether no line looks like markup, is blank at an end, or has trailing space."""
    ends = bool(lines) and bool(lines[0].strip() and lines[-1].strip())
    return ends and not any(
        line != line.rstrip() or line.strip().startswith(_MARKUP) or line[:1] in "+-" or "&" in line
        for line in lines
        if line
    )


def written(edit: Edit, format: str) -> str:
    """The answer that a careful model writes."""
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (edit.old, edit.new))
    match format:
        case "search-replace":
            return f"{edit.path}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n"
        case "v4a":
            return f"*** Begin Patch\n*** Update File: {edit.path}\n@@\n{signed(edit)}*** End Patch\n"
        case "unified":
            counts = f"-{edit.start + 1},{len(edit.old)} +{edit.start + 1},{len(edit.new)}"
            return f"--- a/{edit.path}\n+++ b/{edit.path}\n@@ {counts} @@\n{signed(edit)}"
        case "json":
            return json.dumps({"path": edit.path, "old_string": old, "new_string": new}) + "\n"
        case _:
            whole = "".join(f"{line}\n" for line in edit.after)
            return f"{edit.path}\n```\n{whole}```\n"


def signed(edit: Edit) -> str:
    """The lines of an edit as a patch has them."""
    body: list[str] = []
    at = 0
    for change in changes(edit.old, edit.new):
        body += [f" {line}" for line in edit.old[at : change.start]]
        body += [f"-{line}" for line in edit.old[change.start : change.end]]
        body += [f"+{line}" for line in edit.new[change.new_start : change.new_end]]
        at = change.end
    body += [f" {line}" for line in edit.old[at:]]
    return "".join(f"{line}\n" for line in body)
