"""Runs under aider's own interpreter for the commit replay: one repository map for each request line.

Reads JSON objects, a line each, from standard input: ``root``, ``given`` (the file in the chat), ``files``
(all others), ``message``, ``tokens``; answers each with ``{"map": text}``. Imports nothing of spark but the
token counter, which takes the place of a model's own.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from context.text.tokens import Counter

_LEAST_NAME = 5
"""Shortest file name, in letters, that a word of the message can refer to; aider's own limit."""


class _Quiet:
    """The part of a terminal that aider's map uses: reads files and discards messages."""

    def read_text(self, name: str, silent: bool = False) -> str | None:
        try:
            return Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("tool_"):
            raise AttributeError(name)
        return lambda *_, **__: None


class _Model:
    """The part of a model that aider's map uses: counts tokens."""

    def __init__(self) -> None:
        self._counter = Counter()
        self._counter.load()

    def token_count(self, text: str) -> int:
        return self._counter.count(text)


def _named(message: str, files: list[str]) -> set[str]:
    """Return the files whose name, with or without its suffix, is a word of the message."""
    words = {word.strip("`'\",;:!()[]").lower() for word in message.split()}
    plain = {word.lower() for word in re.split(r"\W+", message)}
    named = set()
    for path in files:
        name = Path(path)
        stem = name.stem.lower()
        if (
            path.lower() in words
            or name.name.lower() in words
            or (len(stem) >= _LEAST_NAME and stem in plain)
        ):
            named.add(path)
    return named


def main() -> None:
    """Answer requests until standard input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # aider prints its progress
    # Only this interpreter has aider; the type checker must not look for it.
    repomap = import_module("aider.repomap")
    model, quiet = _Model(), _Quiet()
    for line in sys.stdin:
        asked = json.loads(line)
        root = Path(asked["root"])
        made = repomap.RepoMap(asked["tokens"], str(root), model, quiet)
        text = made.get_ranked_tags_map(
            [str(root / asked["given"])],
            [str(root / path) for path in asked["files"]],
            asked["tokens"],
            _named(asked["message"], asked["files"]),
            set(re.split(r"\W+", asked["message"])),
            True,
        )
        answers.write(json.dumps({"map": text or ""}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
