"""The search used where there is neither ripgrep nor git.

``python -m session.tools.plain_search [-i] [-F] -- PATTERN`` reads paths from standard input, with NUL
between them. It is a program of its own, so that a search with a slow pattern can be killed.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from context.disk.source import Source, read


def main(arguments: list[str]) -> int:
    """Print ``path NUL line:`` for each match; 0 if there is one, 1 if none, 2 for a bad pattern."""
    *options, pattern = [argument for argument in arguments[:-1] if argument != "--"] + arguments[-1:]
    try:
        wanted = re.compile(
            re.escape(pattern) if "-F" in options else pattern, re.IGNORECASE if "-i" in options else 0
        )
    except (re.error, RecursionError, OverflowError) as problem:
        sys.stderr.write(f"not a regular expression: {problem}\n")
        return 2
    found = False
    out = sys.stdout.buffer
    for path in filter(None, sys.stdin.buffer.read().split(b"\0")):
        source = read(Path(), os.fsdecode(path))
        if not isinstance(source, Source):
            continue
        for number, line in enumerate(source.lines, 1):
            if wanted.search(line):
                out.write(b"%b\0%d:\n" % (path, number))
                found = True
        out.flush()
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
