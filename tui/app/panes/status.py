"""The status line: model, connection, turn, tokens and the last message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import monotonic
from typing import Any

from rich.segment import Segment
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tui.front.keys.keymap import shown
from tui.front.words.figures import thousands
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped, visible
from tui.screen.drawing.rows import Span


@dataclass(frozen=True, slots=True)
class Status:
    """The contents of the line."""

    model: str = ""
    effort: str = ""
    link: str = "starting"
    """The connection's state, in the words of ``ConnectionChanged``; ``starting`` before the first one."""
    phase: str = ""
    """The running turn's phase; empty when none runs."""
    asked: bool = False
    """Whether something needs the user's OK."""
    used: int = 0
    estimated: bool = False
    window: int = 0
    speed: float | None = None
    reading: str = ""
    """The progress of a long project scan; empty when none runs."""
    usage: tuple[str, ...] = ()
    """The usage of the session in several lengths, the longest first; one is shown."""
    side: tuple[str, ...] = ()
    """What side requests took in this hour in several lengths, the longest first; one is shown."""
    picked: str = ""
    """The effort that ``auto`` chose, with its reason: ``auto: low (short request)``."""
    tier: str = ""
    """The faster tier that is used; empty for the usual one."""
    plan: str = ""
    """The words for a plan that pays; empty where a key does."""
    waiting: int = 0
    """The number of queued prompts."""
    touched: str = ""
    """The hunk that the user edited, which stopped the turn; saving sends the change."""
    countdown: int = 0
    """Seconds until the connection is tried again; 0 when none is scheduled."""
    stalled: int = 0
    """Seconds for which nothing has come of the running turn; 0 while that is short."""
    message: str = ""
    level: str = "info"


_COUNT_SECONDS = 0.2
NO_KEY = "no key yet"
"""The state of a connection that cannot be made before the user has chosen what to begin with."""
GOES_AFTER = {"info": 10.0, "warning": 60.0}
"""For how many seconds a message is shown, by its level; an error stays until something else is told."""
_LINKS = {
    "starting": ("○", "muted"),
    NO_KEY: ("○", "muted"),
    "offline": ("○", "muted"),
    "connecting": ("◌", "warning"),
    "warming": ("◌", "warning"),
    "ready": ("●", "success"),
    "idle": ("◦", "success"),
    "waiting": ("◌", "warning"),
    "failed": ("✗", "error"),
    "replay": ("▷", "muted"),
}


def parts(status: Status, width: int) -> tuple[list[Span], list[Span]]:
    """The spans at the left and at the right end of the line. What does not fit is left out, the message
    last."""
    sign, role = _LINKS.get(status.link, ("?", "muted"))
    state = "waiting for you" if status.asked else status.phase or status.link
    left: list[Span] = [(f" {sign} ", role), (state, "status_key")]
    if status.countdown:
        how = ", Esc gives up" if width >= 60 else ""
        left.append((f"  again in {status.countdown} s{how}", "warning"))
    if status.stalled and not status.countdown:
        left.append((f"  nothing for {status.stalled} s", "warning"))
    if status.waiting:
        left.append((f" +{status.waiting} queued", "warning"))
    if status.touched:
        gives_up = f", {shown('interrupt')} does not" if width >= 60 else ""
        left.append((f"  {status.touched} edited: {shown('save')} sends it{gives_up}", "warning"))
    if status.reading and _cells(left) + len(status.reading) + 3 <= width:
        left.append((f"  {status.reading}", "muted"))
    right: list[Span] = []
    room = width - _cells(left) - 2
    needed = cell_len(visible(status.message))  # it goes after a while, and what it hid comes back
    # In the order on the line. While a turn runs its speed is kept longest, otherwise the model.
    slots = {
        "side": status.side,
        "usage": status.usage,
        "who": _who(status),
        "window": _window(status),
        "speed": _speed(status),
    }
    fits: dict[str, str] = {}
    order = ("speed", "window", "who", "usage") if status.phase else ("window", "who", "usage", "speed")
    for slot in (*order, "side"):
        text = next(reversed(slots[slot]), "")
        if text and room - needed >= cell_len(text) + 3:
            fits[slot] = text
            room -= cell_len(text) + 2
    for slot in ("usage", "who", "side"):  # more of them where there is room left
        had = cell_len(fits.get(slot, ""))
        text = next((text for text in slots[slot] if cell_len(text) - had < room - needed), "") if had else ""
        if text:
            fits[slot] = text
            room -= cell_len(text) - had
    for slot in slots:
        if slot in fits:
            right += [*([("  ", "status")] if right else []), (fits[slot], "status")]
    if status.message:
        told = {"error": "error", "warning": "warning"}.get(status.level, "status")
        gap = room - 1
        left += [("  ", "status"), (clipped(visible(status.message), gap), told)]
    return left, right


def _window(status: Status) -> Sequence[str]:
    """How full the window of the model is."""
    if not status.used:
        return ()
    used = ("~" if status.estimated else "") + thousands(status.used)
    if not status.window:
        return (f"{used} tokens",)
    return (f"{used}/{thousands(status.window)} {100 * status.used / status.window:.0f}%",)


def _speed(status: Status) -> Sequence[str]:
    return () if status.speed is None else (f"{status.speed:,.0f} tok/s",)


def _who(status: Status) -> Sequence[str]:
    """The model and its effort, the longest form first; the plan that pays is named in all but the last."""
    model = clipped(visible(status.model), 28)
    tier = f" · {visible(status.tier)}" if status.tier else ""
    picked = visible(status.picked)
    efforts = dict.fromkeys([picked, picked.partition(" (")[0]] if picked else filter(None, [status.effort]))
    forms = [f"{model} · {effort}{tier}" for effort in efforts] or [model + tier]
    paid = [f"{form} · {status.plan}" for form in forms] if status.plan else []
    return [*paid, *forms[-1:]] if paid else forms


def _cells(spans: list[Span]) -> int:
    return sum(cell_len(text) for text, _ in spans)


class StatusLine(Widget):
    """The bottom line. It is repainted only when it changes; a timer runs only during a countdown."""

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.palette = palette
        self.status = Status()
        self._until = 0.0
        self._counting: Timer | None = None
        self._going: Timer | None = None

    def show(self, **changes: Any) -> None:
        """Change some fields of :class:`Status`."""
        if any(getattr(self.status, name) != value for name, value in changes.items()):
            self.status = replace(self.status, **changes)
            self.refresh()

    def say(self, message: str, level: str = "info", *, stays: bool = False) -> None:
        """Show a message until the next one, or for a while (:data:`GOES_AFTER`) where it does not tell of
        something that still goes on (``stays``)."""
        if self._going is not None:
            self._going.stop()
            self._going = None
        self.show(message=" ".join(message.split()), level=level)
        if message and not stays and level in GOES_AFTER and self.is_attached:
            self._going = self.set_timer(GOES_AFTER[level], partial(self.unsay, message))

    def unsay(self, message: str) -> None:
        """Take a message back which is not true any more, unless another one took its place."""
        if self.status.message == " ".join(message.split()):
            self.say("")

    @property
    def cut(self) -> bool:
        """Whether the message is cut off."""
        message = visible(self.status.message)
        return bool(message) and parts(self.status, self.size.width)[0][-1][0] != message

    def count_down(self, seconds: float | None) -> None:
        """Show the seconds until the next try, counting down; None ends the countdown."""
        if self._counting is not None:
            self._counting.stop()
            self._counting = None
        if seconds is None:
            self.show(countdown=0)
            return
        self._until = monotonic() + seconds
        self._count()
        self._counting = self.set_interval(_COUNT_SECONDS, self._count)

    def _count(self) -> None:
        self.show(countdown=max(1, math.ceil(self._until - monotonic())))

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self.palette = palette
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line."""
        width = self.size.width
        left, right = parts(self.status, width)
        pad = max(1, width - _cells(left) - _cells(right) - 1)
        spans = [*left, (" " * pad, "status"), *right]
        style = self.palette.style
        segments = [Segment(text, style(role, "status_background")) for text, role in spans]
        return Strip(segments).adjust_cell_length(width, style("status", "status_background"))
