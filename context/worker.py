"""A process that reads and outlines files for another: requests on its input, answers on its output.

Started by :mod:`context.workers`. Each request is one line of JSON, a list of paths; each answer is one line,
a list with one entry a path: the digest and the packed facts, or why the file gave no text.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from context.index import facts_of, pack_facts
from context.source import Unread, read


def answer(root: Path, path: str) -> dict[str, Any]:
    """What is known of one file, as JSON values."""
    source = read(root, path)
    if isinstance(source, Unread):
        return {"why": source.why, "gone": source.gone}
    key, outline, names, words, lines = pack_facts(facts_of(source))
    return {"digest": source.digest, "facts": [key, outline, names, words, lines.hex()]}


def main() -> None:
    """Answer until the other side hangs up. The first argument is the project's root."""
    os.nice(5)
    root = Path(sys.argv[1])
    for line in sys.stdin.buffer:
        answers = [answer(root, path) for path in json.loads(line)]
        sys.stdout.buffer.write(json.dumps(answers).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
