"""What is sent for a suggestion. What changes least comes first, and what is typed last, so that the server
finds nearly all of it in its cache."""

from __future__ import annotations

from dataclasses import dataclass

from context.text.safe import harmless
from session.assist.suggest.answer import Region
from session.assist.suggest.place import Place

STEP = 20
"""The lines before the cursor begin at a multiple of so many rows, to stay the same while it moves on."""
_REGION_BEFORE, _REGION_AFTER = 2, 5
_LONGEST_LINE = 500


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known of a file beside the text at the cursor: its outline, definitions of the names that it
    uses, and what was changed lately."""

    outline: str = ""
    definitions: str = ""
    recent: str = ""

    @property
    def text(self) -> str:
        """All of it."""
        parts = (
            ("Outline of the file", self.outline),
            ("Definitions in other files", self.definitions),
            ("Changed lately", self.recent),
        )
        return "".join(f"{title}:\n{text.rstrip()}\n\n" for title, text in parts if text.strip())


def region_at(place: Place) -> Region:
    """The lines that a rewrite may change: the cursor's and a few around it."""
    before = place.before[len(place.before) - min(len(place.before), _REGION_BEFORE) :]
    after = place.after[:_REGION_AFTER]
    return Region(place.row - len(before), (*before, place.left + place.right, *after))


def for_insertion(place: Place, around: Surroundings) -> str:
    """The request for what to put in at the cursor; its end is the text left of the cursor."""
    return _head(place, around, _behind(place)) + f"Before the cursor:\n{_before(place)}"


def for_rewrite(place: Place, region: Region, around: Surroundings) -> str:
    """The request for the lines of ``region`` as they should be."""
    end = region.first + len(region.old)
    after = _lines(place, end, place.row + 1 + len(place.after))
    before = _lines(place, _start(place), region.first)
    lines = _lines(place, region.first, end)
    return f"{_head(place, around, after)}Before the region:\n{before}\n\nThe region:\n{lines}"


def holds_secret(place: Place, region: Region) -> bool:
    """Whether a line of the region cannot be sent as it is, and so cannot be written anew."""
    first = region.first - place.first
    masked = place.masked
    return masked is None or masked[first : first + len(region.old)] != region.old


def for_fim(place: Place) -> tuple[str, str]:
    """The texts before and behind the cursor, for a model that is trained to fill in the middle."""
    return _before(place), _behind(place)


def _head(place: Place, around: Surroundings, after: str) -> str:
    return f"File: {harmless(place.path)}\n\n{around.text}Behind the cursor:\n{after}\n\n"


def _before(place: Place) -> str:
    above = _lines(place, _start(place), place.row)
    return f"{above}\n{place.left}" if place.row > _start(place) else place.left


def _behind(place: Place) -> str:
    below = _lines(place, place.row + 1, place.row + 1 + len(place.after))
    return f"{place.right}\n{below}" if place.after else place.right


def _start(place: Place) -> int:
    return -(-place.first // STEP) * STEP if place.row - place.first > STEP else place.first


def _lines(place: Place, start: int, end: int) -> str:
    """The rows from ``start`` up to ``end``, without secrets and not too long."""
    masked = place.masked or ()
    first = place.first
    return "\n".join(line[:_LONGEST_LINE] for line in masked[start - first : end - first])
