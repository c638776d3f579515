"""Whether a command is one program with its arguments as they are written, and nothing else.

Two readers have to agree on it: the grammar of bash (tree-sitter-bash), which knows what a shell makes of a
text, and Python's ``shlex``, which knows what words it has. Lists, pipes, substitutions, redirections,
variables, globs, braces, comments, escapes and continued lines are no such command: a shell would do more
than run it.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""A word that every shell takes as it is."""
_UNQUOTABLE = re.compile(r"[$`\\!\"]")
"""What a shell looks for within double quotes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command; ``bare`` if it stands there without quotes."""

    text: str
    bare: bool = True


def plain_words(command: str) -> tuple[Word, ...]:
    """The words of ``command``; empty if it is not one program with its arguments alone."""
    if not command.isprintable():
        return ()
    data = command.encode()
    root = _parser().parse(data).root_node
    if root.has_error or root.child_count != 1 or root.children[0].type != "command":
        return ()
    parts = root.children[0].children
    words = [_word(part) for part in parts]
    gaps = [data[one.end_byte : two.start_byte] for one, two in pairwise(parts)]
    around = data[: parts[0].start_byte] + data[parts[-1].end_byte :]
    if (
        parts[0].type != "command_name"
        or any(gap.strip(b" ") or not gap for gap in gaps)
        or around.strip(b" ")
    ):
        return ()
    found = tuple(word for word in words if word is not None)
    if len(found) != len(words) or not found[0].bare or "=" in found[0].text:
        return ()
    return found if [word.text for word in found] == _by_shlex(command) else ()


def _word(node: Node) -> Word | None:
    text = (node.text or b"").decode()
    match node.type:
        case "command_name" if node.child_count == 1 and node.children[0].type == "word":
            return Word(text) if _PLAIN.fullmatch(text) else None
        case "word" | "number":
            return Word(text) if _PLAIN.fullmatch(text) else None
        case "raw_string":
            return Word(text[1:-1], bare=False)
        case "string" if all(child.type in ('"', "string_content") for child in node.children):
            return None if _UNQUOTABLE.search(text[1:-1]) else Word(text[1:-1], bare=False)
        case _:
            return None


def _by_shlex(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # only for commands, so not at the start
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
