"""Decides what a model that writes its edits as text is asked after an answer that came to nothing.

A refusal that is repeated teaches nothing: the second of a kind changes what is asked for, and after the
third the turn ends and says what was tried. An answer without any edit is asked for once more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from edits.hunk import Landed, RefusalCode, Refused, RefusedBy, Status
from edits.report import Outcome
from session.wire.instructions import SEND_AGAIN, SEND_FILES_AGAIN, NoEdit, no_edit, not_renamed, other_form

MOST_REPAIRS = 2
"""Most times in one turn that refused hunks are asked for again."""
_AGAIN = "The answer changes nothing: asking once more."
_EMPTY = "The answer is empty: asking once more."
_STILL_EMPTY = "The model answered with nothing, twice. Ask in other words, or choose another model."
_LONGEST_SHOWN = 8_000
"""Characters of a file up to which a model is shown all of it, and asked for all of it."""
ASKS = re.compile(
    r"(?:what|why|how|where|which|who|when|is|are|does|do|did|explain|describe|tell|list|summari[sz]e)\b|.*\?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
"""A request that words answer."""
_NAME = r"[`'\"]?(?!(?:it|this|that|them)\b)([A-Za-z_$][\w$]*)(?:\(\))?[`'\"]?"
_RENAME = re.compile(
    rf"\brename\s+(?:the\s+)?(?:[a-z]+\s+)??{_NAME}(?:\s+(?:of|in)\s+[\w./$]+)?\s+(?:to|into|as)\s+{_NAME}",
    re.IGNORECASE,
)
"""A request for a rename: "Rename the method next of Queue to take", "rename spread to value_range"."""
_MOST_LINES = 20
_NONE: Mapping[str, list[str]] = MappingProxyType({})
_MADE_UP = re.compile(r"<tool_call>|<function_call>|^\s*(?:```(?:json)?\s*)?\{", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Request:
    """What the model is asked next, in spark's own ``words``; ``files`` are shown to it before them, and
    where none of them can be, ``bare`` are the words. ``notice`` is for the user."""

    words: str
    notice: str = ""
    files: tuple[str, ...] = ()
    bare: str = ""


def renamed(prompt: str) -> tuple[str, str] | None:
    """The old and the new name where ``prompt`` asks for a rename."""
    found = _RENAME.search(prompt)
    return None if found is None or found[1] == found[2] else (found[1], found[2])


def left_behind(old: str, texts: Mapping[str, str | None]) -> dict[str, list[str]]:
    """The lines of each file in which the name ``old`` stands, as ``path:line: text``."""
    word = re.compile(rf"(?<![\w$]){re.escape(old)}(?![\w$])")
    found: dict[str, list[str]] = {}
    for path, text in texts.items():
        for at, line in enumerate((text or "").splitlines(), 1):
            if word.search(line):
                found.setdefault(path, []).append(f"{path}:{at}: {line.strip()}")
    return found


@dataclass(slots=True)
class Repairs:
    """The repairs of one turn. ``edit_format`` is the model's; ``brief`` says that it is a small one."""

    prompt: str
    edit_format: str
    brief: bool
    asked: int = 0
    """How often refused hunks were asked for again."""
    _kinds: set[tuple[str, RefusalCode]] = field(default_factory=set)
    _nudged: bool = False
    _renamed: bool = False
    _edited: bool = False

    def next(
        self, fresh: Sequence[Outcome], answer: str, *, called: bool, left: Mapping[str, list[str]] = _NONE
    ) -> Request | None:
        """What to ask after an answer whose hunks ended so; None where the turn is done. ``called`` says that
        it held tool calls, ``left`` are the lines that still have the old name of a :attr:`rename`."""
        refused = [each for each in fresh if isinstance(each, Refused)]
        self.saw(fresh)
        if refused:
            return self._again(refused)
        if left and (names := self.rename) is not None:
            return self._finish_rename(names, left)
        if self._edited or called or self._nudged or self.asked:
            return None
        return self._nudge(fresh, answer)

    def saw(self, outcomes: Sequence[Outcome]) -> None:
        """Take note of how hunks ended, those of patches that were reported to a call too."""
        self._edited = self._edited or any(map(_changed, outcomes))

    @property
    def rename(self) -> tuple[str, str] | None:
        """The old and the new name of a rename that a small model was asked for, as long as it was not asked
        about what it left: it forgets places."""
        small = self.brief and self.edit_format == "whole"
        if not small or self._renamed or self.asked or ASKS.match(self.prompt.strip()):
            return None
        return renamed(self.prompt)

    def _finish_rename(self, names: tuple[str, str], left: Mapping[str, list[str]]) -> Request:
        self._renamed = self._nudged = True
        lines = [line for each in left.values() for line in each][:_MOST_LINES]
        places = f"{len(lines)} line{' still has' if len(lines) == 1 else 's still have'}"
        words = not_renamed(*names, lines)
        return Request(words, f"{places} the old name {names[0]}: asking once more.", tuple(left), words)

    def told(self, fresh: Sequence[Outcome], answer: str, *, called: bool) -> str:
        """What the user is told where nothing more is asked, and hunks of the last answer were refused or it
        was empty."""
        if self._nudged and not (answer.strip() or fresh or called or self._edited):
            return _STILL_EMPTY
        left = sum(isinstance(each, Refused) for each in fresh)
        if not left or self.asked < MOST_REPAIRS:
            return ""
        other = "blocks" if self.edit_format == "whole" else "the whole file"
        return (
            f"The model's edits were refused {self.asked + 1} times: it was shown why, then the file as it"
            f" is, and asked for {other}. Say in other words what is to change, or use a larger model."
        )

    def _again(self, refused: Sequence[Refused]) -> Request | None:
        kinds = {(each.path, each.code) for each in refused if each.by is RefusedBy.EDIT}
        if not kinds or self.asked >= MOST_REPAIRS:
            return None
        again, self._kinds = kinds & self._kinds, self._kinds | kinds
        self.asked += 1
        if not again:
            return Request(SEND_FILES_AGAIN if self.edit_format == "whole" else SEND_AGAIN)
        files = tuple(dict.fromkeys(path for path, _ in sorted(again) if path))
        words, bare = (other_form(self.edit_format, shown=shown) for shown in (True, False))
        return Request(words, files=files, bare=bare)

    def _nudge(self, fresh: Sequence[Outcome], answer: str) -> Request | None:
        if not answer.strip() and not fresh:
            self._nudged = True
            return Request(no_edit(self.edit_format, NoEdit.EMPTY), _EMPTY)
        if ASKS.match(self.prompt.strip()) or answer.rstrip().endswith("?"):
            return None
        made_up = _is_made_up(answer)
        if not (self.brief or made_up):
            return None
        self._nudged = True
        kind = NoEdit.SAME if fresh else NoEdit.CALL if made_up else NoEdit.NONE
        return Request(no_edit(self.edit_format, kind), _AGAIN)


def _changed(outcome: Outcome) -> bool:
    return isinstance(outcome, Landed) and outcome.status is not Status.ALREADY_APPLIED


def _is_made_up(answer: str) -> bool:
    """Whether an answer holds a tool call written as text."""
    if _MADE_UP.search(answer) is None:
        return False
    bare = re.sub(r"```\w*", "", answer)
    for found in re.finditer(r"\{", bare):
        try:
            value, _ = json.JSONDecoder().raw_decode(bare, found.start())
        except ValueError:
            continue
        return isinstance(value, dict) and bool({"arguments", "parameters", "name", "tool"} & value.keys())
    return "<tool_call>" in answer or '"arguments"' in answer


def quoted(texts: Mapping[str, str | None]) -> str:
    """The files that are short enough to be shown whole, in the form in which a window shows them."""
    short = {path: text for path, text in texts.items() if text is not None and len(text) <= _LONGEST_SHOWN}
    return "".join(f"## File: {path}\n\n```\n{text}```\n" for path, text in short.items())
