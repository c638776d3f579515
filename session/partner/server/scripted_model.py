"""What all connections of a partner share: its script and how far it was played, its key, its records.

The partner owns one and hands it to each connection, so that connections know nothing of the server.

A script that says ``plan = true`` refuses what the route of a ChatGPT plan refuses (source:
developers.openai.com/siwc/token-sharing-open-source/preview-limitations, looked at in November 2026).
"""

from __future__ import annotations

import asyncio
import hmac
import random
from collections import OrderedDict, deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from session.partner.conversation import Reply, reply
from session.partner.script import Say, Scenario, Script, Step
from session.partner.server.answer import Answer
from session.partner.server.dialects import nested_error
from session.partner.server.requests import BadRequest, Request
from session.partner.side_player import side_answer, suggestion
from session.wire.protocol.items import text_of

UNSUPPORTED = "subscription_sharing_unsupported_capability"
_FIELDS = (
    *("background", "conversation", "max_output_tokens", "max_tool_calls", "metadata", "moderation"),
    *("multi_agent", "prompt", "prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
    *("service_tier", "temperature", "top_logprobs", "top_p", "truncation", "user"),
)
"""Those of the page, and two that others saw refused."""
_TOOLS = ("namespace", "web_search")
"""The kinds of tools that may be in the field: functions stand in namespaces, or in an item of the input."""


def check_plan_request(request: Request) -> None:
    """Raises :class:`BadRequest` for what the route does not take."""
    body = request.body
    for name in _FIELDS:
        if name in body:
            raise _unsupported(f"Unsupported parameter: '{name}'.", name)
    over_http = body.get("type") != "response.create"
    if body.get("store") is not False or (over_http and body.get("stream") is not True):
        raise _unsupported("store must be false and stream must be true.", "store")
    if over_http and body.get("previous_response_id") is not None:
        raise _unsupported("previous_response_id is for WebSockets.", "previous_response_id")
    if any(tool.get("type") not in _TOOLS for tool in body.get("tools") or ()):
        raise _unsupported("Tools stand in namespaces, or in additional_tools.", "tools")
    given = body.get("input")
    for at, item in enumerate(given if isinstance(given, list) else ()):
        if item.get("role") == "system":
            raise _unsupported("A message of the system is not supported.", f"input[{at}]")


def plan_models(names: tuple[str, ...]) -> Mapping[str, Any]:
    """The account's list of models: the last one is not meant to be shown."""
    rows = [{"slug": name, "display_name": name.upper(), "visibility": "list"} for name in names]
    return {"models": [*rows, {"slug": "hidden-model", "display_name": "Hidden", "visibility": "hide"}]}


def _unsupported(message: str, param: str) -> BadRequest:
    return BadRequest(UNSUPPORTED, message, param=param)


_PRACTICE = Path(__file__).parent / "practice.md"
_SECURITY = "Look for security holes alone"
"""What the instructions of a review say that asks for nothing else."""
_REMEMBERED = 256
_MOST_STORED = 64


class ScriptedModel:
    """Plays ``script`` at ``rate`` tokens per second, to clients that send ``key`` if there is one.

    ``requests`` are the last ones received and ``headers`` those of the last upgrades and posts, with names
    in lower case. ``cut`` counts the responses that clients cut short, ``begun`` how often each scenario was.
    """

    def __init__(self, script: Script, rate: float, key: str | None) -> None:
        self.script = script
        self.rate = rate
        self.key = key
        self.going = asyncio.Event()
        """Set by a test that has seen what there is to see in a stall: no answer stalls any longer."""
        self.requests: deque[Request] = deque(maxlen=_REMEMBERED)
        self.headers: deque[Mapping[str, str]] = deque(maxlen=_REMEMBERED)
        self.stored: OrderedDict[str, tuple[Answer, Request]] = OrderedDict()
        """The last answers over HTTP that the client did not ask not to store, with their requests."""
        self.running: dict[str, asyncio.Task[bool]] = {}
        """The answers over HTTP that are being sent, by id."""
        self.cut = 0
        self.begun: dict[str, int] = {}
        self._chances = random.Random(script.seed)  # noqa: S311 - it decides which answer is played

    def refusal(self, headers: Mapping[str, str]) -> tuple[int, dict[str, object]] | None:
        """Status and body for a client without the right key; None for one that has it."""
        self.headers.append(headers)
        given = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if self.key is None or hmac.compare_digest(given.encode(), self.key.encode()):
            return None
        message = "Incorrect API key provided." if given else "No API key was provided."
        return 401, nested_error("invalid_api_key", message, 401)

    def check_model(self, request: Request) -> None:
        """Raises :class:`BadRequest` for a model that the script refuses, or for what its route does."""
        if self.script.plan:
            check_plan_request(request)
        if request.model in self.script.refuse_models:
            raise BadRequest("model_not_found", _no_model(request.model), param="model", status=404)

    def model_list(self) -> dict[str, object]:
        """The body of ``GET /models``."""
        if self.script.plan:
            return dict(plan_models(self.script.models))
        return {"object": "list", "data": [_model(name) for name in self.script.models]}

    def model_entry(self, name: str) -> tuple[int, dict[str, object]]:
        """Status and body of ``GET /models/NAME``."""
        if name in self.script.models:
            return 200, _model(name)
        return 404, nested_error("model_not_found", _no_model(name), 404)

    def began(self, answer: Answer, request: Request) -> None:
        """Keep an answer that begins, unless the client wants it not to be stored."""
        if request.body.get("store") is not False:
            self.stored[answer.spec.response_id] = answer, request
            while len(self.stored) > _MOST_STORED:
                self.stored.popitem(last=False)

    def stored_before(self, body: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
        """The items of the conversation that a request over HTTP continues. Raises :class:`BadRequest`."""
        previous = body.get("previous_response_id")
        if previous is None:
            return ()
        if previous not in self.stored:
            message = f"Previous response with id '{previous}' not found."
            raise BadRequest("previous_response_not_found", message, param="previous_response_id")
        answer, request = self.stored[previous]
        return (*request.items, *answer.output)

    def stored_response(self, name: str) -> dict[str, Any] | None:
        """The Responses object called ``name`` as it is now; None if there is none."""
        if name not in self.stored:
            return None
        answer, _ = self.stored[name]
        running = name in self.running
        return answer.response("in_progress" if running else "completed" if answer.done else "cancelled")

    async def cancel(self, response: dict[str, Any]) -> dict[str, Any]:
        """End the answer if it is still being sent, and return its object."""
        task = self.running.get(response["id"])
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
        return self.stored_response(response["id"]) or response

    def answer(
        self, request: Request, items: tuple[dict[str, Any], ...]
    ) -> tuple[tuple[Step, ...], Scenario | None]:
        """The steps that answer ``request``, the last of the conversation ``items``.

        With them comes the scenario they are from; without one that fits, the answer lists what can be
        practised.
        """
        suggested = suggestion(text_of(items[-1])) if items else None
        if suggested is not None:
            return ((Say(suggested),) if suggested else ()), None
        found = self._reply(request, items)
        if found is None:
            return (Say(self._side_answer(request, items) or self._practice()),), None
        if found.begins:
            self.begun[found.scenario.id] = self.begun.get(found.scenario.id, 0) + 1
        return found.steps, found.scenario

    def _reply(self, request: Request, items: tuple[dict[str, Any], ...]) -> Reply | None:
        return reply(
            self.script,
            items,
            rounds=request.offers_patch_tool or request.patch_shell is not None,
            tools=request.offers_functions,
            exhausted=self.exhausted(),
        )

    def exhausted(self) -> frozenset[str]:
        """The scenarios that may not begin now: they were played often enough, or chance is against them."""
        return frozenset(
            scenario.id
            for scenario in self.script.scenarios
            if (scenario.times is not None and self.begun.get(scenario.id, 0) >= scenario.times)
            or (scenario.chance < 1 and self._chances.random() >= scenario.chance)
        )

    def _side_answer(self, request: Request, items: tuple[dict[str, Any], ...]) -> str | None:
        """The answer to a review or a refactor; None for any other request."""
        if len(items) < 2:
            return None
        security = _SECURITY in str(request.body)
        return side_answer(text_of(items[-2]), text_of(items[-1]), security=security)

    def _practice(self) -> str:
        prompts = [scenario.prompt for scenario in self.script.scenarios if scenario.prompt]
        examples = "\n".join(f"- {prompt}" for prompt in prompts) or "- (this script has no examples)"
        return _PRACTICE.read_text(encoding="utf-8").replace("{examples}", examples)


def _model(name: str) -> dict[str, object]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "spark"}


def _no_model(name: str) -> str:
    return f"The model '{name}' does not exist or you do not have access to it."
