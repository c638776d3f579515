"""Answers side requests without a model, for practice: reviews by a list of patterns, refactors by a
comment, and suggestions by what followed the same text elsewhere in the file.

For a suggestion the longest end of the text before the cursor that the file holds in another place is
looked for; what follows it there is suggested. A rewrite does with a region what the last changes did
elsewhere: a name that became another one, or an argument that a function takes now.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import pairwise
from typing import Any

_REVIEW = "Review this change."
_REFACTOR = re.compile(r"Rewrite the selected lines of (?P<path>.+?): (?P<sentence>.*)", re.DOTALL)
_NEW_LINE = re.compile(r" *(\d+) \+ ?(.*)")
_PATH = re.compile(r"(\S.*):$")
_SELECTED = re.compile(r"^Selected, lines .*\n(`{3,}).*\n(?P<lines>(?:.*\n)*?)\1$", re.MULTILINE)
_SLASHES = (".js", ".ts", ".go", ".rs", ".c", ".h", ".cpp", ".java", ".css")


def side_answer(data: str, ask: str, *, security: bool) -> str | None:
    """The answer to a review or a refactor, of which ``data`` and ``ask`` are the messages; None for any
    other request. ``security`` says that only security holes are asked for."""
    if ask.startswith(_REVIEW):
        return "".join(f"{json.dumps(each)}\n" for each in _findings(data, security=security)) or "Nothing."
    if rewrite := _REFACTOR.fullmatch(ask):
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


_INSERTION = re.compile(
    r"File: .*?\n\n(?P<around>.*)Behind the cursor:\n(?P<after>.*)\n\nBefore the cursor:\n(?P<before>.*)\Z",
    re.DOTALL,
)
_REWRITE = re.compile(
    r"File: .*?\n\n(?P<around>.*)Behind the cursor:\n.*\n\nThe region:\n(?P<region>.*)\Z", re.DOTALL
)
_NAME = re.compile(r"\w+|\W")
_LEAST, _MOST = 3, 80
"""Characters of the text before the cursor that must be found again, and that are looked for at most."""
_LINES = 3
_HEAD = re.compile(r"[-+].*?(?P<name>\w+)\((?P<parameters>[^()]*)\)?$")


def suggestion(text: str) -> str | None:
    """The answer to a request whose last message is ``text``; None if that asks for no suggestion."""
    asked = _INSERTION.fullmatch(text)
    if asked is not None:
        return continued(asked["before"], asked["after"])
    asked = _REWRITE.fullmatch(text)
    return rewritten(asked["region"], asked["around"]) if asked is not None else None


def continued(before: str, after: str) -> str:
    """What follows ``before``, by what followed its end elsewhere; empty where that is nowhere."""
    rest = after.partition("\n")[2]
    # What is typed now is not found in itself: the last line counts as the end alone.
    text = f"{before}\n{rest}"
    for length in range(min(_MOST, len(before)), _LEAST - 1, -1):
        end = before[-length:]
        if not end.strip():
            break
        at = text.rfind(end, 0, len(before) - 1)
        if at < 0:
            at = text.find(end, len(before) + 1)
        if at >= 0:
            found = _lines(text[at + length :], end)
            if found.strip() and not rest.startswith(found.strip("\n")):
                return found
    return ""


def _lines(follows: str, end: str) -> str:
    """The rest of the line; behind a whole line the next ones."""
    lines = follows.split("\n")
    if lines[0].strip():
        return lines[0]
    kept: list[str] = []
    for line in lines[1:]:
        if not line.strip() or len(kept) == _LINES:
            break
        kept.append(line)
    if end.endswith("\n") or not kept:
        return "\n".join(kept)
    return "\n".join(["", *kept])


def rewritten(region: str, around: str) -> str:
    """The region after what the last changes did: names became others, functions take other arguments."""
    lines = around.partition("Changed lately:\n")[2].splitlines()
    for old, new in pairwise(lines):
        if not (old.startswith("-") and new.startswith("+")):
            continue
        head, head_now = _HEAD.match(old), _HEAD.match(new)
        if head is not None and head_now is not None and head["name"] == head_now["name"]:
            before, after = _parts(head["parameters"]), _parts(head_now["parameters"])
            region = _with_arguments(region, head["name"], before, after)
            continue
        was, now = _NAME.findall(old[1:]), _NAME.findall(new[1:])
        if len(was) != len(now):
            continue
        for one, other in zip(was, now, strict=True):
            if one != other and one.isidentifier() and other.isidentifier():
                region = re.sub(rf"\b{re.escape(one)}\b", other, region)
    return region


def _parts(listed: str) -> list[str]:
    """What stands between the commas of a list, outside of brackets."""
    parts, depth = [""], 0
    for character in listed:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _with_arguments(region: str, name: str, before: list[str], after: list[str]) -> str:
    """The region with the arguments that ``name`` takes now; a new one has the name of its parameter."""
    kept, made = [part for part in before if part not in ("self", "cls")], ""
    wanted = [part for part in after if part not in ("self", "cls")]
    while (found := re.search(rf"\b{re.escape(name)}\(", region)) is not None:
        end = _closing(region, found.end())
        written = _parts(region[found.end() : end])
        given = dict(zip(kept, written, strict=False))
        by_name = any(re.match(r"\w+ *=[^=]", each) for each in written)
        arguments = (given.get(each) or _new_argument(each, by_name=by_name) for each in wanted)
        made += region[: found.end()] + ", ".join(arguments)
        region = region[end:]
    return made + region


def _new_argument(parameter: str, *, by_name: bool) -> str:
    name = re.split(r"\W", parameter, maxsplit=1)[0]
    return f"{name}={name}" if by_name else name


def _closing(text: str, start: int) -> int:
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
    return len(text)
