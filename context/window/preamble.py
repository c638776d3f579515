"""The words of a window: instructions, those of the project, the conversation so far, the request."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from context.disk.source import (
    INSTRUCTION_FILES,
    INSTRUCTIONS_FILE,
    RULES_FOLDER,
    Source,
    Unread,
    instructions_of,
    read,
)
from context.project.project_paths import project_paths
from context.project.snapshot import NOT_APPROVED, Snapshot
from context.text.safe import fenced, safe_instructions
from context.text.tokens import as_block
from context.window.packing import Packing
from context.window.pieces import BudgetTooSmall, Kind, LeftOut, Piece

_CUT = "… (cut: the rest did not fit)"
_INSTRUCTIONS_SHARE = 3
"""The project's instructions get at most one third of the room, …"""
_HISTORY_SHARE = 2
"""… the conversation at most half of what is then left."""


def needed(packing: Packing) -> None:
    """What must be there: the instructions, unless they were sent before, and the request."""
    instructions = (
        as_block(packing.request.instructions, "# Instructions") if packing.request.instructions else ""
    )
    if packing.before.texts.get((Kind.INSTRUCTIONS, "")) == instructions:
        instructions = ""
    text = as_block(f"## Request\n\n{packing.request.text}", "")
    tokens = packing.counter.count_kept(instructions), packing.counter.count(text)
    if sum(tokens) > packing.room:
        raise BudgetTooSmall(packing.request.used + sum(tokens), packing.request.budget)
    if instructions:
        packing.texts[Kind.INSTRUCTIONS, ""] = instructions
        packing.add(Kind.INSTRUCTIONS, None, instructions, tokens[0], "how to answer and how to write edits")
    packing.add(Kind.REQUEST, None, text, tokens[1], "what the user asked")


def project_instructions(packing: Packing) -> None:
    """AGENTS.md of the repository's folders down to the root, and of the folders around the changed, named
    and open files, as far as the user agreed to what they say. Where a folder has none, what other programs
    read in its place counts."""
    near = {*packing.snapshot.changes, *packing.mentioned, *packing.pinned, *packing.request.open_files}
    folders = {""}
    for path in near:
        folder = path.rpartition("/")[0]
        while folder:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    has = project_paths(packing.snapshot.paths).__contains__
    inner = (instructions_of(folder, has) for folder in folders if folder)
    known = {path for path in inner if path}
    limit = packing.room // _INSTRUCTIONS_SHARE
    for path in (*outer_instructions(packing.snapshot), *sorted(known, key=_depth)):
        limit -= _instructions_file(packing, path, limit)
    for path, instead in passed_over(packing.snapshot):
        if path not in packing.removed:
            packing.left_out.append(LeftOut(path, 0, PASSED_OVER.format(instead)))


PASSED_OVER = "does not count: {} is used in its place"
"""The reason why a file of instructions beside another one is left out."""
_MOST_RULES = 20
UNREAD = "cannot be read: {}"
"""The reason why a file of instructions that is there is left out."""


def outer_instructions(snapshot: Snapshot) -> tuple[str, ...]:
    """The paths where instructions for the whole project may be, the outermost first. It does not matter
    whether git ignores them: some keep theirs to themselves."""
    above = (f"{'../' * level}{INSTRUCTIONS_FILE}" for level in range(snapshot.above, 0, -1))
    return (*above, *of_root(snapshot.root))


def of_root(root: Path) -> tuple[str, ...]:
    """The instructions that count in a project's folder: AGENTS.md, else the first of the others that is
    there, else the rules of Cursor, else the name of the first."""
    found = _there(root)
    if not found or found[0] in INSTRUCTION_FILES:
        return found[:1] or (INSTRUCTIONS_FILE,)
    return found


def passed_over(snapshot: Snapshot) -> list[tuple[str, str]]:
    """The files of instructions in the project's folder that do not count, and the one that counts."""
    used = of_root(snapshot.root)
    return [(path, used[0]) for path in _there(snapshot.root) if path not in used]


def _there(root: Path) -> tuple[str, ...]:
    names = (name for name in INSTRUCTION_FILES if os.path.lexists(root / name))
    try:
        rules = sorted(entry.name for entry in os.scandir(root / RULES_FOLDER) if entry.name.endswith(".mdc"))
    except OSError:
        rules = []
    return (*names, *(f"{RULES_FOLDER}/{name}" for name in rules[:_MOST_RULES]))


def read_instructions(snapshot: Snapshot, path: str) -> Source | Unread:
    """A file of instructions: one above the project's folder is of the repository; a link is followed inside
    the project."""
    levels = path.split("/").count("..")
    if not levels or path in snapshot.unread:
        return snapshot.read(snapshot.target(path))
    return replace(read(snapshot.root.parents[levels - 1], INSTRUCTIONS_FILE), path=path)


def _instructions_file(packing: Packing, path: str, limit: int) -> int:
    source = read_instructions(packing.given, path)
    if path in packing.removed:
        return 0
    if isinstance(source, Unread):
        if not source.gone:
            packing.left_out.append(LeftOut(path, 0, UNREAD.format(source.why)))
        return 0
    if not packing.request.approved.holds(path, source.digest):
        packing.unapproved.append(path)
        if path not in packing.withheld:
            packing.left_out.append(LeftOut(path, 0, NOT_APPROVED))
        return 0
    safe = safe_instructions(source.text)
    folder = path.rpartition("/")[0]
    scope = f" (for files in {folder}/)" if folder and not folder.startswith("..") else ""
    heading = f"## Project instructions: {path}{scope}\n\n"
    text = as_block(heading + fenced("", safe.text), "")
    why = f"the project's instructions{scope}"
    if safe.kinds:
        why += f"; masked: {', '.join(safe.kinds)}"
    key = (Kind.PROJECT_INSTRUCTIONS, path)
    if packing.before.texts.get(key) == text:
        return 0
    tokens = packing.counter.count_kept(text)
    sent = text
    if tokens > limit:
        sent, kept, total = _cut(packing, heading, safe.text.split("\n"), limit)
        if not kept:
            packing.left_out.append(LeftOut(path, tokens, "no room for the project's instructions"))
            return 0
        why += f"; cut to the first {kept} of {total} lines"
        tokens = packing.counter.count(sent)
    packing.texts[key] = text
    packing.add(Kind.PROJECT_INSTRUCTIONS, path, sent, tokens, why)
    return tokens


def _cut(packing: Packing, heading: str, lines: list[str], limit: int) -> tuple[str, int, int]:
    """As many first lines as fit, how many they are, and of how many."""

    def cut(count: int) -> str:
        return as_block(heading + fenced("", "\n".join([*lines[:count], _CUT])), "")

    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if packing.counter.count(cut(middle)) <= limit:
            low = middle
        else:
            high = middle - 1
    return cut(low), low, len(lines)


def history(packing: Packing) -> None:
    """The earlier messages, newest first into the room, in their order into the window."""
    limit = packing.room // _HISTORY_SHARE
    kept: list[Piece] = []
    count = len(packing.request.history)
    for at in range(count - 1, -1, -1):
        text = as_block(packing.request.history[at], "## Earlier in the conversation")
        tokens = packing.counter.count_kept(text)
        if tokens > limit:
            packing.left_out += [
                LeftOut(f"message {earlier + 1}", 0, "no room for the oldest messages")
                for earlier in range(at + 1)
            ]
            break
        limit -= tokens
        packing.room -= tokens
        kept.append(
            Piece(Kind.HISTORY, None, text, tokens, f"message {at + 1} of {count} of the conversation")
        )
    packing.pieces += reversed(kept)


def _depth(path: str) -> tuple[int, str]:
    return path.count("/"), path
