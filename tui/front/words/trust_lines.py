"""The words of the question whether a project's files may instruct the model, in every front end.

Text shown as exactly what it is: what would be run must be read before it is allowed.

Runs of blanks could push the end of a command off the screen, and characters that cannot be seen could
change what it does, so both are written out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from session.base.text.invisible import is_invisible
from session.project.project_trust import SETTINGS_FILE, Candidate

LONGEST_RUN = 8
"""Blanks in a row that are still shown as blanks."""
_RUN = re.compile(rf"[^\S\n]{{{LONGEST_RUN + 1},}}")
_BLANK_LINES = re.compile(rf"\n{{{LONGEST_RUN + 1},}}")


def exact_lines(text: str) -> list[str]:
    """The lines of ``text``, with long runs of blanks as a count and unseen characters by their names."""
    text = _BLANK_LINES.sub(lambda run: f"\n⟨{len(run[0]) - 1:,} empty lines⟩\n", text)
    return [_RUN.sub(_count, line) for line in map(_named, text.split("\n"))]


def _count(run: re.Match[str]) -> str:
    return f"⟨{len(run[0]):,} blanks⟩"


def _named(line: str) -> str:
    return "".join(_name(character) for character in line)


def _name(character: str) -> str:
    if character == "\t":
        return "    "
    odd_blank = character.isspace() and character != " "
    if not odd_blank and not is_invisible(character):
        return character
    return f"⟨{unicodedata.name(character, f'U+{ord(character):04X}').lower()}⟩"


BAR = "│ "
"""Stands before each line of the project's files."""
_MOST_NAMED = 3


def trust_title(candidates: Iterable[Candidate]) -> str:
    """What is asked, on one line."""
    paths = [each.path for each in candidates]
    named = ", ".join(map(_on_one_line, paths[:_MOST_NAMED]))
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    does = "would set your model or theme" if paths == [SETTINGS_FILE] else "would instruct the model"
    return f"Not used so far: {named}{more} of this project {does}. Agree?"


def trust_lines(candidates: Iterable[Candidate]) -> list[str]:
    """What the files say, whole: unseen characters by their names, and a bar before each of their lines, so
    that nothing in them looks like spark's own words."""
    lines = []
    for each in candidates:
        said = exact_lines(each.text.removesuffix("\n"))
        many = f"{len(said)} line{'s' if len(said) > 1 else ''}"
        lines.append(f"{_on_one_line(each.path)} ({each.standing}, {many}):")
        lines += [f"{BAR}{line}" for line in said]
    return lines


def _on_one_line(path: str) -> str:
    return " ".join(exact_lines(path))
