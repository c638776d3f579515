"""How long a server asks to wait: in headers (RFC 9110, 10.2.3, and ``retry-after-ms``), or in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

_WORDS = re.compile(
    r"(?:(?:try|retry) again in|retry after) (?:about |approximately )?"
    r"(?:(\d+) ?d(?:ays?)?)? ?(?:(\d+) ?h(?:ours?|rs?)?)? ?(?:(\d+) ?m(?:in(?:ute)?s?)?)?"
    r" ?(?:(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:ond)?s?))?(?![\w])",
    re.IGNORECASE,
)


def retry_after(message: str) -> float | None:
    """The seconds a message asks to wait: "try again in 1.5s", "… in 20 ms", "… in 6m0s"."""
    found = _WORDS.search(message)
    if found is None or not any(found.group(1, 2, 3, 4)):
        return None
    days, hours, minutes, amount, unit = found.groups()
    last = float(amount or 0) * (0.001 if (unit or "").lower().startswith("m") else 1.0)
    return _sensible(int(days or 0) * 86_400.0 + int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + last)


def header_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The seconds that ``headers`` (their names in lower case) ask to wait; None where they do not.

    A date is held against the server's own ``date``, since clocks differ; where it gives none, against
    ``now``, in seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            wait = _sensible(float(value) * unit)
        except ValueError:
            until, said = _moment(value), _moment(headers.get("date", ""))
            since = now if said is None else said
            wait = None if until is None or since is None else max(0.0, until - since)
        if wait is not None:
            return wait
    return None


def _moment(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _sensible(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
