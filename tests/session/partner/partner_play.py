"""A small front end for the partner's stories: lands what it sends, reports as spark does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from edits.formats.detect import AutoParser
from edits.formats.events import Completed, Opened
from edits.hunk import Hunk, Landed, Refused, Rung, Status
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from edits.report import NotReceived, Outcome, render
from session.partner.conversation import reply
from session.partner.script import Script
from session.partner.server.answer import Answer, ResponseSpec
from session.partner.server.requests import PATCH_TOOL
from session.wire.protocol.events import Finished, ItemDone, TextDelta, ToolInputDelta
from session.wire.protocol.items import tool_output, user_message
from session.wire.protocol.responses import ResponseDecoder


@dataclass
class FrontEnd:
    """Holds a conversation with the partner's script, without sockets; edits the project at ``root``."""

    script: Script
    root: Path
    state: Path
    rounds: bool
    mid_hunk: bool = False
    """Interrupt when the next hunk has begun to come, rather than before it."""
    items: list[dict[str, Any]] = field(default_factory=list)
    landed: list[Landed] = field(default_factory=list)
    sent: list[Hunk] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.state)
        self._landing = Landing(self.root, self._ledger)

    def ask(self, words: str, *, stop_after: int | None = None) -> None:
        """A prompt, answered to its end, or interrupted when ``stop_after`` hunks of it have landed."""
        self.items.append(dict(user_message(f"## Request\n\n{words}\n")))
        goal = None if stop_after is None else len(self.landed) + stop_after
        self.text = ""
        self._in_flight = ""
        while self._response(goal):
            pass

    def _response(self, goal: int | None) -> bool:
        """One response; true when a tool call's result makes another due."""
        told = reply(self.script, self.items, rounds=self.rounds)
        assert told is not None
        answer = Answer(ResponseSpec("resp_1", "m", 0, 0, patch_tool=PATCH_TOOL if self.rounds else None))
        decoder, parser = ResponseDecoder(), AutoParser()
        outcomes: list[Outcome] = []
        calls: list[dict[str, Any]] = []
        said = ""
        for frame in answer.play(told.steps, told.scenario):
            for event in decoder.feed(frame.data):  # type: ignore[union-attr]
                if isinstance(event, TextDelta | ToolInputDelta):
                    said += event.text if isinstance(event, TextDelta) else ""
                    if self._cut(goal):
                        self._stop(said, calls, outcomes)
                        return False
                    outcomes += self._land(parser.feed(event.text))
                elif isinstance(event, ItemDone):
                    calls += [event.item] if event.item["type"] == "custom_tool_call" else []
                elif isinstance(event, Finished):
                    outcomes += self._land(parser.close(clean=True))
                    self.items += event.output
        self.text += said
        self.items += [dict(tool_output(call["call_id"], render(outcomes))) for call in calls]
        return bool(calls)

    def _cut(self, goal: int | None) -> bool:
        wanted = bool(self._in_flight) or not self.mid_hunk
        return goal is not None and len(self.landed) >= goal and wanted

    def _stop(self, said: str, calls: list[dict[str, Any]], outcomes: list[Outcome]) -> None:
        content = [{"type": "output_text", "text": said}]
        self.items += [{"type": "message", "role": "assistant", "content": content}] if said else []
        for call in calls:
            self.items += [call, dict(tool_output(call["call_id"], "Cut off; see the report that follows."))]
        if self._in_flight:
            outcomes = [*outcomes, NotReceived(self._ledger.next_id(), self._in_flight)]
        words = "Your last answer was interrupted by the developer before its end.\n" + render(outcomes)
        content = [{"type": "input_text", "text": words}]
        self.items.append({"type": "message", "role": "developer", "content": content})

    def _land(self, events: list[Any]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        for event in events:
            if isinstance(event, Opened):
                self._in_flight = event.path
            if not isinstance(event, Completed):
                continue
            self._in_flight = ""
            self.sent.append(event.hunk)
            outcome = self._landing.land(event.hunk, hunk_id=self._ledger.next_id())
            assert not isinstance(outcome, Refused), outcome
            assert (outcome.status, outcome.rung) == (Status.APPLIED, Rung.EXACT), outcome
            self.landed.append(outcome)
            outcomes.append(outcome)
        return outcomes


def tree(root: Path) -> dict[str, str]:
    """The project's files and their text, git's own apart."""
    return {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file() and ".git" not in path.parts and "__pycache__" not in path.parts
    }
