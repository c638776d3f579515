"""What is sent for a suggestion. What changes least comes first, and what is typed last, so that the server
finds nearly all of it in its cache."""

from __future__ import annotations

from dataclasses import dataclass

from context.text.fences import harmless
from context.text.secrets import redact
from session.suggest.answer import Region
from session.suggest.place import Place

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
    after = "\n".join([place.right, *place.after])
    return _head(place, around, after) + f"Before the cursor:\n{_before(place)}"


def for_rewrite(place: Place, region: Region, around: Surroundings) -> str:
    """The request for the lines of ``region`` as they should be."""
    rows = range(region.first + len(region.old), place.row + 1 + len(place.after))
    after = "\n".join(line for row in rows if (line := place.line(row)) is not None)
    rows = range(_start(place), region.first)
    before = "\n".join(line for row in rows if (line := place.line(row)) is not None)
    lines = _masked("\n".join(region.old))
    return f"{_head(place, around, after)}Before the region:\n{_masked(before)}\n\nThe region:\n{lines}"


def holds_secret(region: Region) -> bool:
    """Whether a line of the region cannot be sent as it is, and so cannot be written anew."""
    return bool(redact("\n".join(region.old)).kinds)


def for_fim(place: Place) -> tuple[str, str]:
    """The texts before and behind the cursor, for a model that is trained to fill in the middle."""
    return _before(place), _masked("\n".join([place.right, *place.after]))


def _head(place: Place, around: Surroundings, after: str) -> str:
    return f"File: {harmless(place.path)}\n\n{around.text}Behind the cursor:\n{_masked(after)}\n\n"


def _before(place: Place) -> str:
    rows = range(_start(place), place.row)
    lines = [line for row in rows if (line := place.line(row)) is not None]
    return _masked("\n".join([*lines, place.left]))


def _start(place: Place) -> int:
    return -(-place.first // STEP) * STEP if place.row - place.first > STEP else place.first


def _masked(text: str) -> str:
    if any(len(line) > _LONGEST_LINE for line in text.split("\n")):
        text = "\n".join(line[:_LONGEST_LINE] for line in text.split("\n"))
    return redact(text).text
