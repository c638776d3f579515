"""Answers to what is held: which item they are about, and for how long a yes holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from session.base.events import HunkHeld, ToolHeld
from tui.front.words.held_items import HeldItems, Verdict

if TYPE_CHECKING:
    from session.session import Session

HUNK = HunkHeld(turn="t1", hunk="h1", path="a.py", guard="runs", message="a.py runs by itself")
COMMAND = ToolHeld(turn="t1", call="c1", tool="run", text="run pytest -q", always="pytest …")
OTHER = ToolHeld(turn="t1", call="c1", tool="run", text="run sh x")


class Noting:
    def __init__(self) -> None:
        self.given: list[tuple[str, dict[str, Any]]] = []

    def answer(self, held: str, **how: Any) -> bool:
        self.given.append((held, how))
        return True


@pytest.mark.parametrize(
    ("event", "verdict", "given"),
    [
        (COMMAND, "apply", [("c1", {"land": True})]),
        (COMMAND, "session", [("c1", {"land": True, "scope": "session"})]),
        (COMMAND, "apply all", [("c1", {"land": True, "scope": "always"})]),
        (COMMAND, "reject", [("c1", {"land": False})]),
        (OTHER, "apply all", [("c1", {"land": True, "rest": True})]),
        (HUNK, "apply all", [("h1", {"land": True, "rest": True})]),
        (HUNK, "session", []),
    ],
)
def test_an_answer_holds_as_long_as_it_says(
    event: HunkHeld | ToolHeld, verdict: Verdict, given: list[tuple[str, dict[str, Any]]]
) -> None:
    held, session = HeldItems(), Noting()
    held.take(event)
    held.answer(cast("Session", session), verdict)
    assert session.given == given
    assert (held.oldest is None) is bool(given), "what is not answered stays held"
