"""Spark's windows for the commit replay, as a session builds them: through its own preparation of turns."""

from __future__ import annotations

import asyncio

from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Kind, Piece
from session.project.pins import Pins
from session.turn.past_turns import PastTurns
from session.turn.preparation import Preparation
from session.turn.turn_memory import TurnMemory
from tests.bench.replay_peers import Filled, lines_of

INSTRUCTIONS = "You are a pair programmer.\n"
_OUTLINE_ONLY = "definitions only"

Edited = tuple[str, str, str]
"""A path, and its text before and after hunks."""


class SessionWindows:
    """Builds the windows of one project's sessions; ``over`` counts those over their budget, of ``made``."""

    def __init__(self, project: Project, counter: Counter) -> None:
        self._project, self._counter = project, counter
        self.over = self.made = 0

    def first(self, prompt: str, budget: int) -> Filled:
        """What the model has been shown after the first turn."""
        return self.turns([prompt], budget)

    def turns(
        self, prompts: list[str], budget: int, *, full: bool = False, edited: Edited | None = None
    ) -> Filled:
        """What the model has been shown after these turns; nothing is answered between them.

        With ``full`` the conversation has run full before the last one, whose window is started afresh: what
        was shown before it does not count. What was ``edited`` landed in this session.
        """
        memory = TurnMemory()
        if edited is not None:
            memory.edited_files.landed(*edited)
        for number, prompt in enumerate(prompts, start=1):
            if full and number == len(prompts):
                memory.conversation.extend((), budget)
            prepared = self._preparation(budget).prepare_now(prompt, memory, PastTurns())
            prepared.commit(memory)
            self.made += 1
            self.over += prepared.window.tokens > budget
        pieces = [piece for piece in memory.sent_windows.pieces if piece.kind is not Kind.INSTRUCTIONS]
        return read_pieces(pieces, memory.conversation.tokens + self._counter.count(INSTRUCTIONS))

    def _preparation(self, budget: int) -> Preparation:
        return Preparation(
            self._project,
            self._counter,
            asyncio.Event(),
            INSTRUCTIONS,
            tools="",
            budget=budget,
            root=self._project.root,
            open_files=(),
            pins=Pins(),
        )


def read_pieces(pieces: list[Piece], tokens: int) -> Filled:
    """The lines of a window by file. A file of which only the definitions are shown counts as outlined."""
    texts: dict[str, set[str]] = {}
    outlines: dict[str, set[str]] = {}
    for piece in pieces:
        if piece.path is not None and piece.kind in (Kind.MENTIONED, Kind.CHANGED):
            shown = outlines if _OUTLINE_ONLY in piece.why else texts
            shown.setdefault(piece.path, set()).update(lines_of(piece.text))
        elif piece.kind is Kind.MAP:
            for path, lines in outlines_in(piece.text).items():
                outlines.setdefault(path, set()).update(lines)
    return Filled(tokens, texts, outlines)


def outlines_in(text: str) -> dict[str, set[str]]:
    """Return the lines of a map's outlines by path: a name and a colon, then indented lines."""
    outlines: dict[str, set[str]] = {}
    path = ""
    for line in text.split("\n"):
        if line.startswith(" "):
            outlines.setdefault(path, set()).update(lines_of(line))
        elif line.endswith(":"):
            path = line.removesuffix(":").removeprefix("./")
    return outlines
