"""The process that outlines texts, one after the other; started by :mod:`context.index.outliner`.

It says ``{}`` once it is ready. A request is a line of JSON, followed by as many bytes of UTF-8 as its
``size`` says. ``{"path": …, "size": …}`` asks for an outline, ``{"language": …, "size": …}`` for all
definitions in a text. The answer is lines of JSON: lists of definitions, then a table with the rest of the
outline and, as ``worn``, whether the process has grown so much that it should be replaced.
``{"load": languages}`` is not answered: the queries of these languages are compiled while nothing is asked.
"""

from __future__ import annotations

import gc
import json
import os
import select
import sys
from collections.abc import Sequence
from typing import Any

from context.code.definitions import definitions
from context.code.languages import load, named_language
from context.code.outline import Outline, outline
from context.code.symbols import Symbol
from context.index.outliner import memory_taken

AT_ONCE = 200
"""Number of definitions in one line, so that the other end holds up its threads only shortly to read it."""
_PIECE = 1 << 16


class _Input:
    """Standard input, read in such a way that it is known whether something was asked."""

    def __init__(self) -> None:
        self._held = bytearray()

    def is_waiting(self) -> bool:
        """Whether there is something to read, or its end."""
        return bool(self._held) or bool(select.select([0], [], [], 0)[0])

    def line(self) -> bytes | None:
        """The next line, or None at the end."""
        while (end := self._held.find(b"\n")) < 0:
            if not self._read_more():
                return None
        found = bytes(self._held[:end])
        del self._held[: end + 1]
        return found

    def take(self, size: int) -> bytes | None:
        """The next ``size`` bytes, or None at the end."""
        while len(self._held) < size:
            if not self._read_more():
                return None
        found = bytes(self._held[:size])
        del self._held[:size]
        return found

    def _read_more(self) -> bool:
        more = os.read(0, _PIECE)
        self._held += more
        return bool(more)


def _found(request: dict[str, Any], text: str) -> Outline:
    path = request.get("path")
    if path is not None:
        return outline(path, text)
    language = named_language(request["language"])
    return Outline(() if language is None else definitions(language, text))


def _load_next(waiting: list[str]) -> None:
    language = named_language(waiting.pop(0))
    if language is not None:
        load(language)


def _tell(found: Sequence[Symbol] | dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(found).encode("ascii") + b"\n")


def main() -> None:
    """Answer requests until standard input ends. Argument: the number of bytes of memory to be worn at."""
    most = int(sys.argv[1])
    gc.freeze()
    asked = _Input()
    waiting: list[str] = []
    _tell({})
    while True:
        sys.stdout.buffer.flush()
        while waiting and not asked.is_waiting():
            _load_next(waiting)
        line = asked.line()
        if line is None:
            return
        request = json.loads(line)
        if "load" in request:
            waiting += request["load"]
            continue
        text = asked.take(request["size"])
        if text is None:
            return
        found = _found(request, text.decode("utf-8", "surrogatepass"))
        for at in range(0, len(found.symbols), AT_ONCE):
            _tell(found.symbols[at : at + AT_ONCE])
        _tell({"head": found.head, "more": found.more, "worn": memory_taken() > most})


if __name__ == "__main__":
    main()
