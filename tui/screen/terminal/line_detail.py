"""How much detail the line to the terminal carries: frames a second, colours, and whether code is coloured.

Where frames of a stream have to wait for the line, less is drawn; once the line has kept up for a while, more
is drawn again. A step up that fails makes the next one wait twice as long.

Sans-I/O: told when a frame was let through or held back and how much was written, it says what is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Detail:
    """What is drawn."""

    interval: float
    """The least time between two frames of a stream, in seconds."""
    figures: float
    """The least time between two changes of the figures in the status line."""
    all_colours: bool
    """Whether text has all colours of the theme, else the nearest of 256."""
    coloured_code: bool


FULL = Detail(1 / 25, 0.2, all_colours=True, coloured_code=True)
FEWER = Detail(1 / 15, 0.5, all_colours=False, coloured_code=True)
LEAN = Detail(1 / 8, 1.0, all_colours=False, coloured_code=False)
WISHES: Mapping[str, Detail | None] = {"auto": None, "on": LEAN, "off": FULL}
"""What is always drawn, by the values of the setting ``lean``; None follows the line."""

PERIOD = 1.0
"""Seconds of a stream that are judged together."""
MOST_HELD = 0.3
"""The share of a period in which frames are held back on a line that is too slow."""
BUDGET = 20_000
"""Bytes a second: a line that is too slow and carries less gets the least detail at once."""
PATIENCE = 10
"""Periods in a row that the line has to keep up before more is drawn, at first."""
LONGEST_PATIENCE = 320
GAP = 0.5
"""Seconds between two frames of a stream from which on they are not judged together: the process was
stopped."""
SETTLES = 1.0
"""Seconds after a disturbance in which the line is not judged: the whole screen is on its way."""


class Verdict(Enum):
    """How the line was in a period."""

    KEPT_UP = "kept up"
    SLOW = "slow"
    TOO_SLOW = "too slow"
    """Slow, and it carried less than :data:`BUDGET`."""
    ROOMY = "roomy"
    """It has kept up for long."""


NEXT: Mapping[tuple[Detail, Verdict], Detail] = {
    (FULL, Verdict.KEPT_UP): FULL,
    (FULL, Verdict.SLOW): FEWER,
    (FULL, Verdict.TOO_SLOW): LEAN,
    (FULL, Verdict.ROOMY): FULL,
    (FEWER, Verdict.KEPT_UP): FEWER,
    (FEWER, Verdict.SLOW): LEAN,
    (FEWER, Verdict.TOO_SLOW): LEAN,
    (FEWER, Verdict.ROOMY): FULL,
    (LEAN, Verdict.KEPT_UP): LEAN,
    (LEAN, Verdict.SLOW): LEAN,
    (LEAN, Verdict.TOO_SLOW): LEAN,
    (LEAN, Verdict.ROOMY): FEWER,
}
"""What is drawn after each verdict."""


class DetailByLine:
    """Chooses what is drawn. Times are seconds on any clock; while nothing streams nothing is judged."""

    def __init__(self, wish: str = "auto") -> None:
        """``wish`` is one of :data:`WISHES`."""
        self._measured = FULL
        self._wish = WISHES[wish]
        self._begun: float | None = None
        """When the period began; None before its first frame."""
        self._held_since: float | None = None
        self._held = 0.0
        """Seconds of the period in which a frame was held back."""
        self._written = 0
        self._last = 0.0
        """When a frame was asked for last."""
        self._unjudged = 0.0
        """Until when nothing is judged."""
        self._kept_up = 0
        """Periods in a row in which the line kept up."""
        self._patience = PATIENCE
        self._raised = False
        """Whether the last change was a step up."""
        self.on_change: Callable[[Detail], object] = lambda detail: None
        """Called with what is drawn from now on."""

    @property
    def detail(self) -> Detail:
        """What is drawn."""
        return self._wish or self._measured

    def wish(self, wish: str) -> None:
        """From now on draw what the user wishes, one of :data:`WISHES`."""
        self._change(WISHES[wish], self._measured)

    def wrote(self, size: int) -> None:
        """``size`` characters were written."""
        self._written += size

    def asked(self, now: float, *, held: bool) -> None:
        """A stream has a frame to show, which is held back or let through."""
        stopped, self._last = now - self._last > GAP, now
        if now < self._unjudged:
            self._begun = None
            return
        if self._begun is None or stopped:
            self._begin(now)
        elif now - self._begun >= PERIOD:
            self._judge(now)
        if self._held_since is not None:
            self._held += now - self._held_since
        self._held_since = now if held else None

    def disturbed(self, now: float) -> None:
        """The whole screen is painted anew, after a resize or a stop: what waits for it says nothing of the
        line."""
        self._unjudged = now + SETTLES

    def _begin(self, now: float) -> None:
        self._begun, self._held_since = now, None
        self._held, self._written = 0.0, 0

    def _judge(self, now: float) -> None:
        passed = now - (now if self._begun is None else self._begun)
        held = self._held + (0.0 if self._held_since is None else now - self._held_since)
        written = self._written
        self._begin(now)
        if held > MOST_HELD * passed:
            verdict = Verdict.TOO_SLOW if written < BUDGET * passed else Verdict.SLOW
            self._kept_up = 0
            if self._raised:
                self._patience = min(2 * self._patience, LONGEST_PATIENCE)
        elif (kept_up := self._kept_up + 1) < self._patience:
            verdict, self._kept_up = Verdict.KEPT_UP, kept_up
        else:
            verdict, self._kept_up = Verdict.ROOMY, 0
            if self._measured is FULL:
                self._patience = PATIENCE
        measured = NEXT[self._measured, verdict]
        if measured is not self._measured:
            self._raised = verdict is Verdict.ROOMY
        self._change(self._wish, measured)

    def _change(self, wish: Detail | None, measured: Detail) -> None:
        before = self.detail
        self._wish, self._measured = wish, measured
        if self.detail is not before:
            self.on_change(self.detail)
