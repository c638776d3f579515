"""The blocks of a project map by path: an outline for some files, only the name for all others.

The limits are those of a map that does not fit whole: its list of paths and its outlines share them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from context.project.project_paths import project_paths


@dataclass(frozen=True, slots=True)
class KnownBlocks(Mapping[str, str]):
    """The blocks that a map shows, by path. All other paths of the map have an empty block."""

    shown: Mapping[str, str]
    paths: tuple[str, ...]

    def __getitem__(self, path: str) -> str:
        found = self.shown.get(path)
        if found is None and path not in project_paths(self.paths):
            raise KeyError(path)
        return found or ""

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


@dataclass(frozen=True, slots=True)
class FrozenMap:
    """A map as it was sent: its exact text, its tokens, and its block of each file.

    A conversation that starts afresh sends it again unchanged, so that the server's cache stays valid.
    """

    text: str
    tokens: int
    outlines: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MapPart:
    """The map, or the changes to it; ``text`` is empty if nothing fits or nothing changed.

    ``outlines`` are the uncut blocks shown, by path; an empty block means that only the name is known.
    ``unoutlined`` and ``unlisted`` are the files and folders that did not fit, with their tokens.
    ``gone`` are files that an earlier map had.
    """

    text: str = ""
    tokens: int = 0
    outlines: Mapping[str, str] = field(default_factory=dict)
    unoutlined: tuple[tuple[str, int], ...] = ()
    unlisted: tuple[tuple[str, int], ...] = ()
    gone: frozenset[str] = frozenset()
    in_part: int = 0
    """Number of outlines that are cut to the best matching definitions."""
    by_name: tuple[tuple[str, int], ...] = ()
    """Files that a complete map has by name alone, with the estimated tokens of their outlines."""

    @property
    def outlined(self) -> int:
        """Number of files that are shown with their definitions."""
        return sum(1 for block in shown_blocks(self.outlines).values() if block)


def shown_blocks(known: Mapping[str, str]) -> Mapping[str, str]:
    """The blocks that are not empty; some empty ones may be among them."""
    return known.shown if isinstance(known, KnownBlocks) else known


def known_paths(known: Mapping[str, str]) -> tuple[str, ...]:
    """All paths of a map, as the tuple that it was made from if there is one."""
    return known.paths if isinstance(known, KnownBlocks) else tuple(known)


def with_changes(
    known: Mapping[str, str], changed: Mapping[str, str], gone: frozenset[str]
) -> Mapping[str, str]:
    """The blocks after some changed, and some files were removed."""
    if not known:
        return changed
    if not changed and not gone:
        return known
    shown = {path: block for path, block in shown_blocks(known).items() if path not in gone}
    shown.update(changed)
    if not isinstance(known, KnownBlocks):
        return shown
    paths, listed = known.paths, project_paths(known.paths)
    if gone or any(path not in listed for path in changed):
        paths = tuple(sorted({*paths, *changed} - gone))
    return KnownBlocks(shown, paths)


Count = Callable[[str], int]
"""Counts the tokens of a text."""

MAX_CHARACTERS_PER_TOKEN = 12
"""Characters per token that no text reaches on average, so that a longer one cannot fit."""
CHARACTERS_PER_TOKEN = 4
"""Estimated characters per token, for sizes that need no exact count."""
MIN_TOKENS = 8
"""Number of tokens below which no outline or folder fits."""
MOST_FAILURES = 60
"""Number of failures in a row after which no more outlines or folders are tried."""
