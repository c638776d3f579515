"""Messages for a hunk without a unique place, which help the model's next attempt to succeed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from pathlib import PurePosixPath

from edits.files.folding import fold

_MOST_LINES = 12
_MOST_WIDTH = 160
_MOST_FILES = 5
_WORD = re.compile(r"\w+")


def describe_candidates(starts: Sequence[int], size: int) -> str:
    """The message for a text that occurs several times; ``starts`` are from 0."""
    shown = ", ".join(str(start + 1) if size == 1 else f"{start + 1}-{start + size}" for start in starts[:8])
    more = f" and {len(starts) - 8} more" if len(starts) > 8 else ""
    return (
        f"the text occurs {len(starts)} times (lines {shown}{more});"
        " add lines of context that only the right place has"
    )


def describe_nearest(lines: Sequence[str], old: Sequence[str]) -> str:
    """The message for a text that is not in the file: the most similar lines, with their numbers."""
    span = _nearest_span(lines, old)
    if span is None:
        return "the text is not in the file, and nothing similar is" if lines else "the file is empty"
    start, end = span
    typed = set(fold(old))
    bare = {line.strip() for line in typed}
    other = [line for line in fold(lines[start:end]) if line not in typed]
    only = ", in indentation only" if other and all(line.strip() in bare for line in other) else ""
    width = len(str(end))
    shown = []
    for number, line in enumerate(lines[start : min(end, start + _MOST_LINES)], start + 1):
        mark = " " if fold([line])[0] in typed else "*"
        text = line if len(line) <= _MOST_WIDTH else line[:_MOST_WIDTH] + "…"
        shown.append(f"{mark}{number:>{width}} | {text}")
    if end - start > _MOST_LINES:
        shown.append(f"  … to line {end}")
    said = f"the text is not in the file; the most similar lines (* differs{only}) are"
    return "\n".join([said, *shown])


def likely_files(path: str, files: Iterable[str]) -> list[str]:
    """The project files that a wrong ``path`` may mean, the likeliest first: same or similar name."""
    known = list(files)
    name = PurePosixPath(path.replace("\\", "/")).name
    same = [file for file in known if PurePosixPath(file).name == name]
    if same:
        same.sort(key=lambda file: SequenceMatcher(None, file, path).ratio(), reverse=True)
        return same[:_MOST_FILES]
    return get_close_matches(path, known, n=_MOST_FILES, cutoff=0.75)


def _nearest_span(lines: Sequence[str], old: Sequence[str]) -> tuple[int, int] | None:
    """Where most lines of ``old`` are equal, else around the line most similar to its longest; from 0."""
    bare = [line.strip() for line in fold(lines)]
    typed = [line.strip() for line in fold(old)]
    where: dict[str, list[int]] = {}
    for index, line in enumerate(bare):
        where.setdefault(line, []).append(index)
    votes: Counter[int] = Counter()
    for offset, line in enumerate(typed):
        places = where.get(line, []) if any(map(str.isalnum, line)) else []
        for place in places[:50]:
            votes[place - offset] += 1
    if votes:
        start = min(votes, key=lambda start: (-votes[start], start))
    else:
        probe = max(range(len(typed)), key=lambda index: len(typed[index]), default=None)
        like = _most_like(bare, typed[probe]) if probe is not None else None
        if probe is None or like is None:
            return None
        start = like - probe
    return max(0, start), max(1, min(len(lines), start + len(old)))


def _most_like(lines: Sequence[str], wanted: str) -> int | None:
    """The line that shares most words with ``wanted``, if it is also similar letter by letter."""
    words = set(_WORD.findall(wanted))
    scored = [
        (len(words & have) / len(words | have), -index)
        for index, line in enumerate(lines)
        if line and (have := set(_WORD.findall(line))) and words & have
    ]
    best: tuple[float, int] | None = None
    for _, negative in sorted(scored, reverse=True)[:20]:
        ratio = SequenceMatcher(None, lines[-negative][:400], wanted[:400]).ratio()
        if ratio > 0.5 and (best is None or ratio > best[0]):
            best = (ratio, -negative)
    return best[1] if best else None
