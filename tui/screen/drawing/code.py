"""Code to coloured lines: Pygments, run on bounded pieces.

Pygments cannot go on from where it stopped, so a whole block would be lexed again for each line
that arrives. Instead lexing starts at the last *rest*: a line that begins at the margin, outside any
string or comment, where a fresh lexer reads the same as one that came from the top.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tui.screen.drawing.plain import cell_len, untabbed_pieces, visible
from tui.screen.drawing.rows import Span

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

FARTHEST_REST = 120
"""The most lines without a restart point after which lexing restarts anyway, which bounds the work per line.
"""


LONGEST_LEXED = 4_000
"""The columns of a line that are coloured; what is behind them is text without colours. A line of megabytes
would take minutes."""
MOST_LEXED = 8_000
"""The characters that are coloured at a time on the event loop, which takes some 30 ms: of many long lines
the beginnings."""


MOST_TOKENS = 2_000
"""The tokens that are coloured at a time on the event loop: a lexer may try a hundred patterns for each."""


def new_lexer(*, language: str = "", path: str = "") -> Lexer | None:
    """The lexer of a fence's ``language`` or a file's ``path``; None for what Pygments does not know."""
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        if language:
            return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False) if path else None
    except ClassNotFound:
        return None


lexer_for = lru_cache(maxsize=64)(new_lexer)
"""Like :func:`new_lexer`, but shared by all callers on the event loop."""


def warm() -> None:
    """Load Pygments and the tables of its Python lexer, and the widths of characters beyond ASCII, before the
    first token needs them."""
    cell_len("…")
    lexer = lexer_for(path="warm.py")
    lex(lexer, ["def warm() -> str:", "    return f'{1}'"])


@lru_cache(maxsize=1)
def _roles() -> dict[str, str]:
    return dict(tomllib.loads(Path(__file__).with_name("tokens.toml").read_text("utf-8")))


@lru_cache(maxsize=512)
def _role_of(token: _TokenType) -> str:
    name, roles = str(token), _roles()
    while name not in roles:
        name = name.rpartition(".")[0] or "Token"
    return "." + roles[name]


def lex(lexer: Lexer | None, lines: Sequence[str], *, most: int = 0) -> list[list[Span]]:
    """The spans of each of ``lines``, with token roles up to :data:`LONGEST_LEXED`, and of no more characters
    than ``most`` and tokens than :data:`MOST_TOKENS` unless it is 0. The text is unchanged."""
    if lexer is None:
        return [[(line, ".text")] if line else [] for line in lines]
    longest = LONGEST_LEXED
    if most and sum(min(len(line), longest) for line in lines) > most:
        longest = most // len(lines)
    out: list[list[Span]] = [[]]
    tokens = lexer.get_tokens("\n".join([line[:longest] for line in lines]))
    for token, text in islice(tokens, MOST_TOKENS) if most else tokens:
        role = _role_of(token)
        while True:
            piece, newline, text = text.partition("\n")
            if piece:
                out[-1].append((piece, role))
            if not newline:
                break
            out.append([])
    # Some lexers add or drop a final line break: keep one list per line.
    out += [[] for _ in range(len(lines) - len(out))]
    cut = most > 0 and next(tokens, None) is not None
    for row, line in enumerate(lines):
        if cut or len(line) > longest:
            read = sum(len(text) for text, _ in out[row])
            out[row] += [(line[read:], ".text")] if read < len(line) else []
    return out[: len(lines)]


def is_rest(lines: Sequence[str], spans: Sequence[Sequence[Span]], index: int) -> bool:
    """Whether lexing may restart at line ``index``."""
    line = lines[index]
    if not line or line[0] in " \t}])#*\"'`":
        return False
    before = next((row[-1] for row in reversed(spans[:index]) if row), None)
    opening = spans[index][0][1] if spans[index] else ".text"
    return opening not in (".string", ".comment") and (
        before is None or before[1] not in (".string", ".comment", ".escape") or _closed(before)
    )


def _closed(span: Span) -> bool:
    """Whether a string or comment that ends a line plausibly ends there."""
    text = span[0].rstrip()
    return text.endswith(('"', "'", "`", "*/")) or text.startswith(("#", "//", "--"))


def drawable(spans: Sequence[Span], tab: int = 4) -> list[Span]:
    """``spans`` with tabs expanded and control characters made visible."""
    if not any("\t" in text or not text.isprintable() for text, _ in spans):
        return list(spans)
    texts = untabbed_pieces([text for text, _ in spans], tab)
    return [(visible(text), role) for text, (_, role) in zip(texts, spans, strict=True)]


class CodeStream:
    """A streamed code block, coloured as it arrives. :meth:`lines_from` lexes from the last restart point
    only, so the work per new line is bounded by :data:`FARTHEST_REST` however long the block is."""

    def __init__(self, lexer: Lexer | None) -> None:
        self._lexer = lexer
        self._lines: list[str] = []
        self._rest = 0

    def append(self, lines: Sequence[str]) -> None:
        """Add complete lines."""
        self._lines += lines

    @property
    def rest(self) -> int:
        """The first line whose colours may still change."""
        return self._rest

    def settle(self, tail: str | None) -> list[list[Span]]:
        """The spans of the lines from :attr:`rest` on, then of the unfinished ``tail`` if given. Afterwards
        the restart point is moved forward: lines before it are final."""
        open_lines = self._lines[self._rest :]
        lines = open_lines if tail is None else [*open_lines, tail]
        spans = lex(self._lexer, lines, most=MOST_LEXED)
        for index in range(len(open_lines) - 1, 0, -1):
            if is_rest(open_lines, spans, index):
                self._rest += index
                break
        else:
            if len(open_lines) > FARTHEST_REST:
                self._rest = len(self._lines)
        return spans
