"""A scanner for JSON that arrives in pieces, cut anywhere: text in, tokens out.

Source: RFC 8259. Strings are passed on in decoded pieces as they are typed. A number or a word is a token
only when the character after it has arrived (``12`` may become ``123``). A comma before a closing bracket
is accepted. The scanner reads a single value and stops after it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Literal, NamedTuple


def past(pattern: re.Pattern[str], text: str, at: int) -> int:
    """The index after the match of ``pattern`` at ``at``, or ``at`` if there is none."""
    found = pattern.match(text, at)
    return found.end() if found is not None else at


class Mark(Enum):
    """The kind of a token."""

    BEGIN_OBJECT = "{"
    END_OBJECT = "}"
    BEGIN_ARRAY = "["
    END_ARRAY = "]"
    KEY = "key"
    """An object's key, whole."""
    TEXT = "text"
    """A piece of a string value."""
    END_TEXT = "end of text"
    SCALAR = "scalar"
    """A number, ``true``, ``false`` or ``null``, as it was typed."""


class Token(NamedTuple):
    """One token; ``text`` is decoded for strings and empty for brackets."""

    mark: Mark
    text: str = ""


class NotJson(ValueError):
    """The text is not valid JSON; the message says what is wrong."""


_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'(?:[^"\\\x00-\x1f\ud800-\udfff]+|\\["\\/bfnrt])+')
_SIMPLE_ESCAPE = re.compile(r"\\(.)")
_WORD = re.compile(r"[-+.\w]+")
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null", re.ASCII)
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
}  # fmt: skip
_HEX = frozenset("0123456789abcdefABCDEF")
_LONGEST_KEY = 200
_LONGEST_SCALAR = 60

_Want = Literal["value", "value or end", "key", "key or end", "colon", "comma or end", "nothing"]


class JsonScanner:
    """Reads one JSON value."""

    def __init__(self) -> None:
        self._want: _Want = "value"
        self._stack: list[str] = []
        # The string being read: a key, whose pieces are kept, or a value. Then the escape in it so far, and
        # a first surrogate that waits for the second.
        self._string: Literal["key", "value"] | None = None
        self._key: list[str] = []
        self._escape = ""
        self._surrogate = ""
        self._word = ""
        self.at = 0
        """The scanner's index in the last text; after NotJson, that of the error."""

    @property
    def done(self) -> bool:
        """Whether the value has ended."""
        return self._want == "nothing"

    def next(self, text: str, at: int) -> tuple[Token | None, int]:
        """The next token of ``text`` from ``at`` on and the index after it; None if more text is needed.

        Raises NotJson.
        """
        while at < len(text):
            self.at = at
            if self._string is not None:
                token, at = self._in_string(text, at)
            elif self._word:
                token, at = self._in_word(text, at)
            else:
                at = past(_SPACE, text, at)
                if at == len(text):
                    return None, at
                self.at = at
                token, at = self._between(text, at)
            if token is not None:
                return token, at
        return None, at

    def _between(self, text: str, at: int) -> tuple[Token | None, int]:
        """A character outside strings, numbers and words."""
        character = text[at]
        match character:
            case '"' if self._want in ("key", "key or end"):
                self._string = "key"
            case '"' if self._want in ("value", "value or end"):
                self._string = "value"
            case ":" if self._want == "colon":
                self._want = "value"
            case "," if self._want == "comma or end" and self._stack:
                self._want = "key or end" if self._stack[-1] == "{" else "value or end"
            case "{" | "[" if self._want in ("value", "value or end"):
                self._stack.append(character)
                self._want = "key or end" if character == "{" else "value or end"
                return Token(Mark(character)), at + 1
            case "}" | "]" if self._closes(character):
                self._stack.pop()
                self._ended()
                return Token(Mark(character)), at + 1
            case _ if self._want in ("value", "value or end") and _WORD.match(character):
                return self._in_word(text, at)
            case _:
                raise NotJson(f"expected {self._expected}, not {character!r}")
        return None, at + 1

    @property
    def _expected(self) -> str:
        return {"colon": "“:”", "comma or end": "“,” or a closing bracket"}.get(self._want, f"a {self._want}")

    def _closes(self, character: str) -> bool:
        pair = {"}": "{", "]": "["}[character]
        wanted = ("comma or end", "key or end" if character == "}" else "value or end")
        return bool(self._stack) and self._stack[-1] == pair and self._want in wanted

    def _ended(self) -> None:
        self._want = "comma or end" if self._stack else "nothing"

    def _in_word(self, text: str, at: int) -> tuple[Token | None, int]:
        match = _WORD.match(text, at)
        end = match.end() if match else at
        self._word += text[at:end]
        if len(self._word) > _LONGEST_SCALAR:
            raise NotJson(f"{self._word[:20]!r}… is not a JSON value")
        if end == len(text):
            return None, end
        word, self._word = self._word, ""
        if not _SCALAR.fullmatch(word):
            raise NotJson(f"{word!r} is not a JSON value")
        self._ended()
        return Token(Mark.SCALAR, word), end

    def _in_string(self, text: str, at: int) -> tuple[Token | None, int]:
        if self._escape:
            return self._in_escape(text, at)
        plain = _PLAIN.match(text, at)
        if plain:
            piece = plain[0]
            if "\\" in piece:
                piece = _SIMPLE_ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], piece)
            return self._piece(piece), plain.end()
        character = text[at]
        if character == "\\":
            self._escape = character
            return None, at + 1
        if character != '"':
            what = "a line end" if character in "\r\n" else repr(character)
            raise NotJson(f"{what} in a string must be written as an escape")
        if self._surrogate:
            raise NotJson("a string contains half of a surrogate pair")
        kind, self._string = self._string, None
        if kind == "value":
            self._ended()
            return Token(Mark.END_TEXT), at + 1
        self._want = "colon"
        key = "".join(self._key)
        self._key.clear()
        return Token(Mark.KEY, key), at + 1

    def _in_escape(self, text: str, at: int) -> tuple[Token | None, int]:
        """One character of an escape."""
        self._escape += text[at]
        at += 1
        kind = self._escape[1]
        if kind != "u":
            if kind not in _ESCAPES:
                raise NotJson(f"{self._escape!r} is not an escape in JSON")
            self._escape = ""
            return self._piece(_ESCAPES[kind]), at
        if not _HEX.issuperset(self._escape[2:]):
            raise NotJson(f"{self._escape!r} is not an escape in JSON")
        if len(self._escape) < 6:
            return None, at
        code = int(self._escape[2:], 16)
        self._escape = ""
        if 0xDC00 <= code < 0xE000 and self._surrogate:
            high, self._surrogate = ord(self._surrogate), ""
            return self._piece(chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))), at
        if 0xD800 <= code < 0xDC00 and not self._surrogate:
            self._surrogate = chr(code)
            return None, at
        if 0xD800 <= code < 0xE000:
            raise NotJson("a string contains half of a surrogate pair")
        return self._piece(chr(code)), at

    def _piece(self, text: str) -> Token | None:
        if self._surrogate:
            raise NotJson("a string contains half of a surrogate pair")
        if self._string == "value":
            return Token(Mark.TEXT, text)
        self._key.append(text)
        if sum(map(len, self._key)) > _LONGEST_KEY:
            raise NotJson("a key is too long")
        return None
