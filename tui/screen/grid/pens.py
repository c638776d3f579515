"""Pens: how a cell is drawn, and the shortest sequence that changes one pen into another.

The sequences are those of ECMA-48, "Select Graphic Rendition", with the extensions that xterm's ctlseqs list
(38 and 48 for colours, 53 for a line above) and OSC 8 for links.
"""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style

_ATTRIBUTES = {
    0: (1, 22),  # bold
    1: (2, 22),  # dim
    2: (3, 23),  # italic
    3: (4, 24),  # underline
    4: (5, 25),  # blink
    5: (6, 25),  # blink fast
    6: (7, 27),  # reverse
    7: (8, 28),  # conceal
    8: (9, 29),  # strike
    9: (21, 24),  # underline twice
    10: (51, 54),  # frame
    11: (52, 54),  # encircle
    12: (53, 55),  # line above
}
"""The codes that turn an attribute on and off, by its bit in Rich's styles."""
_ON_BLANKS = sum(1 << bit for bit in (3, 4, 5, 6, 8, 9, 10, 11, 12))
"""The attributes that show on a blank."""


class Pen:
    """How a cell is drawn. Equal pens of one :class:`Pens` are the same object."""

    __slots__ = ("attributes", "background", "blank", "changes", "foreground", "link")

    def __init__(self, foreground: str, background: str, attributes: int, link: str) -> None:
        self.foreground = foreground
        """The codes of the colour; empty for the terminal's own."""
        self.background = background
        self.attributes = attributes
        self.link = link
        """What is between ``OSC 8 ;`` and its end; empty for no link."""
        self.blank: Pen = self
        """The pen that draws a blank just as this one does."""
        self.changes: dict[Pen, str] = {}

    @property
    def erases(self) -> bool:
        """Whether erasing with this pen gives the blanks that writing them gives."""
        return not self.attributes & _ON_BLANKS and not self.link

    def change(self, to: Pen) -> str:
        """The shortest sequence from this pen to another."""
        known = self.changes.get(to)
        if known is None:
            known = self.changes[to] = _change(self, to)
        return known


class Pens:
    """The pens of Rich's styles in one depth of colour, which may be less for text than for backgrounds."""

    def __init__(self, colours: ColorSystem, ink: ColorSystem | None = None) -> None:
        """``ink`` is the depth of the colours of text, where it is another one."""
        self.colours = colours
        self._ink = ink or colours
        self._pens: dict[tuple[str, str, int, str], Pen] = {}
        self._of_style: dict[Style | None, Pen] = {}
        self.plain = self._pen("", "", 0, "")

    def draw_ink_in(self, colours: ColorSystem) -> None:
        """Draw text in another depth of colour from now on."""
        if colours is not self._ink:
            self._ink = colours
            self._of_style.clear()

    def of(self, style: Style | None) -> Pen:
        """The pen of a style."""
        pen = self._of_style.get(style)
        if pen is None:
            pen = self._of_style[style] = self._make(style)
        return pen

    def _make(self, style: Style | None) -> Pen:
        if style is None:
            return self.plain
        foreground, background = (
            ";".join(colour.downgrade(depth).get_ansi_codes(foreground=front)) if colour else ""
            for colour, depth, front in (
                (style.color, self._ink, True),
                (style.bgcolor, self.colours, False),
            )
        )
        attributes = style._attributes & style._set_attributes
        link = f"id={style.link_id};{style.link}" if style.link else ""
        return self._pen(
            "" if foreground == "39" else foreground,
            "" if background == "49" else background,
            attributes,
            link,
        )

    def _pen(self, foreground: str, background: str, attributes: int, link: str) -> Pen:
        key = (foreground, background, attributes, link)
        pen = self._pens.get(key)
        if pen is None:
            pen = self._pens[key] = Pen(*key)
            if pen.erases and (foreground or attributes):
                pen.blank = self._pen("", background, 0, "")
        return pen


def _change(old: Pen, new: Pen) -> str:
    codes = _attribute_codes(old.attributes, new.attributes)
    if old.foreground != new.foreground:
        codes.append(new.foreground or "39")
    if old.background != new.background:
        codes.append(new.background or "49")
    relative = f"\x1b[{';'.join(codes)}m" if codes else ""
    whole = written(new)
    sequence = relative if len(relative) <= len(whole) else whole
    if old.link != new.link:
        sequence += link_sequence(new)
    return sequence


def written(pen: Pen) -> str:
    """The sequence that sets colours and attributes, whatever they were."""
    codes = [*_attribute_codes(0, pen.attributes), pen.foreground, pen.background]
    codes = [code for code in codes if code]
    return f"\x1b[0;{';'.join(codes)}m" if codes else "\x1b[m"


def link_sequence(pen: Pen) -> str:
    """The sequence that begins the link of ``pen``, or ends the one before it."""
    return f"\x1b]8;{pen.link}\x1b\\" if pen.link else "\x1b]8;;\x1b\\"


def _attribute_codes(old: int, new: int) -> list[str]:
    """The codes from attributes to others. Those that share the code that turns them off replace each other
    in some terminals, so they are written together."""
    changed = old ^ new
    groups = {end for bit, (_, end) in _ATTRIBUTES.items() if changed & (1 << bit)}
    off = {end for bit, (_, end) in _ATTRIBUTES.items() if old & changed & (1 << bit)}
    on = [code for bit, (code, end) in _ATTRIBUTES.items() if new & (1 << bit) and end in groups]
    return [str(code) for code in (*sorted(off), *on)]
