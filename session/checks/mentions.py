"""Lines of files as mentions in a prompt, with some lines around them. Pure."""

from __future__ import annotations

from collections.abc import Iterable

AROUND = 4
"""Lines of a file that are shown above and below a place."""


def mentions(places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """The lines of files as mentions with some lines around them, overlapping ones as one."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for path, line in places:
        spans.setdefault(path, []).append((max(1, line - AROUND), line + AROUND))
    return tuple(
        f"@{_quoted(path)}:{start}-{end}" for path, each in spans.items() for start, end in _joined(each)
    )


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _quoted(path: str) -> str:
    return f'"{path}"' if " " in path else path
