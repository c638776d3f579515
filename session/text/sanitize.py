"""Makes text from outside safe to show: every such text passes here on its way to a screen.

Text from models, files and servers may hold escape sequences that move the cursor, set the clipboard or hide
text. Each control character is replaced by a visible sign. The text of an edit on its way to a file never
passes here.
"""

from __future__ import annotations

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)}
_C1 = dict.fromkeys((0x7F, *range(0x80, 0xA0)), "\N{SYMBOL FOR DELETE}")
# Characters that reorder or hide the text around them (Unicode TR 36, "Trojan Source").
_BIDI = dict.fromkeys(
    (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\N{REPLACEMENT CHARACTER}"
)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}")
_TABLE: dict[int, str | None] = {**_PICTURES, **_C1, **_BIDI, **_SURROGATES, 0x0D: None}


def clean(text: str) -> str:
    """``text`` with every control character but tab and newline made visible; CR is dropped."""
    if text.isascii() and text.isprintable():
        return text
    return text.translate(_TABLE)


def clean_line(text: str) -> str:
    """``text`` on one line: as :func:`clean`, with line breaks and tabs as single spaces."""
    return " ".join(clean(text).split())
