"""Which entries of the journal are kept when it is compacted.

The last sessions are kept, whatever their age and size. Of the others, those that ended too long ago are
dropped, and while the journal is still too large, the oldest of the rest. A hunk is kept or dropped with
its undos. Each edit of ``spark apply`` outside any session counts as a session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from edits.ledger.entry import Entry

DAY = 24 * 60 * 60.0


@dataclass(frozen=True, slots=True)
class Retention:
    """The limits ``days`` and ``bytes`` apply beyond the last ``sessions``."""

    sessions: int = 20
    days: float = 90
    bytes: int = 256 * 1024 * 1024

    def kept(self, entries: Iterable[Entry], size: Callable[[Entry], int], now: float) -> set[int]:
        """The numbers of the entries to keep. ``size`` gives the bytes of one, ``now`` is a Unix time."""
        owner: dict[str, str] = {}
        groups: dict[str, list[Entry]] = {}
        for entry in entries:
            name = owner.setdefault(entry.hunk, entry.session or entry.hunk)
            groups.setdefault(name, []).append(entry)
        newest = sorted(groups.values(), key=lambda group: max(entry.time for entry in group), reverse=True)
        kept: set[int] = set()
        total = 0
        for place, group in enumerate(newest):
            total += sum(map(size, group))
            old = max(entry.time for entry in group) < now - self.days * DAY
            if place >= self.sessions and (old or total > self.bytes):
                break
            kept.update(entry.seq for entry in group)
        return kept
