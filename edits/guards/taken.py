"""What a manifest takes from elsewhere, and which words are only versions."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FROM_SOMEWHERE = re.compile(r"[:/\\]|^\s*\.")
_PINNED = re.compile(r"(?<=[@:#])[\^~]?v?\d[\w.+*-]*$")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a manifest takes from elsewhere: the packages it names, and each statement of where code comes
    from or what runs at install, in a few words."""

    names: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()


def source_in(spec: str) -> str | None:
    """Where a package comes from by ``spec``, without the version; None if that is a version only.

    Versions of all package managers do without ``:``, ``/`` and a dot at their beginning; addresses, paths,
    aliases and names of repositories do not.
    """
    if not _FROM_SOMEWHERE.search(spec):
        return None
    return _PINNED.sub("", spec.strip())
