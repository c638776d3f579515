"""Side requests on the screen: what they cost in the status line, and the key that turns them off."""

from __future__ import annotations

from session.assist.side_requests import SideRequests
from session.record.usage import Spent
from tui.app.panes.status import StatusLine
from tui.front.keys.keymap import shown
from tui.front.words.figures import dollars, thousands


class SideControl:
    """Keeps the status line's figures up to date."""

    def __init__(self, side: SideRequests, status: StatusLine) -> None:
        self._side = side
        self._status = status
        side.account.on_change = self._changed

    def toggle(self) -> None:
        """Turn suggestions and what else spark asks by itself off, or on again, in this session."""
        side = self._side
        side.switch(on=not side.enabled)
        if side.enabled:
            today = side.account.today()
            self._status.say(f"suggestions are on; today they took {_today(today)}")
        else:
            self._status.say(f"suggestions are off; {shown('side')} turns them on")

    def _changed(self) -> None:
        self._status.show(side=side_figures(self._side.account.this_hour(), enabled=self._side.enabled))


def side_figures(hour: Spent, *, enabled: bool) -> tuple[str, ...]:
    """What side requests took in this hour for the status line, the longest form first; nothing before the
    first one."""
    if not enabled:
        return ("suggestions off",)
    if not hour.turns:
        return ()
    mark = "~" if hour.estimated else ""
    tokens = f"{thousands(hour.input + hour.output)} tok"
    money = tokens if hour.known_cost is None else dollars(hour.cost)
    return (f"suggestions {mark}{money}/h", f"{mark}{money}/h")


def _today(taken: Spent) -> str:
    if not taken.turns:
        return "nothing yet"
    tokens = f"{thousands(taken.input + taken.output)} tokens"
    return tokens if taken.known_cost is None else f"{tokens}, {dollars(taken.cost)}"
