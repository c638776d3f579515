"""Finds constants defined with ``#define`` by a regular expression, since parsing their long tables is
slow."""

from __future__ import annotations

import re

from context.code.symbols import CUT, Symbol

_DEFINE = re.compile(
    # It begins with a plain character, since that makes the search many times faster.
    rb"#(?<![^\n/]#)(?<![*/]\n#)(?<!\\\n#)[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([^\s/][^\n\\/]*)"
    rb"(?:/\*[^\n*]*\*/[ \t]*)?(?=\n)"
)
"""Matches a whole line that defines a constant, except below a comment, which documents it, and except with a
continuation line."""
_VALUE = 100


def take_macros(source: bytes) -> tuple[bytes, list[Symbol]]:
    """``source`` with the lines of plain constants emptied, and the constants."""
    if b"define" not in source:
        return source, []
    symbols: list[Symbol] = []
    kept: list[bytes] = []
    line = at = 0
    for match in _DEFINE.finditer(source):
        start = match.start()
        line += source.count(b"\n", at, start)
        kept.append(source[at:start])
        at = match.end()
        value = " ".join(match[2].decode("utf-8", "replace").split())
        name = match[1].decode("ascii")
        signature = f"#define {name} {value}".rstrip(" {:;=,\\")
        if len(signature) > _VALUE:
            signature = f"{signature[: _VALUE - 1].rstrip()}{CUT}"
        symbols.append(Symbol("constant", name, signature, "", line, line + 1, line, line + 1))
    kept.append(source[at:])
    return b"".join(kept), symbols


def with_macros(symbols: tuple[Symbol, ...], macros: list[Symbol]) -> tuple[Symbol, ...]:
    """All symbols in the order of the file; a constant inside a definition is one level deeper."""
    if not macros:
        return symbols
    merged: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in sorted((*symbols, *macros), key=lambda symbol: symbol.start):
        while around and around[-1].end <= symbol.start:
            around.pop()
        if around and symbol.name and symbol.signature.startswith("#define") and symbol.depth == 0:
            depth = around[-1].depth + 1
            symbol = Symbol(
                symbol.kind,
                symbol.name,
                symbol.signature,
                "",
                symbol.start,
                symbol.end,
                symbol.head,
                symbol.head_end,
                depth,
                any(other.kind == "function" for other in around),
            )
        else:
            around.append(symbol)
        merged.append(symbol)
    return tuple(merged)
