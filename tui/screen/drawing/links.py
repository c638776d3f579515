"""Links that a terminal opens with a click (OSC 8), also where their address is wrapped.

A span's role carries the address behind a space: ``link https://example.org``.
Sequence: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from rich.style import Style

_SCHEMES = ("https://", "http://", "mailto:")
"""What may be opened: a model must not make a click run or open anything else."""
_LONGEST = 2_000
_KEPT = "%/:?#[]@!$&'()*+,;=~-._"


def link_role(address: str) -> str:
    """The role of text that stands for ``address``; a plain one for addresses that are not opened."""
    if len(address) > _LONGEST or not address.lower().startswith(_SCHEMES):
        return "link"
    # The sequence takes printable ASCII alone.
    return f"link {quote(address, safe=_KEPT)}"


@lru_cache(maxsize=512)
def linked(style: Style, address: str) -> Style:
    """``style`` with a link to ``address``; the same each time, since terminals tell links apart."""
    return style + Style(link=address)
