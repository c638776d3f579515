"""Which entries of the journal are kept when it is compacted.

The last sessions are kept, whatever their age and size. Of the others, those that ended too long ago are
dropped, and while the journal is still too large, the oldest of the rest. A hunk is kept or dropped with
its undos. Each edit of ``spark apply`` outside any session counts as a session.

Clocks are wrong now and then. So the order is that of the journal, an entry is never older than one before
it, and none is older than what the newest entry says: a clock far ahead makes nothing old.
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
        ended: dict[str, float] = {}
        latest = 0.0
        for entry in entries:
            name = owner.setdefault(entry.hunk, entry.session or entry.hunk)
            group = groups[name] = groups.pop(name, [])  # the last to end is last
            group.append(entry)
            ended[name] = latest = max(latest, entry.time)
        oldest = min(now, latest) - self.days * DAY
        kept: set[int] = set()
        total = 0
        for place, (name, group) in enumerate(reversed(groups.items())):
            total += sum(map(size, group))
            old = ended[name] < oldest
            if place >= self.sessions and (old or total > self.bytes):
                break
            kept.update(entry.seq for entry in group)
        return kept
