"""What a model has been shown on one conversation, so that a following turn sends only what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from context.disk.changes import Lines, line_sums
from context.disk.source import Source
from context.map.blocks import FrozenMap, with_changes


@dataclass(frozen=True, slots=True)
class ShownFile:
    """The state of a file whose text the model was shown, whole or in part; ``lines`` is None: deleted.
    ``parts`` are the line ranges (first, one past the last) that were asked for and shown."""

    digest: str
    lines: Lines | None
    whole: bool
    parts: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True, slots=True)
class Shown:
    """What one window showed. ``texts`` are pieces by (kind, path), ``outlines`` the map's blocks by path
    (an empty string: the file is known to the map, its outline was not shown), ``files`` file texts."""

    texts: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))
    outlines: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    files: Mapping[str, ShownFile] = field(default_factory=lambda: MappingProxyType({}))
    passed: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """The hashes of files that there was no room for: as long as they stay so, they are not tried again."""
    gone: frozenset[str] = frozenset()
    """Paths that the map no longer holds."""
    frozen: FrozenMap | None = None
    """The whole map, where this window has it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a conversation's windows showed so far; a new conversation begins with ``Seen()``."""

    shown: Shown = field(default_factory=Shown)
    frozen: FrozenMap | None = None
    """The map that a fresh start sends again, with what changed in it since behind it."""

    def restart(self) -> Seen:
        """What a conversation that starts afresh begins with: nothing was seen, the map stays frozen."""
        return Seen(frozen=self.frozen)

    def knowing(self, sources: Iterable[Source]) -> Seen:
        """What has been seen once the model knows these files as they are by other means (it edited
        them itself, or was sent the difference); files it was never shown stay so."""
        files = dict(self.shown.files)
        for source in sources:
            before = files.get(source.path)
            if before is not None:
                files[source.path] = ShownFile(source.digest, line_sums(source), before.whole)
        return replace(self, shown=replace(self.shown, files=MappingProxyType(files)))

    def having_read(self, readings: Iterable[tuple[Source, bool]]) -> Seen:
        """What has been seen once the model has read these files by itself, whole (true) or in part.

        What is known of a file that was shown before grows, but a part of it does not replace the whole.
        """
        files = dict(self.shown.files)
        for source, whole in readings:
            before = files.get(source.path)
            if whole or before is None or before.lines is None:
                files[source.path] = ShownFile(source.digest, line_sums(source), whole)
        return replace(self, shown=replace(self.shown, files=MappingProxyType(files)))

    def after(self, new: Shown) -> Seen:
        """What has been seen once a window that shows ``new`` has been sent too."""
        outlines = with_changes(self.shown.outlines, new.outlines, new.gone)
        return Seen(
            Shown(
                MappingProxyType({**self.shown.texts, **new.texts}),
                outlines,
                MappingProxyType({**self.shown.files, **new.files}),
                MappingProxyType({**self.shown.passed, **new.passed}),
            ),
            new.frozen or self.frozen,
        )
