"""What a whole control sequence of the terminal means: a key as Textual understands it, or nothing.

A terminal also sends answers: to what the shell, tmux or a program that has ended asked, and late. They are
no keys. Neither are keys that are let go, and numbers that no character has. Sources: xterm's ctlseqs, and
the kitty keyboard protocol (https://sw.kovidgoyal.net/kitty/keyboard-protocol/).
"""

from __future__ import annotations

import re
from collections.abc import Container

ESC = "\x1b"
ESCAPE_KEY = "\x1b[27u"
"""The Esc key as a sequence that nothing else begins with."""

_EXTENDED = re.compile(r"\x1b\[([\d:]*(?:;[\d:]*){0,2})([u~ABCDEFHPQRS])")
_PASSED_ON = re.compile(
    r"\x1b\[(?:[IO]"  # the focus
    r"|<\d{1,5};-?\d{1,5};-?\d{1,5}[Mm]"  # the mouse
    r"|48(?:;\d{1,5}(?::\d{1,5})*){4}t"  # a new size
    r"|\?\d{1,5};\d\$y)"  # what the terminal can do
)
"""What Textual takes besides keys, each with numbers that it can read."""
_ESCAPE_CODE = 27
_SHIFT, _HELD = 0b1, 0b11_1110
"""Shift; and Alt, Ctrl and the others with which a letter is no text. Caps lock and num lock are left out."""
_OF_F3 = range(1, 16)
"""The modifiers of F3, whose sequence may also say where the cursor is; without any it has another form."""
_LET_GO = 3
_FROM_XTERM = 27
"""The first number of a key in the form of xterm's modifyOtherKeys: ``CSI 27 ; modifiers ; code ~``."""
_PRIVATE = range(0xE000, 0xF900)
"""Where the kitty protocol has its numbers of keys without a character."""


def as_key(sequence: str, known: Container[str]) -> str:
    """The key of a whole sequence, or what else Textual takes; empty for anything else. ``known`` are the
    keys that Textual knows by their sequences."""
    if sequence in known or _PASSED_ON.fullmatch(sequence):
        return sequence
    match = _EXTENDED.fullmatch(sequence)
    return _extended(match[1], match[2]) if match else ""


def _extended(numbers: str, final: str) -> str:
    code, modifiers, text, *_ = [*numbers.split(";"), "", ""]
    codes = [_number(each) for each in code.split(":")]
    pressed, _, event = modifiers.partition(":")
    bits = (_number(pressed) or 1) - 1
    if _number(event) == _LET_GO or bits < 0:
        return ""
    held = bits & (_HELD | _SHIFT)
    if final == "~" and codes[0] == _FROM_XTERM:
        return _of_character([_number(text)], held, "")
    if final == "u":
        return _of_character(codes, held, text)
    if final == "~":
        return f"{ESC}[{codes[0]};{held + 1}~" if held else f"{ESC}[{codes[0]}~"
    if codes[0] not in (None, 1) or (final == "R" and modifiers and bits not in _OF_F3):
        return ""  # where the cursor is, and other answers
    return f"{ESC}[1;{held + 1}{final}" if held else f"{ESC}[{final}"


def _of_character(codes: list[int | None], held: int, text: str) -> str:
    """A key by its character's number; then perhaps that with shift, and that of the same key on an English
    keyboard, which is what a shortcut means on another one."""
    code, shifted, english = [*codes, None, None][:3]
    typed = [each for each in map(_number, text.split(":")) if each and _is_text(each)]
    if code == 0:
        return "".join(map(chr, typed))  # of an input method
    if code is None or not _is_character(code):
        return ""
    if held & _HELD and code >= 0x80 and code not in _PRIVATE and english and _is_character(english):
        code = english
    if code == _ESCAPE_CODE and not held:
        return ESCAPE_KEY
    if not typed and not held & _HELD and _is_text(code):
        typed = [shifted if held & _SHIFT and shifted and _is_text(shifted) else code]
        if held & _SHIFT and typed == [code]:
            upper = chr(code).upper()
            typed = [ord(upper)] if len(upper) == 1 else typed
    if typed:
        return f"{ESC}[{code};{held + 1};{':'.join(map(str, typed))}u"
    return f"{ESC}[{code};{held + 1}u" if held else f"{ESC}[{code}u"


def _number(digits: str) -> int | None:
    return int(digits) if digits and len(digits) < 8 else None


def _is_character(code: int) -> bool:
    return 0 < code < 0x11_0000 and not 0xD800 <= code < 0xE000


def _is_text(code: int) -> bool:
    return _is_character(code) and code not in _PRIVATE and chr(code).isprintable()
