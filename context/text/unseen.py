"""Characters that a person cannot see: which they are, and their visible stand-ins.

Unseen characters are controls, marks that reorder text, joiners and spaces without width, tags, variation
selectors and line separators. They can make a text say one thing to a person and another to a model or a
terminal. A joiner or a variation selector behind a visible character outside of ASCII is part of how scripts
and emoji are written, and stays.

Sources: Unicode Standard 16, chapters 9, 23; Unicode Technical Report 36, section 3 ("Trojan Source").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from context.text.lines import replaced, slices

_CONTROLS = "\x00-\x08\x0b-\x1f\x7f-\x9f"
_REORDERING = "\u202a-\u202e\u2066-\u2069"
_BIDI_MARKS = "\u061c\u200e\u200f"
_NO_WIDTH = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U0001d173-\U0001d17a"
)
_SEPARATORS = "\u2028\u2029"
_TAGS = "\U000e0000-\U000e007f"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SURROGATES = "\ud800-\udfff"
_ALL = f"{_CONTROLS}{_REORDERING}{_BIDI_MARKS}{_NO_WIDTH}{_SEPARATORS}{_TAGS}{_SELECTORS}{_SURROGATES}"

# A joiner or selector directly behind a visible character outside of ASCII, a joiner behind an emoji's
# selector, and the selector of a keycap.
_PART_OF_WRITING = rf"(?<=[^\x00-\x7f{_ALL}])[\u200c\u200d{_SELECTORS}]|(?<=\ufe0f)\u200d|(?<=[0-9#*])\ufe0f"
_UNSEEN = re.compile(rf"(?P<writing>{_PART_OF_WRITING})|[{_ALL}]")
_ANY = re.compile(f"[{_ALL}]")
_HIDING = re.compile(f"[{_REORDERING}{_TAGS}]|[{_BIDI_MARKS}{_NO_WIDTH}{_SELECTORS}]{{3,}}")
_MAY_HIDE = re.compile(f"[{_REORDERING}{_TAGS}{_BIDI_MARKS}{_NO_WIDTH}{_SELECTORS}]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def stand_in(character: str) -> str:
    """A visible character for an unseen one: the picture of a control, or the replacement character."""
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if 0x7F <= code < 0xA0 else _REPLACEMENT


def shown(text: str, before: str = "") -> str:
    """``text`` with a stand-in for each unseen character; line feeds and tabs stay.

    ``before`` is the last character in front of it, where a text comes in pieces.
    """
    if (text.isascii() and text.isprintable()) or not _ANY.search(text):
        return text
    given = before[-1:] + text
    return _UNSEEN.sub(_shown, given)[len(before[-1:]) :]


def named(text: str) -> str:
    """``text`` with each unseen character written out by its name, as ``⟨zero width space⟩``."""
    return _UNSEEN.sub(_named, text) if _ANY.search(text) else text


def escaped(text: str, escape: Callable[[str], str]) -> str:
    """``text`` with each unseen character escaped, also one that is part of how a script is written."""
    return _ANY.sub(lambda found: escape(found[0]), text)


def is_unseen(character: str) -> bool:
    """Whether one character is unseen, also as a part of how a script is written."""
    return bool(_ANY.match(character))


def has_unseen(text: str) -> bool:
    """Whether ``text`` holds an unseen character that is not part of how its script is written."""
    return any(found["writing"] is None for found in _UNSEEN.finditer(text))


def has_hidden(text: str) -> bool:
    """Whether ``text`` holds what :func:`without_hidden` replaces."""
    return not text.isascii() and any(_hides(text, start, end) for start, end in slices(text))


def _hides(text: str, start: int, end: int) -> bool:
    # Searching for one of the characters is many times faster than for what hides.
    return bool(_MAY_HIDE.search(text, start, end) and _HIDING.search(text, start, end))


def without_hidden(text: str) -> str:
    """``text`` with stand-ins for what could hide words in it: controls that reorder, tags, and runs of three
    or more characters without width. It keeps its length; other unseen characters stay as they are."""
    if not has_hidden(text):
        return text
    return replaced(_HIDING, lambda run: _REPLACEMENT * len(run[0]), text)


def name_of(character: str) -> str:
    """The name of a character, in lower case; its number where it has none."""
    return unicodedata.name(character, f"U+{ord(character):04X}").lower()


def _shown(found: re.Match[str]) -> str:
    return found[0] if found["writing"] else stand_in(found[0])


def _named(found: re.Match[str]) -> str:
    return found[0] if found["writing"] else f"⟨{name_of(found[0])}⟩"
