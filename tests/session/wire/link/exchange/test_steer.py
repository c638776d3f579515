"""A steer against every order in which its server may speak: the prompt reaches exactly one answer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session.wire.link.steer import TABLE, Signal, Stage, Steer
from session.wire.protocol.events import Created, TextDelta
from session.wire.protocol.responses import ResponseDecoder
from tests.thorough import share

ENDED = (Stage.FREE, Stage.FOLLOWED, Stage.LOST)


def test_every_signal_has_a_meaning_in_every_stage() -> None:
    assert set(TABLE) == set(Stage)
    assert all(set(row) == set(Signal) for row in TABLE.values())


class Server(RuleBasedStateMachine):
    """A server as the documents describe it: it decides when an item ends, and what becomes of a steer."""

    def __init__(self) -> None:
        super().__init__()
        decoder = ResponseDecoder()
        decoder.feed(json.dumps({"type": "response.created", "response": {"id": "r1"}}))
        self.steer = Steer(decoder)
        self.sent = self.told = self.runs = self.queued = self.followed = self.broken = False
        self.owed = False
        self.pended = self.returned = False

    def say(self, kind: str, **fields: Any) -> None:
        self.steer.read(json.dumps({"type": kind, **fields}).encode())

    @initialize()
    def begins(self) -> None:
        self.runs = True

    @precondition(lambda self: not self.sent and self.steer.stage is Stage.RUNNING)
    @rule()
    def client_steers(self) -> None:
        self.steer.send()
        self.sent = True

    @precondition(lambda self: self.runs)
    @rule()
    def goes_on(self) -> None:
        before = self.steer.unread
        self.say("response.output_text.delta", delta="word")
        assert self.steer.unread == before + 4

    @precondition(lambda self: self.sent and not self.told and self.runs)
    @rule()
    def accepts(self) -> None:
        self.say("response.steer.accepted", steer={"id": "s1", "previous_response_id": "r1"})
        self.told = self.queued = True

    @precondition(lambda self: self.sent and not self.told)
    @rule()
    def came_too_late(self) -> None:
        self.say("response.steer.failed", error={"code": "response_already_completed", "message": "No."})
        self.told = self.returned = True

    @precondition(lambda self: self.sent and not self.told and self.runs)
    @rule()
    def refuses(self) -> None:
        self.say("response.steer.failed", error={"code": "steering_not_supported", "message": "No."})
        self.told = self.returned = True
        assert self.steer.refused_as == "steering_not_supported" and self.steer.stage is Stage.LOST

    @precondition(lambda self: self.queued and not self.runs and not self.followed and not self.pended)
    @rule()
    def gives_it_back(self) -> None:
        self.say("response.steer.failed", error={"code": "successor_creation_failed", "message": "No."})
        self.queued, self.returned = False, True

    @precondition(lambda self: self.runs)
    @rule()
    def ends(self) -> None:
        kind = "incomplete" if self.queued else "completed"
        details = {"incomplete_details": {"reason": "steered"}} if self.queued else {}
        self.say(f"response.{kind}", response={"id": "r1", "output": [], **details})
        self.runs = False

    @precondition(lambda self: self.runs)
    @rule()
    def ends_with_calls(self) -> None:
        call = {"type": "function_call", "id": "i", "call_id": "c1", "name": "read", "arguments": "{}"}
        self.say("response.completed", response={"id": "r1", "output": [call]})
        self.runs, self.owed = False, True

    @precondition(lambda self: self.queued and self.owed and not self.pended and not self.followed)
    @rule()
    def waits_for_outputs(self) -> None:
        stubs = [{"type": "function_call_output", "call_id": "c1", "name": "read"}]
        self.say("response.steer.pending", reason="waiting_for_required_input", required_input=stubs)
        self.pended = True
        assert self.steer.stubs == stubs or self.steer.stage in ENDED

    @precondition(lambda self: self.queued and not self.runs and not self.followed)
    @precondition(lambda self: not self.owed or self.pended)
    @rule()
    def goes_on_with_the_prompt(self) -> None:
        self.say("response.created", response={"id": "r2"})
        self.followed = True

    @precondition(lambda self: not self.broken and not self.followed)
    @rule()
    def fails(self) -> None:
        self.say("error", status=500, error={"code": "server_error", "message": "No."})
        self.broken, self.runs, self.queued = True, False, False

    @rule()
    def says_what_nobody_knows(self) -> None:
        before = self.steer.stage
        self.say("response.steer.wondered", steer={"id": "s1"})
        self.steer.read(b"no json")
        assert self.steer.stage is before

    @invariant()
    def the_prompt_reaches_one_answer(self) -> None:
        stage = self.steer.stage
        if stage is Stage.FOLLOWED:
            assert self.followed
        if self.followed and not self.broken:
            assert stage is Stage.FOLLOWED
        if stage is Stage.FREE:
            # The server has no prompt, and nothing of the answer is to come.
            assert not self.queued and not self.runs and not self.broken
        if self.broken:
            assert stage in (Stage.LOST, Stage.FOLLOWED)
        if stage is Stage.OWING:
            assert self.pended and self.queued
        if not self.runs and not self.sent and not self.broken:
            assert stage in (Stage.FREE, Stage.RUNNING)

    @invariant()
    def nothing_waits_for_ever(self) -> None:
        if self.returned and not self.runs:
            assert self.steer.stage in ENDED


TestServer = Server.TestCase
TestServer.settings = settings(
    max_examples=share(60, 25), stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)


def test_the_successor_is_left_to_its_own_decoder() -> None:
    decoder = ResponseDecoder()
    decoder.feed('{"type": "response.created", "response": {"id": "r1"}}')
    steer = Steer(decoder)
    steer.send()
    frames = [
        {"type": "response.steer.accepted"},
        {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "steered"}}},
        {"type": "response.created", "response": {"id": "r2"}},
    ]
    for frame in frames:
        steer.read(json.dumps(frame).encode())
    assert steer.stage is Stage.FOLLOWED
    successor = ResponseDecoder()
    events = successor.feed(json.dumps(frames[-1]))
    events += successor.feed('{"type": "response.output_text.delta", "delta": "Hi"}')
    assert events == [Created("r2"), TextDelta("Hi")]
