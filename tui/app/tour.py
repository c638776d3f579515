"""The tour of the demo: says what to press next, and goes on once that has happened."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING

from session.base.events import ConnectionChanged, Event, TurnEnded
from tui.front.keys.keymap import shown

if TYPE_CHECKING:
    from tui.app.panes.layout import Panes


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to try. ``until`` is the type of the event that ends it, empty for the last one."""

    name: str
    say: str
    put: str = ""
    until: str = ""
    stopped: bool = False
    """Whether the turn must have been stopped; where it ended by itself, the next step is left out."""


@cache
def steps() -> tuple[Step, ...]:
    """All steps, in order."""
    table = tomllib.loads(Path(__file__).with_name("tour.toml").read_text("utf-8"))
    return tuple(Step(**each) for each in table["step"])


def told(at: int) -> str:
    """What is said of a step, with its keys as the user has them."""
    step = steps()[at]
    keys = {name: shown(name) for _, name, _, _ in Formatter().parse(step.say) if name}
    return f"{at + 1}/{len(steps())} {step.name}: {step.say.format(**keys)}"


class Tour:
    """Follows the events of a session. Nothing is done for the user: they press every key."""

    def __init__(self, panes: Panes) -> None:
        self._panes = panes
        self._at = -1
        """The step that is shown; -1 before the first."""
        self._in_status = False
        """Whether it stands in the status line alone, since an answer streams."""

    def take(self, event: Event) -> None:
        """Go on where ``event`` ends the step that is shown."""
        if self._at < 0:
            if isinstance(event, ConnectionChanged) and event.state == "ready":
                self._show(0)
            return
        step = steps()[self._at]
        if event.type == step.until:
            by_itself = step.stopped and isinstance(event, TurnEnded) and event.status != "interrupted"
            self._show(self._at + (2 if by_itself else 1))
        elif self._in_status and isinstance(event, TurnEnded):
            self._tell(streaming=False)

    def _show(self, at: int) -> None:
        if self._at >= 0:
            self._panes.status.unsay(told(self._at))
        self._at = at
        # A line in the middle of an answer would tear it.
        self._tell(streaming=bool(self._panes.status.status.phase))
        if steps()[at].put and not self._panes.composer.draft.strip():
            self._panes.composer.put(steps()[at].put)

    def _tell(self, *, streaming: bool) -> None:
        """Say the step that is shown: in the chat, while an answer streams in the status line."""
        line, status = told(self._at), self._panes.status
        self._in_status = streaming
        if streaming:
            status.say(line, "warning", stays=True)
        else:
            status.unsay(line)
            self._panes.chat.remark(line, "guide")
