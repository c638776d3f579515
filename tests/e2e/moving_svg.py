"""Writes the screens of a terminal session as one animated SVG, moved by CSS alone.

Every row of the terminal is a strip: the contents it has over time stand side by side, and a stepped
animation shifts the strip so that one of them is in view. Only rows that change are animated. Where
nothing moves (a viewer without CSS animation, or a reader who asked for less motion), the still frame
is shown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from xml.sax.saxutils import escape

CELL_WIDTH, CELL_HEIGHT, FONT_SIZE = 8.4, 18, 14
MARGIN, CAPTION_HEIGHT = 12, 28
FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
GROUND, INK, CAPTION_INK = "#10131a", "#d7dce5", "#f0c27b"

_WORDS = re.compile(r"\S+(?: {1,2}\S+)*")

Content = TypeVar("Content", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Style:
    """How a cell is drawn; colours as ``#rrggbb``, or None for the terminal's own."""

    ink: str | None = None
    ground: str | None = None
    bold: bool = False
    italic: bool = False
    underline: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Text of one style, and the column it begins at."""

    column: int
    text: str
    style: Style


Row = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """The screen and its caption from ``seconds`` on."""

    seconds: float
    rows: tuple[Row, ...]
    caption: str


class MovingSvg:
    """One SVG that plays ``frames`` again and again, ``length`` seconds each time.

    ``still`` is the index of the frame that is shown where nothing moves. The parts of a row before and
    from column ``cut`` on are moved on their own, so that two panes side by side cost little; no run may
    cross it.
    """

    def __init__(self, frames: Sequence[Frame], columns: int, cut: int, length: float, still: int) -> None:
        self._frames, self._length, self._still = frames, length, still
        self._width = round(columns * CELL_WIDTH)
        self._classes: dict[str, str] = {}
        self._keyframes: list[str] = []
        self._shared: dict[Row, str] = {}
        self._parts = [
            [tuple(run for run in frame.rows[place] if (run.column >= cut) == right) for frame in frames]
            for place in range(len(frames[0].rows))
            for right in (False, True)
        ]
        """What each half row shows, frame by frame; two for a row."""
        uses = Counter(row for part in self._parts for row in set(part))
        self._repeated = {row for row, count in uses.items() if count > 1 and row}
        grounds = Counter(run.style.ground for row in uses for run in row if run.style.ground)
        self._common_ground = grounds.most_common(1)[0][0] if grounds else GROUND
        """Drawn once, behind everything."""

    def document(self, title: str) -> str:
        """The whole SVG, with ``title`` for those who cannot see it."""
        count = len(self._frames[0].rows)
        rows = [self._row_strip(number) for number in range(len(self._parts))]
        caption = self._strip("c", [frame.caption for frame in self._frames], self._caption)
        shared = [f'<g id="{name}">{self._runs(row)}</g>' for row, name in self._shared.items()]
        height = count * CELL_HEIGHT
        outer = f"{self._width + 2 * MARGIN} {height + 2 * MARGIN + CAPTION_HEIGHT}"
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {outer}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>{self._style_sheet()}</style>",
            f"<defs>{''.join(shared)}</defs>",
            f'<rect width="100%" height="100%" rx="8" fill="{self._common_ground}"/>',
            f'<svg x="{MARGIN}" y="{MARGIN}" width="{self._width}" height="{height}">',
            *filter(None, rows),
            "</svg>",
            f'<svg x="{MARGIN}" y="{height + 2 * MARGIN}" width="{self._width}" height="{CAPTION_HEIGHT}">',
            caption,
            "</svg>",
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _style_sheet(self) -> str:
        rules = [
            f"text{{font:{FONT_SIZE}px {FONTS};fill:{INK};white-space:pre}}",
            f"text.k{{fill:{CAPTION_INK};text-anchor:middle}}",
            f".m{{animation:{self._length:.2f}s step-end infinite}}",
            *(f".{name}{{{css}}}" for css, name in self._classes.items()),
            *self._keyframes,
            "@media(prefers-reduced-motion:reduce){.m{animation:none!important}}",
        ]
        return "".join(rules)

    def _row_strip(self, number: int) -> str:
        drawn = self._strip(f"r{number}", self._parts[number], self._row)
        baseline = number // 2 * CELL_HEIGHT + FONT_SIZE
        return f'<g transform="translate(0 {baseline})">{drawn}</g>' if drawn else ""

    def _strip(self, name: str, contents: Sequence[Content], draw: Callable[[Content, int], str]) -> str:
        """Draw each of ``contents`` once, side by side, and shift them by the frames' times."""
        offsets = {content: place * self._width for place, content in enumerate(dict.fromkeys(contents))}
        drawn = "".join(draw(content, offset) for content, offset in offsets.items())
        if len(offsets) == 1 or not drawn:
            return drawn
        steps, last = [], None
        for frame, content in zip(self._frames, contents, strict=True):
            if content != last:
                share = 100 * frame.seconds / self._length
                steps.append(f"{share:.2f}%{{transform:translateX(-{offsets[content]}px)}}")
                last = content
        self._keyframes.append(f"@keyframes {name}{{{''.join(steps)}}}")
        still = offsets[contents[self._still]]
        return f'<g class="m" style="animation-name:{name}" transform="translate(-{still})">{drawn}</g>'

    def _caption(self, text: str, x: int) -> str:
        return f'<text class="k" x="{x + self._width / 2:g}" y="{FONT_SIZE}">{escape(text)}</text>'

    def _row(self, row: Row, x: int) -> str:
        if row in self._repeated:
            name = self._shared.setdefault(row, f"s{len(self._shared)}")
            return f'<use href="#{name}" x="{x}"/>'
        drawn = self._runs(row)
        return f'<g transform="translate({x})">{drawn}</g>' if drawn and x else drawn

    def _runs(self, row: Row) -> str:
        grounds = [
            self._ground(colour, runs[0].column, runs[-1].column + len(runs[-1].text))
            for colour, runs in _grouped(row, lambda run: run.style.ground)
            if colour not in (None, self._common_ground)
        ]
        return "".join(grounds) + "".join(self._text(words) for words in _clusters(row))

    def _ground(self, colour: str | None, start: int, end: int) -> str:
        x, width = start * CELL_WIDTH, (end - start) * CELL_WIDTH
        css = self._class(f"fill:{colour}")
        return (
            f'<rect class="{css}" x="{x:.4g}" y="-{FONT_SIZE}" width="{width:.4g}" height="{CELL_HEIGHT}"/>'
        )

    def _text(self, words: Sequence[Run]) -> str:
        """Words that stand close together; the length keeps the columns in line whatever font there is."""
        first, last = words[0], words[-1]
        x, length = first.column * CELL_WIDTH, (last.column + len(last.text) - first.column) * CELL_WIDTH
        body, column = [], first.column
        only = len({word.style for word in words}) == 1
        for word in words:
            text = escape(word.text)
            body.append(" " * (word.column - column))
            body.append(text if only else f"<tspan{self._look(word.style)}>{text}</tspan>")
            column = word.column + len(word.text)
        look = self._look(first.style) if only else ""
        return f'<text{look} x="{x:.4g}" textLength="{length:.4g}">{"".join(body)}</text>'

    def _look(self, style: Style) -> str:
        css = [
            f"fill:{style.ink}" if style.ink else "",
            "font-weight:bold" if style.bold else "",
            "font-style:italic" if style.italic else "",
            "text-decoration:underline" if style.underline else "",
        ]
        rules = ";".join(filter(None, css))
        return f' class="{self._class(rules)}"' if rules else ""

    def _class(self, css: str) -> str:
        return self._classes.setdefault(css, f"a{len(self._classes)}")


def _grouped(row: Row, key: Callable[[Run], str | None]) -> Iterator[tuple[str | None, list[Run]]]:
    """Neighbouring runs with the same key."""
    group: list[Run] = []
    for run in row:
        if group and (key(group[0]) != key(run) or group[-1].column + len(group[-1].text) != run.column):
            yield key(group[0]), group
            group = []
        group.append(run)
    if group:
        yield key(group[0]), group


def _clusters(row: Row) -> Iterator[list[Run]]:
    """The words of a row, parted where there are three blanks or more."""
    cluster: list[Run] = []
    for run in row:
        for found in _WORDS.finditer(run.text):
            word = Run(run.column + found.start(), found[0], run.style)
            if cluster and word.column - cluster[-1].column - len(cluster[-1].text) > 2:
                yield cluster
                cluster = []
            cluster.append(word)
    if cluster:
        yield cluster
