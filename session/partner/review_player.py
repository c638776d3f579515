"""Answers reviews by a list of patterns, and refactors by a comment: for practice, without a model."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

_REVIEW = "Review this change."
_REWRITE = re.compile(r"Rewrite the selected lines of (?P<path>.+?): (?P<sentence>.*)", re.DOTALL)
_NEW_LINE = re.compile(r" *(\d+) \+ ?(.*)")
_PATH = re.compile(r"(\S.*):$")
_SELECTED = re.compile(r"^Selected, lines .*\n(`{3,}).*\n(?P<lines>(?:.*\n)*?)\1$", re.MULTILINE)
_SLASHES = (".js", ".ts", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".css")


def side_answer(data: str, ask: str, *, security: bool) -> str | None:
    """The answer to a review or a refactor, of which ``data`` and ``ask`` are the messages; None for any
    other request. ``security`` says that only security holes are asked for."""
    if ask.startswith(_REVIEW):
        return "".join(f"{json.dumps(each)}\n" for each in _findings(data, security=security)) or "Nothing."
    if rewrite := _REWRITE.fullmatch(ask):
        return _rewritten(data, rewrite["path"], rewrite["sentence"])
    return None


@cache
def _faults() -> tuple[dict[str, Any], ...]:
    text = resources.files(__package__ or "").joinpath("faults.toml").read_text("utf-8")
    return tuple(tomllib.loads(text)["fault"])


def _findings(data: str, *, security: bool) -> Iterator[dict[str, Any]]:
    path = ""
    for line in data.splitlines():
        if named := _PATH.fullmatch(line):
            path = named[1]
        elif new := _NEW_LINE.fullmatch(line):
            for fault in _faults():
                if (security and not fault.get("security")) or not re.search(fault["pattern"], new[2]):
                    continue
                finding = {key: fault[key] for key in ("severity", "kind", "message", "why")}
                finding |= {"path": path, "start": int(new[1]), "end": int(new[1])}
                if "fix" in fault:
                    fixed = re.sub(fault["pattern"], fault["fix"], new[2])
                    finding["fix"] = {"old": new[2], "new": fixed}
                yield finding


def _rewritten(data: str, path: str, sentence: str) -> str:
    """A comment with the sentence above the selected lines."""
    selected = _SELECTED.search(data)
    lines = selected["lines"] if selected is not None else ""
    first = lines.partition("\n")[0]
    indent = first[: len(first) - len(first.lstrip())]
    mark = "//" if path.endswith(_SLASHES) else "#"
    comment = f"{indent}{mark} {' '.join(sentence.split())}\n"
    return f"{path}\n```\n<<<<<<< SEARCH\n{lines}=======\n{comment}{lines}>>>>>>> REPLACE\n```\n"
