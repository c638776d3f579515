"""Sending what is red back to the model by itself, for a bounded number of rounds. Pure.

A round is one turn. The rounds are counted from the user's own last prompt, and end at the first that is
stopped, fails, lands nothing, or leaves exactly what was red before it.
"""

from __future__ import annotations

from dataclasses import dataclass

from session.base.events import Event, HunkLanded, PromptSubmitted, TurnEnded


@dataclass(frozen=True, slots=True)
class Round:
    """The next round: what is sent, and a line for the user."""

    request: str
    told: str


class AutoFix:
    """Decides after each turn whether a round follows. ``rounds`` is the most of them."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._used = 0
        self._sent = ""
        self._own = False
        """Whether the next prompt is the round that was just decided on."""
        self._turn = ""
        self._landed = False
        self._stopped = False

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case PromptSubmitted(turn=turn):
                if not self._own:
                    self._used, self._sent = 0, ""
                self._own = False
                self._turn, self._landed, self._stopped = turn, False, False
            case HunkLanded():
                self._landed = True
            case TurnEnded(turn=turn, status=status) if turn == self._turn and status != "completed":
                self._stopped = True
            case _:
                pass

    def stop(self) -> None:
        """No round follows before the next prompt."""
        self._stopped = True

    def judged(self, turn: str, request: str) -> Round | str:
        """Decide after ``turn`` was judged. ``request`` asks to mend what is red, and is empty where nothing
        is. Returns the next round, or why there is none, which is empty where nobody would ask."""
        if not self._rounds or turn != self._turn or self._stopped or not self._landed or not request:
            return ""
        if request == self._sent:
            return "auto-fix stopped: the last round left what is red as it was"
        if self._used == self._rounds:
            return f"auto-fix stopped after {self._rounds} of {self._rounds} rounds; /fix sends what is red"
        self._used += 1
        self._sent, self._own = request, True
        return Round(request, f"auto-fix {self._used} of {self._rounds}: what is red goes back; Esc stops it")
