"""The words of the question whether a project's files may instruct the model, in every front end."""

from __future__ import annotations

from collections.abc import Iterable

from session.project.project_trust import SETTINGS_FILE, Candidate
from tui.front.words.exact_text import exact_lines

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
