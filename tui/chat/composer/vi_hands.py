"""Gives the keys of normal mode to a text area.

The modes of vi, and what a key does in normal mode: key, text and cursor in, text and cursor out.

What a hand does in a prompt of a few lines: motions with counts, ``d c y`` with motions and doubled,
``x X D C s S p P r ~ J``, ``i a I A o O``, ``f F t T``, undo and redo, and ``j k`` into the history at the
first and the last line.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from textual import events
from textual.widgets import TextArea
from textual.widgets.text_area import Selection

from tui.chat.composer.vi_motions import (
    MOTIONS,
    SAME_AS,
    Motion,
    first_letter,
    last_place,
    line_end,
    line_start,
    to_character,
)
from tui.editor.buffers.rows import index_at, place_at

Mode = Literal["insert", "normal"]
OPERATORS = "dcy"
TO_CHARACTER = "fFtT"
ALIASES = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "s": "cl", "S": "cc", "Y": "yy"}
"""Commands that are short for others."""
OTHERS = {"u": "undo", "ctrl+r": "redo", "/": "app.do('earlier_prompts')", "enter": "send"}
"""Keys that run an action of the composer or the app."""
MOST = 999
"""The largest count."""
_COMMAND = re.compile(
    r"(?P<count>[1-9]\d*)?(?:(?P<operator>[dcy])(?P<again>[1-9]\d*)?)?"
    r"(?P<rest>[fFtTr](?P<to>.)|gg|.)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a key. ``action`` is left to be run by the composer."""

    text: str
    cursor: int
    action: str = ""


class ViKeys:
    """The state of one composer: its mode, what was typed of a command, and the register."""

    def __init__(self, mode: Mode = "insert") -> None:
        self.mode: Mode = mode
        self.typed = ""
        """What was typed of a command that is not complete yet."""
        self.register = ""

    def escape(self, text: str, cursor: int) -> int:
        """Leave insert mode, or forget the command begun; where the cursor is then."""
        if self.mode == "insert":
            cursor = max(line_start(text, cursor), cursor - 1)
        self.mode, self.typed = "normal", ""
        return cursor

    def insert(self) -> None:
        """Begin to insert, as with a new draft."""
        self.mode, self.typed = "insert", ""

    def press(self, key: str, text: str, cursor: int) -> Done:
        """What ``key`` does in normal mode: a character, or a key by its name."""
        if not self.typed and key in OTHERS:
            return Done(text, cursor, OTHERS[key])
        typed = self.typed + (SAME_AS.get(key, key) if not self._wants_character else key)
        if len(typed) > 12 or (len(key) > 1 and key not in SAME_AS):
            self.typed = ""
            return Done(text, cursor)
        self.typed = typed
        if self._incomplete(typed):
            return Done(text, cursor)
        self.typed = ""
        return self._run(typed, text, cursor)

    @property
    def _wants_character(self) -> bool:
        return bool(self.typed) and self.typed[-1] in f"{TO_CHARACTER}r"

    def _incomplete(self, typed: str) -> bool:
        return bool(re.fullmatch(r"([1-9]\d*)?([dcy]([1-9]\d*)?)?[fFtTrg]?", typed))

    def _run(self, typed: str, text: str, cursor: int) -> Done:
        found = _COMMAND.fullmatch(typed)
        if found is None:
            return Done(text, cursor)
        count = min(int(found["count"] or 1) * int(found["again"] or 1), MOST)
        rest, operator = found["rest"], found["operator"]
        if operator is None and rest in ALIASES:
            return self._run(f"{count}{ALIASES[rest]}", text, cursor)
        if operator is not None:
            return self._operate(operator, rest, count, text, cursor)
        if rest in MOTIONS or rest[0] in TO_CHARACTER:
            return self._move(rest, count, text, cursor)
        return self._other(rest, count, text, cursor)

    # Motions and operators.

    def _move(self, rest: str, count: int, text: str, cursor: int) -> Done:
        to = _target(rest, count, text, cursor)
        if to == cursor and rest in ("j", "k"):
            return Done(text, cursor, "later" if rest == "j" else "earlier")
        return Done(text, min(to, last_place(text, to)))

    def _operate(self, operator: str, rest: str, count: int, text: str, cursor: int) -> Done:
        motion = MOTIONS.get(rest)
        if rest == operator:
            first, last = cursor, cursor
            for _ in range(count - 1):
                last = MOTIONS["j"].to(text, last)
            return self._take_lines(operator, text, first, last)
        if motion is None and rest[0] not in TO_CHARACTER:
            return Done(text, cursor)
        if operator == "c" and rest in ("w", "W") and cursor < len(text) and not text[cursor].isspace():
            rest = "e" if rest == "w" else "E"  # as vi does: the blanks behind the word stay
            motion = MOTIONS[rest]
        to = _target(rest, count, text, cursor)
        if to == cursor and not (motion and motion.inclusive):
            return Done(text, cursor)
        if motion is not None and motion.lines:
            return self._take_lines(operator, text, min(cursor, to), max(cursor, to))
        start, end = min(cursor, to), max(cursor, to)
        if rest in ("w", "W") and "\n" in text[start:end]:
            end = max(start, line_end(text, start))  # the last word of a line leaves its break
        if (motion and motion.inclusive) or rest[0] in "ft":
            end = min(end + 1, len(text))
        return self._take(operator, text, start, end)

    def _take(self, operator: str, text: str, start: int, end: int) -> Done:
        self.register = text[start:end]
        if operator == "y":
            return Done(text, start)
        left = text[:start] + text[end:]
        if operator == "c":
            self.mode = "insert"
            return Done(left, start)
        return Done(left, min(start, last_place(left, start)))

    def _take_lines(self, operator: str, text: str, first: int, last: int) -> Done:
        start, end = line_start(text, first), line_end(text, last)
        self.register = text[start:end] + "\n"
        if operator == "y":
            return Done(text, start)
        if operator == "c":
            self.mode = "insert"
            return Done(text[:start] + text[end:], start)
        if end < len(text):
            left, at = text[:start] + text[end + 1 :], start
        else:
            left = text[: max(0, start - 1)]
            at = line_start(left, len(left))
        return Done(left, first_letter(left, min(at, len(left))))

    # Everything else.

    def _other(self, key: str, count: int, text: str, cursor: int) -> Done:
        match key:
            case "i":
                return self._insert_at(text, cursor)
            case "a":
                return self._insert_at(text, min(cursor + 1, line_end(text, cursor)))
            case "I":
                return self._insert_at(text, first_letter(text, cursor))
            case "A":
                return self._insert_at(text, line_end(text, cursor))
            case "o":
                end = line_end(text, cursor)
                return self._insert_at(f"{text[:end]}\n{text[end:]}", end + 1)
            case "O":
                start = line_start(text, cursor)
                return self._insert_at(f"{text[:start]}\n{text[start:]}", start)
            case "p" | "P":
                return self._put(text, cursor, count, before=key == "P")
            case "~":
                end = min(cursor + count, line_end(text, cursor))
                swapped = text[cursor:end].swapcase()
                text = text[:cursor] + swapped + text[end:]
                return Done(text, min(end, last_place(text, cursor)))
            case "J":
                end = line_end(text, cursor)
                if end == len(text):
                    return Done(text, cursor)
                return Done(f"{text[:end].rstrip()} {text[end + 1 :].lstrip(' ')}", len(text[:end].rstrip()))
            case _ if key[0] == "r":
                if cursor + count > line_end(text, cursor):
                    return Done(text, cursor)
                return Done(text[:cursor] + key[1] * count + text[cursor + count :], cursor + count - 1)
            case _:
                return Done(text, cursor)

    def _insert_at(self, text: str, cursor: int) -> Done:
        self.mode = "insert"
        return Done(text, cursor)

    def _put(self, text: str, cursor: int, count: int, *, before: bool) -> Done:
        put = self.register * count
        if not put:
            return Done(text, cursor)
        if self.register.endswith("\n"):
            if before:
                at = line_start(text, cursor)
                return Done(text[:at] + put + text[at:], first_letter(put, 0) + at)
            at = line_end(text, cursor)
            return Done(f"{text[:at]}\n{put[:-1]}{text[at:]}", first_letter(put, 0) + at + 1)
        at = cursor if before else min(cursor + 1, line_end(text, cursor))
        return Done(text[:at] + put + text[at:], at + len(put) - 1)


def _target(rest: str, count: int, text: str, cursor: int) -> int:
    """Where a motion leads when it is made ``count`` times."""
    to = cursor
    for _ in range(count):
        motion: Motion | None = MOTIONS.get(rest)
        before = to
        to = motion.to(text, to) if motion is not None else to_character(text, to, rest[0], rest[1])
        if to == before:
            break
    return to


NAMED = frozenset({*OTHERS, *SAME_AS})
"""Keys that are no characters, and mean something in normal mode."""


class ViHands:
    """The modes of one text area."""

    def __init__(self, area: TextArea, changed: Callable[[], None]) -> None:
        """``changed`` is called when :attr:`told` is another."""
        self._area = area
        self._changed = changed
        self.told = ""
        """The mode as the user is shown it, with what is typed of a command; empty in insert mode."""
        self._keys = ViKeys()

    async def take(self, event: events.Key) -> bool:
        """Handle a key of normal mode; false for a key that is none."""
        key = event.character if event.is_printable and event.character else event.key
        if self._keys.mode == "insert" or not (event.is_printable or key in NAMED):
            return False
        area = self._area
        before = area.text
        done = self._keys.press(key, before, index_at(area.text, area.cursor_location))
        if done.text != before:
            self._replace(before, done.text)
        if done.text != before or not done.action:
            area.selection = Selection.cursor(place_at(area.text, min(done.cursor, len(area.text))))
        self._show()
        if done.action:
            await area.run_action(done.action)
        return True

    def escape(self) -> None:
        """Go to normal mode."""
        area = self._area
        cursor = self._keys.escape(area.text, index_at(area.text, area.cursor_location))
        area.selection = Selection.cursor(place_at(area.text, cursor))
        self._show()

    def insert(self) -> None:
        """Go to insert mode."""
        self._keys.insert()
        self._show()

    def _replace(self, before: str, after: str) -> None:
        """Change only what differs, so that undo takes back just that."""
        start = 0
        shortest = min(len(before), len(after))
        while start < shortest and before[start] == after[start]:
            start += 1
        end = 0
        while end < shortest - start and before[-1 - end] == after[-1 - end]:
            end += 1
        first, last = place_at(before, start), place_at(before, len(before) - end)
        self._area.history.checkpoint()
        self._area.replace(after[start : len(after) - end], first, last, maintain_selection_offset=False)

    def _show(self) -> None:
        normal = self._keys.mode == "normal"
        told = f"NORMAL {self._keys.typed}".rstrip() if normal else ""
        if told != self.told:
            self.told = told
            self._changed()
