"""One response of the model as it streams: its text, its items, and what the conversation keeps of it.

What it has said so far may turn out to be thought, at the end of thinking that nothing began. Chat
templates of some models write the tag that opens their thinking into the prompt (DeepSeek R1, QwQ), so that
a server without a parser for it passes only the closing tag on. Nobody can tell before that comes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from edits.formats.wrapping import draft_in
from session.base.text.pieces import Pieces
from session.tools.tool import Reading
from session.wire.input_items import (
    answer_items,
    answered,
    assistant_message,
    item_text,
    without_last_reasoning,
)
from session.wire.protocol import events as wire
from session.wire.protocol.items import Item, ServerItem

CUT = "Cut off before it was done; see the report that follows."
"""The answer to a tool call that got none before the turn ended."""
MOST_TEXT = 1_000_000
"""Characters that are kept of a text that is not whole yet: more than any window holds."""
CHARACTERS_PER_TOKEN = 4
"""Characters that count as a token in tool input that was cut, which is in no item."""
SAMPLES, SAMPLE = 16, 4_000
"""Of a longer text so many places are counted, each so many characters long: all of it would take seconds,
for which an interrupt and the key that quits would wait."""


def about(texts: Sequence[str], count: Callable[[str], int], unseen: int = 0) -> int:
    """About how many tokens ``texts`` are, with ``unseen`` more characters like theirs: exact where they are
    short, and a few milliseconds' work however long they are."""
    length = sum(map(len, texts))
    if length <= SAMPLES * SAMPLE:
        counted, seen = sum(map(count, texts)), length
    else:
        whole = "".join(texts)
        places = [at * (length - SAMPLE) // (SAMPLES - 1) for at in range(SAMPLES)]
        counted, seen = sum(count(whole[at : at + SAMPLE]) for at in places), SAMPLES * SAMPLE
    return counted + counted * (length + unseen - seen) // max(1, seen)


_MOST_LINES = 40
"""Lines of the longest block that is looked for."""
_LEAST_ROUNDS = 6
"""How often a block of lines must stand there one after the other, if it says something."""
_LONG, _LONG_ROUNDS = 8, 3
"""A block of so many lines counts after fewer rounds: a small model writes the same files over and over."""
_LEAST_LINES = 24
"""How many lines these must be together: a table may well hold the same line a few times."""
_LONGEST_PERIOD, _LEAST_CHARACTERS, _STEP = 80, 800, 200
"""The same for characters in one line, which is looked at every so many of them."""


class Loop:
    """Reads one answer. ``what`` is the beginning of the text that is repeated; empty as long as none is."""

    def __init__(self) -> None:
        self.what = ""
        self._lines: deque[str] = deque(maxlen=_MOST_LINES * _LEAST_ROUNDS)
        self._rest = ""

    def take(self, text: str) -> bool:
        """Take the next piece; whether the answer goes in a loop now."""
        *whole, rest = (self._rest + text).split("\n")
        for line in whole:
            self._lines.append(line)
            if self._repeats_lines():
                return True
        grown = len(rest) >= _LEAST_CHARACTERS and len(rest) // _STEP > len(self._rest) // _STEP
        self._rest = rest
        return grown and self._repeats_characters()

    def _repeats_lines(self) -> bool:
        lines = list(self._lines)
        last = lines[-1]
        for size in range(1, _MOST_LINES + 1):
            rounds = max(_LEAST_ROUNDS if size < _LONG else _LONG_ROUNDS, -(-_LEAST_LINES // size))
            if len(lines) < size * rounds:
                break
            if lines[-1 - size] != last:
                continue
            block = lines[-size:]
            if (
                any(any(map(str.isalnum, line)) for line in block)
                and block * rounds == lines[-size * rounds :]
            ):
                self.what = next(line for line in block if any(map(str.isalnum, line))).strip()
                return True
        return False

    def _repeats_characters(self) -> bool:
        end = self._rest[-_LEAST_CHARACTERS:]
        for period in range(1, _LONGEST_PERIOD + 1):
            if end[period:] == end[:-period] and any(map(str.isalnum, end[:period])):
                self.what = end[:period].strip()
                return True
        return False


@dataclass(slots=True)
class Answers:
    """The answers to the calls of one response, as far as they are done.

    Each response has its own: some servers give the calls of a later response the ids of earlier ones.
    """

    texts: dict[str, str] = field(default_factory=dict)
    """The text for the model by call id."""
    readings: list[Reading] = field(default_factory=list)
    """The files that the calls showed to the model."""


@dataclass(slots=True)
class Response:
    """The parts of one response that have arrived."""

    first_outcome: int = 0
    """Index of the first outcome in the turn's lane that the model has not been told."""
    earlier_calls: frozenset[str] = frozenset()
    """The ids of the calls that the conversation held before this response."""
    answers: Answers = field(default_factory=Answers)
    """The answers of the tools to its function calls."""
    text: Pieces = field(default_factory=lambda: Pieces(MOST_TEXT))
    """The pieces of the answer's text that are not yet part of an item."""
    streamed: int = 0
    """Characters of all kinds of content so far."""
    read: int = 0
    """Tokens of the request that the engine had read when that was told last."""
    tool_text: int = 0
    """Characters of tool input so far."""
    output: list[ServerItem] = field(default_factory=list)
    """The items that have arrived, as the server gave them."""
    items: list[Item] = field(default_factory=list)
    """The items of a whole response, as they may be sent back."""
    loop: Loop = field(default_factory=Loop)
    """Notices an answer that repeats itself."""
    finished: wire.Finished | None = None
    unread: int = 0
    """The parts of its messages that were none that spark knows."""
    kept: bool = False
    """Whether its items are in the conversation."""
    answered: bool = False
    """Whether the server has taken the request: what it does not take costs no tokens."""
    begun: bool = False
    """Whether any content arrived: a repeated request would show and land it twice."""

    @property
    def streamed_tokens(self) -> int:
        """About how many tokens of output have arrived."""
        return self.streamed // CHARACTERS_PER_TOKEN

    def item_done(self, item: ServerItem) -> None:
        """Add a whole item. A message holds the text that arrived before it."""
        self.output.append(item)
        if item.get("type") == "message":
            self.text.clear()

    def complete(self, finished: wire.Finished) -> None:
        """Set ``items``, now that the response is whole."""
        self.items = without_last_reasoning(answer_items(finished.output or self.output, self.earlier_calls))
        self.text.clear()

    def estimated_tokens(self, count: Callable[[str], int]) -> int:
        """An estimate of the tokens that arrived, for servers that do not report them."""
        texts = [*(item_text(item) for item in self.output), self.text.text()]
        return about(texts, count, self.text.gone) + self.tool_text // CHARACTERS_PER_TOKEN

    def partial_items(self) -> list[Item]:
        """The items that the conversation keeps of a response that was cut.

        These are its whole items, its text so far, and an output for each of its calls. A tool call that
        was cut is left out.
        """
        items = list(self.items) or answer_items(self.output, self.earlier_calls)
        if (partial := self.text.text()).strip():
            items.append(assistant_message(partial))
        items = without_last_reasoning(items)
        return [*items, *answered(items, self.answers.texts, CUT)]


_TAG = r"(?:</(?:\w+:)?think(?:ing)?\s*>|\[/THINK\]|◁/think▷|<\|(?:end_of_thought|endofthink)\|>)"
_CLOSER = re.compile(rf"\s*{_TAG}|.*{_TAG}\s*\Z", re.IGNORECASE | re.DOTALL)
_ALONE = re.compile(rf"\s*{_TAG}\s*", re.IGNORECASE)
_FENCE = re.compile(r"\s*(`{3,}|~{3,})")
_LONGEST_LINE = 4_096
"""Characters of a line that are looked at: its end is what counts."""


class UnopenedThought:
    """Reads the prose between the edits of one answer."""

    def __init__(self) -> None:
        self._line = ""
        self._fence = ""
        """What opened the code block that has not ended."""
        self._open = False
        """Whether a tag has begun thinking that has not ended."""

    def ends_in(self, prose: str) -> bool:
        """Whether thinking that no tag began has ended in ``prose``, the next piece. A tag counts at the
        beginning or the end of its line, and not within a block of code."""
        *lines, rest = (self._line + prose).split("\n")
        found = False
        for line in lines:
            found = self._ends_with(line) or found
        self._line = rest[-_LONGEST_LINE:]
        if _ALONE.fullmatch(rest):  # an edit may follow in the same line
            found = self._ends_with(rest) or found
            self._line = ""
        return found

    def _ends_with(self, line: str) -> bool:
        fence = _FENCE.match(line)
        if fence is not None:
            if not self._fence:
                self._fence = fence[1]
            elif fence[1].startswith(self._fence):
                self._fence = ""
            return False
        if self._fence:
            return False
        closes = _CLOSER.match(line[-_LONGEST_LINE:]) is not None
        if draft_in(line) is not None:
            self._open = not closes
            return False
        if not closes:
            return False
        was_open, self._open = self._open, False
        return not was_open
