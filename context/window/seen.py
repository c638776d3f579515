"""Records what the model has been shown in a conversation, so that later turns send only what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from context.disk.changes import Lines, known_ranges, line_sums
from context.disk.source import Source
from context.map.blocks import FrozenMap, with_changes


@dataclass(frozen=True, slots=True)
class ShownFile:
    """The state of a file that the model was shown, whole or in part.

    ``lines`` is None if the file was shown as deleted. ``parts`` are the line ranges (first, one past the
    last) that were asked for and shown, and what was learned since of the lines around them.
    """

    digest: str
    lines: Lines | None
    whole: bool
    parts: frozenset[tuple[int, int]] = frozenset()

    def has_shown(self, asked: Iterable[tuple[int, int]]) -> bool:
        """Whether each of these line ranges was in a part that was shown."""
        return all(any(first <= start and stop <= end for first, end in self.parts) for start, stop in asked)


@dataclass(frozen=True, slots=True)
class Shown:
    """What one window showed.

    ``texts`` are pieces by kind and path, and ``files`` the files by path. ``outlines`` are the map's
    blocks by path; an empty block means that the map had only the file's name.
    """

    texts: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    outlines: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    files: Mapping[str, ShownFile] = field(default_factory=lambda: MappingProxyType({}))
    without_room: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The hashes of files that did not fit, by path; they are tried again when they change."""
    gone: frozenset[str] = frozenset()
    """Paths that the map no longer has."""
    frozen: FrozenMap | None = None
    """The whole map, if this window has it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What all windows of a conversation showed so far; a new conversation begins with ``Seen()``."""

    shown: Shown = field(default_factory=Shown)
    frozen: FrozenMap | None = None
    """The map that a fresh start sends again, followed by its changes."""

    def restart(self) -> Seen:
        """The record for a conversation that starts afresh: nothing is seen, but the map stays frozen."""
        return Seen(frozen=self.frozen)

    def knowing(self, sources: Iterable[Source]) -> Seen:
        """The record after the model learned the current state of files by other means.

        It edited them itself, or was sent the difference. Files that it was never shown stay unknown, and
        so do the lines of a file of which it was shown only parts.
        """
        files = dict(self.shown.files)
        for source in sources:
            before = files.get(source.path)
            if before is not None:
                files[source.path] = _now(before, source)
        return replace(self, shown=replace(self.shown, files=MappingProxyType(files)))

    def having_read(self, readings: Iterable[tuple[Source, bool]]) -> Seen:
        """The record after the model read files with a tool, each whole (true) or in part.

        A part that was read does not replace an earlier state of the file that was shown.
        """
        files = dict(self.shown.files)
        for source, whole in readings:
            before = files.get(source.path)
            if whole or before is None or before.lines is None:
                files[source.path] = ShownFile(source.digest, line_sums(source), whole)
        return replace(self, shown=replace(self.shown, files=MappingProxyType(files)))

    def after(self, new: Shown) -> Seen:
        """The record after a window that shows ``new`` was sent."""
        outlines = with_changes(self.shown.outlines, new.outlines, new.gone)
        return Seen(
            Shown(
                MappingProxyType({**self.shown.texts, **new.texts}),
                outlines,
                MappingProxyType({**self.shown.files, **new.files}),
                MappingProxyType({**self.shown.without_room, **new.without_room}),
            ),
            new.frozen or self.frozen,
        )


def _now(before: ShownFile, source: Source) -> ShownFile:
    """The record of a file of which the model knows what changed since it was shown."""
    lines = line_sums(source)
    parts = before.parts
    if parts and before.lines is not None and before.digest != source.digest:
        parts = frozenset(known_ranges(before.lines, lines, parts))
    return ShownFile(source.digest, lines, before.whole, parts)
