"""Constants that the preprocessor defines, found as text: their long tables would take a parser's time for
what each line says by itself."""

from __future__ import annotations

import re

from context.code.symbols import CUT, Symbol

_DEFINE = re.compile(
    # It begins with a plain character, which is searched for many times faster.
    rb"#(?<![^\n/]#)(?<![*/]\n#)(?<!\\\n#)[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([^\s/][^\n\\/]*)"
    rb"(?:/\*[^\n*]*\*/[ \t]*)?(?=\n)"
)
"""A whole line that defines a constant; not one under a comment, which documents it, and not one that goes
on in the next line."""
_VALUE = 100


def take_macros(source: bytes) -> tuple[bytes, list[Symbol]]:
    """``source`` with the lines of plain constants emptied, and those constants."""
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
    """All in the order they stand; a constant inside a definition stands one deeper."""
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
