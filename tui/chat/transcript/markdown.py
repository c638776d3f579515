"""Light Markdown, line by line: what a model's prose needs, and nothing that must look back.

A finished line never changes again (but for the colours of an open code block, see
:mod:`tui.screen.drawing.code`, and the columns of a table that is being written, see
:mod:`tui.chat.transcript.tables`), so a streamed answer costs the same per token however long it gets.

Code that was drawn before, as lines with their colours: wrapping it for another width needs no lexer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from tui.chat.transcript.tables import MOST, Table, is_line
from tui.screen.drawing.code import CodeStream, drawable, lexer_for
from tui.screen.drawing.palette import link_role
from tui.screen.drawing.plain import clipped, untabbed, visible
from tui.screen.drawing.rows import DRAWN_ONLY, Breaks, Row, Span, cut, wrap

CodeLine = tuple[list[Span], str | None]
"""A line of code as it is drawn, and as it was written where that is different."""


@dataclass(frozen=True, slots=True)
class DrawnBlocks:
    """The rows of an answer, and the first row and the end of each of its code blocks."""

    rows: Sequence[Row]
    places: Sequence[tuple[int, int]]

    def code(self, block: int) -> RecalledCode | None:
        """A block; None where it was not drawn to its end."""
        return RecalledCode(self._lines(*self.places[block])) if block < len(self.places) else None

    def _lines(self, start: int, end: int) -> Iterator[CodeLine]:
        line: CodeLine | None = None
        for number in range(start, end):
            row = self.rows[number]
            if row.skip == DRAWN_ONLY:
                continue
            spans = cut(row.spans, row.skip, len(row.text))
            if row.joint is None or line is None:
                if line is not None:
                    yield line
                line = (spans, row.raw)
            else:
                role = line[0][-1][1] if line[0] else ".text"
                line[0].extend([(row.joint, role), *spans] if row.joint else spans)
        if line is not None:
            yield line


class RecalledCode:
    """A code block that is drawn again, line by line. See :class:`NewCode`."""

    def __init__(self, lines: Iterator[CodeLine]) -> None:
        self._lines = lines
        self._count = 0

    def append(self, lines: Sequence[str]) -> None:
        """Have so many more lines drawn."""
        self._count += len(lines)

    def settle(self, tail: str | None) -> tuple[list[CodeLine], int]:
        """The lines since the last call, all of which are final."""
        lines = list(islice(self._lines, self._count))
        self._count = 0
        return lines, len(lines)


class NewCode:
    """A code block that is drawn as it arrives."""

    def __init__(self, code: CodeStream) -> None:
        self._code = code

    def append(self, lines: Sequence[str]) -> None:
        """Add complete lines."""
        self._code.append(lines)

    def settle(self, tail: str | None) -> tuple[list[CodeLine], int]:
        """The lines from the first one on that was not final in the last call, then the unfinished ``tail``
        if given; and the number of those that are final now."""
        before = self._code.rest
        drawn: list[CodeLine] = []
        for line in self._code.settle(tail):
            raw = "".join(text for text, _ in line)
            kept = raw if "\t" in raw or len(raw) > LONGEST_SHOWN else None
            drawn.append(([*drawable(cut(line, 0, LONGEST_SHOWN)), *_left_out(raw)], kept))
        return drawn, self._code.rest - before


# No pattern may go over a line again and again, or a line of some thousand characters holds every key: what
# repeats never stands beside what it could be taken for.
_FENCE = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,}(?!~))(?P<info>[^`]*)\Z")
_MAYBE_FENCE = re.compile(r" {0,3}(`{1,}|~{2,}(?!~))[^`]*\Z")
_HEADING = re.compile(r" {0,3}#{1,6}\s(?P<text>.*)\Z")
_ITEM = re.compile(r"(?P<indent>\s*)(?P<mark>[-*+]|\d{1,3}[.)])\s+(?P<text>.*)\Z")
_QUOTE = re.compile(r" {0,3}>\s?(?P<text>.*)\Z")
_RULE = re.compile(r" {0,3}([-*_])(\s*\1){2,}\s*\Z")
_INLINE = re.compile(
    r"(?P<ticks>`+)(?P<code>.{1,1000}?)(?P=ticks)(?!`)"
    r"|\*\*(?P<strong>\S(?:.{0,500}?\S)?)\*\*|(?<!\w)__(?P<strong2>\S(?:.{0,500}?\S)?)__(?!\w)"
    r"|\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*|(?<!\w)_(?P<em2>[^\s_](?:[^_]*[^\s_])?)_(?!\w)"
    r"|\[(?P<label>[^\[\]\n]+)\]\((?P<url>[^)\s]+)\)"
    r"|(?P<bare>https?://[^\s<>\"'`]*[^\s<>\"'`.,;:!?)\]}*_])"
)
LONGEST_INLINE = 4000
"""Lines longer than this are shown unformatted: prose is shorter, and the patterns above look ahead."""


LONGEST_SHOWN = 50_000
"""Characters of a line that are shown. Copying the line, or the answer, copies all of it."""


def _left_out(line: str) -> list[Span]:
    """What is said behind a line that is not shown whole."""
    left = len(line) - LONGEST_SHOWN
    return [(f" … {left:,} more characters", "muted")] if left > 0 else []


def inline(text: str, role: str = "text") -> list[Span]:
    """The spans of one line of prose: code, strong, emphasis and links; the rest in ``role``."""
    if len(text) > LONGEST_INLINE:
        return [(text, role)]
    spans: list[Span] = []
    at = 0
    for match in _INLINE.finditer(text):
        if match.start() > at:
            spans.append((text[at : match.start()], role))
        at = match.end()
        if match["code"] is not None:
            spans.append((match["code"].strip() or match["code"], "inline_code"))
        elif strong := match["strong"] or match["strong2"]:
            spans += [(piece, "strong" if kind == "text" else kind) for piece, kind in inline(strong)]
        elif emphasis := match["em"] or match["em2"]:
            spans.append((emphasis, "emphasis"))
        elif bare := match["bare"]:
            spans.append((bare, link_role(bare)))
        else:
            spans.append((match["label"], link_role(match["url"])))
            if match["url"] != match["label"]:
                spans.append((f" ({match['url']})", "faint"))
    if at < len(text):
        spans.append((text[at:], role))
    return spans


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a stream, for another one that goes on with it: the line that opened the code block which is
    not closed yet (empty outside a block), and whether a blank row comes last."""

    fence: str
    blank: bool


class MarkdownStream:
    """Streamed Markdown as rows of one width. ``rows`` holds everything so far; rows before the index that
    :meth:`settle` returns are unchanged since the last call."""

    def __init__(
        self,
        width: int,
        margin: str = "  ",
        *,
        after: Ending | None = None,
        drawn: DrawnBlocks | None = None,
    ) -> None:
        """``after`` is the :attr:`ending` of the stream that this one goes on with; ``drawn`` are the code
        blocks of the same text in another width."""
        self.rows: list[Row] = []
        self.blocks: list[str] = []
        """The text of each code block; the last may be unfinished."""
        self.block_starts: list[int] = []
        """The first row of the code of each block."""
        self.block_ends: list[int] = []
        """One past the last row of each block; an unfinished one has none."""
        self._width = width
        self._margin = margin
        self._tail = ""
        self._fresh: list[str] = []
        self._final = 0
        """The number of rows that never change again."""
        self._fence: str | None = None
        self._opening = ""
        self._code: NewCode | RecalledCode | None = None
        self._drawn = drawn
        self._code_lines: list[str] = []
        self._blank = True
        self._table: Table | None = None
        """The table that is being streamed, or None. Its rows are final once it has ended."""
        self._is_first = after is None
        if after is not None:
            self._go_on(after)

    @property
    def final(self) -> int:
        """The number of rows that never change again."""
        return self._final

    @property
    def ending(self) -> Ending:
        """How it ends now."""
        return Ending(self._opening if self._code is not None else "", self._blank)

    def _go_on(self, after: Ending) -> None:
        if after.fence:
            self._line(after.fence)
            self.rows.clear()  # its head is drawn where the block began
            self._final = self.block_starts[0] = 0
        self._blank = after.blank

    def let_go(self) -> None:
        """Forget what only drawing more needs: nothing is added any more."""
        if self._code is not None:
            self._code = NewCode(CodeStream(None))
        self._drawn = None

    def feed(self, text: str) -> None:
        """Add a piece of the answer."""
        *lines, self._tail = (self._tail + text).split("\n")
        self._fresh += lines

    def settle(self, *, closed: bool = False) -> int:
        """Update ``rows`` and return the index of the first row that may have changed. ``closed`` says that
        the text is complete, so its last line is too."""
        if closed and self._tail:
            self._fresh.append(self._tail)
            self._tail = ""
        first = self._final
        held = self.rows[first:]
        del self.rows[first:]
        lines, self._fresh = self._fresh, []
        for line in lines:
            self._line(line)
        if self._code is not None:
            self._draw_code(self._code, closed=closed)
        else:
            if closed:
                self._end_table()
            self.rows += self._table_rows()
            # A line of a table is drawn once it is complete: until then each letter would move its cells.
            if self._tail and not _MAYBE_FENCE.match(self._tail) and not is_line(self._tail):
                self.rows += self._prose(self._tail)
        return first + self._drawn_alike(held, first)

    def _drawn_alike(self, held: list[Row], first: int) -> int:
        """How many rows from ``first`` on are drawn as those that were ``held``."""
        now = self.rows[first : first + len(held)]
        same = takewhile(lambda pair: pair[0] == pair[1], zip(held, now, strict=False))
        return sum(1 for _ in same)

    def _line(self, line: str) -> None:
        if self._code is not None:
            closing = _FENCE.match(line)
            if closing and closing["mark"].startswith(self._fence or "```") and not closing["info"].strip():
                self._draw_code(self._code, closed=True)
                self.block_ends.append(len(self.rows))
                self._code = self._fence = None
                self._blank = False
            else:
                self._code_lines.append(line)
            return
        if is_line(line):
            if self._table is not None and len(self._table) == MOST:
                self._end_table()
            if self._table is None:
                self._table = Table(inline)
            self._table.add(visible(untabbed(line)))
            self._blank = False
            return
        self._end_table()
        if opening := _FENCE.match(line):
            self._fence, self._opening = opening["mark"], line
            language = (opening["info"].split() or [""])[0].strip("{}.")
            self._code = self._block(len(self.blocks), language)
            self.blocks.append("")
            if not self._blank and (self.rows or not self._is_first):
                self._final_rows([Row([])])
            if language:
                label = clipped(f" {visible(language)}", max(1, self._width - len(self._margin) - 1))
                spans: list[Span] = [(self._margin, "text"), ("▏", "border"), (label, "faint")]
                self._final_rows([Row(spans, "code_background", skip=DRAWN_ONLY)])
            self.block_starts.append(len(self.rows))
            return
        if not line.strip():
            if not self._blank:
                self._final_rows([Row([])])
            self._blank = True
            return
        self._final_rows(self._prose(line))
        self._blank = False

    def _table_rows(self) -> list[Row]:
        return self._table.rows(self._width, (self._margin, "text")) if self._table is not None else []

    def _end_table(self) -> None:
        if self._table is not None:
            self._final_rows(self._table_rows())
            self._table = None

    def _final_rows(self, rows: list[Row]) -> None:
        self.rows += rows
        self._final = len(self.rows)

    def _block(self, block: int, language: str) -> NewCode | RecalledCode:
        recalled = self._drawn.code(block) if self._drawn is not None else None
        return recalled or NewCode(CodeStream(lexer_for(language=language) if language else None))

    def _draw_code(self, code: NewCode | RecalledCode, *, closed: bool) -> None:
        """Draw the open code block from its restart point on; only rows before the new restart point are
        final."""
        del self.rows[self._final :]
        lines, self._code_lines = self._code_lines, []
        code.append(lines)
        if lines:
            self.blocks[-1] += "".join(f"{line}\n" for line in lines)
        tail = None if closed or _MAYBE_FENCE.match(self._tail) else self._tail
        drawn, final = code.settle(tail or None)
        for index, (spans, raw) in enumerate(drawn):
            self.rows += wrap(
                spans,
                self._width,
                first=[(self._margin, "text"), ("▏", "border")],
                rest=[(self._margin, "text"), ("▏", "border")],
                fill="code_background",
                by=Breaks.CODE,
                raw=raw,
            )
            if closed or index < final:
                self._final = len(self.rows)

    def _prose(self, raw: str) -> list[Row]:
        """The rows of one line outside code."""
        margin: Span = (self._margin, "text")
        if len(raw) > LONGEST_SHOWN:
            shown = [(visible(untabbed(raw[:LONGEST_SHOWN])), "text"), *_left_out(raw)]
            return wrap(shown, self._width, first=[margin], rest=[margin], raw=raw)
        line = visible(untabbed(raw))
        if match := _HEADING.match(line):
            text = _heading(match["text"].strip())
            spans = [(piece, "heading" if role == "text" else role) for piece, role in inline(text)]
            return wrap(spans, self._width, first=[margin], rest=[margin])
        if _RULE.match(line):
            rule = "─" * max(1, self._width - len(self._margin))
            return [Row([margin, (rule, "border")], skip=len(self._margin), raw="---")]
        if match := _ITEM.match(line):
            indent = " " * min(12, len(match["indent"]))
            mark = "•" if match["mark"] in "-*+" else match["mark"]
            text, box = _task(match["text"])
            lead = f"{indent}{mark} {box}"
            return wrap(
                inline(text),
                self._width,
                first=[margin, (lead, "accent")],
                rest=[margin, (" " * len(lead), "text")],
                margin=len(self._margin),
            )
        if match := _QUOTE.match(line):
            bar: Span = ("▎ ", "border_focus")
            return wrap(inline(match["text"], "quote"), self._width, first=[margin, bar], rest=[margin, bar])
        if line.startswith("    "):
            return wrap([(line, "text")], self._width, first=[margin], rest=[margin], by=Breaks.CODE)
        return wrap(inline(line), self._width, first=[margin], rest=[margin])


def _heading(text: str) -> str:
    """The text of a heading without the signs that close it, which stand behind a blank."""
    bare = text.rstrip("#")
    return bare.rstrip() if bare[-1:] in ("", " ") else text


def _task(text: str) -> tuple[str, str]:
    """The text of a list item without its check box, and the box as one character."""
    if text[:4] in ("[ ] ", "[x] ", "[X] "):
        return text[4:], "☐ " if text[1] == " " else "☑ "
    return text, ""
