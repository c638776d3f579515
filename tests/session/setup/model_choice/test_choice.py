"""Model, effort and tier in the requests that the server gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from session.base.events import ConnectionChanged, ModelChosen, TurnStarted
from session.setup.config import Flags
from session.setup.model_choice import ChoiceError, ModelChoice
from session.setup.opening import open_project
from session.tools.toolbox import Toolbox
from session.wire.protocol.items import user_message
from session.wire.protocol.messages import encode_messages
from tests.session.talking import PLAIN, Listening, colours_project, configure, environment, talking

FAST = """
[providers.partner]
fast = { service_tier = "priority" }

[models.spark-practice]
price = { input = 1.0, cached = 0.1, output = 8.0 }
fast_price = { input = 2.0, cached = 0.2, output = 16.0 }

[models.tiny]
provider = "partner"
efforts = []

[models.calm]
provider = "partner"
efforts = ["low", "high"]
"""

FASTEST = FAST.replace(
    "[models.tiny]",
    """
ultrafast_price = { input = 6.0, cached = 0.6, output = 48.0 }

[models.tiny]""",
).replace(
    "\n[models.spark-practice]", 'ultrafast = { service_tier = "ultrafast" }\n\n[models.spark-practice]'
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return colours_project(tmp_path)


def asked(at: Listening, number: int = -1) -> dict[str, Any]:
    """The body of a request that asked for an answer."""
    return [request.body for request in at.partner.requests if request.generate][number]


async def turn(at: Listening, prompt: str) -> TurnStarted:
    at.session.submit(prompt)
    name = f"t{len(at.all(TurnStarted)) + 1}"
    await at.ended(name)
    return await at.until(TurnStarted, lambda event: event.turn == name)


async def test_auto_chooses_the_effort_by_the_request_and_says_why(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        at.session.models.choose(effort="auto")
        small = await turn(at, "fix the typo")
        assert (small.effort, small.effort_why) == ("low", "small change, short request")
        assert asked(at)["reasoning"]["effort"] == "low"
        large = await turn(at, "refactor the colours across all modules")
        assert (large.effort, large.effort_why) == ("high", "design, many places")
        assert asked(at)["reasoning"]["effort"] == "high"
        again = await turn(at, "that is wrong")
        assert (again.effort, again.effort_why) == ("xhigh", "another try")


async def test_a_first_short_request_continues_from_the_warm_up(project: Path) -> None:
    configure(project, "")
    root = Path(environment(project.parent / "xdg")["XDG_CONFIG_HOME"]) / "spark" / "config.toml"
    root.write_text('effort = "auto"\n')
    async with talking(project, PLAIN) as at:
        await at.until(ConnectionChanged, lambda event: event.state == "ready")
        assert (await turn(at, "fix the typo")).effort == "low"
        assert asked(at)["previous_response_id"]


async def test_an_effort_of_the_users_own_needs_no_reason(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        assert at.session.models.choose(effort="high") == ""
        started = await turn(at, "fix the typo")
        assert (started.effort, started.effort_why) == ("high", None)


async def test_auto_does_not_change_the_effort_of_a_long_conversation_for_little(project: Path) -> None:
    (project / "long.py").write_text("".join(f"value_{n} = {n}\n" for n in range(1500)))
    async with talking(project, PLAIN) as at:
        at.session.models.choose(effort="auto")
        first = await turn(
            at, "go through @long.py line by line, if you please, and say in your own words what it is for"
        )
        assert first.effort == "medium"
        near = await turn(
            at, "who is it in this house that reads the first of these numbers in the end, please"
        )
        assert (near.effort, near.effort_why) == ("medium", "as before; question")
        assert asked(at)["previous_response_id"]
        far = await turn(at, "fix the typo")
        assert far.effort == "low"
        assert asked(at)["previous_response_id"], "another effort goes on from the last response"


async def test_a_model_without_efforts_is_asked_without_one(project: Path) -> None:
    configure(project, FAST)
    async with talking(project, 'models = ["tiny"]\n' + PLAIN.split("\n", 2)[2], model="tiny") as at:
        started = await turn(at, "design everything anew")
        assert started.effort == ""
        assert "reasoning" not in asked(at)
        with pytest.raises(ChoiceError, match="tiny has no efforts to choose from"):
            at.session.models.choose(effort="high")


async def test_an_effort_that_the_next_model_lacks_is_left_to_auto(project: Path) -> None:
    configure(project, FAST)
    async with talking(project, PLAIN) as at:
        at.session.models.choose(effort="medium")
        assert await at.session.models.choose_model("calm") == ""
        assert at.session.models.effort == "auto"
        with pytest.raises(ChoiceError, match=r"calm does not know effort 'xhigh'.*; it has low, high, auto"):
            at.session.models.choose(effort="xhigh")
        with pytest.raises(ChoiceError, match=r"effort 'HIHG' \(did you mean high\?\); it has low"):
            at.session.models.choose(effort="HIHG")


async def test_the_faster_tier_goes_with_every_request_while_it_is_on(project: Path) -> None:
    configure(project, FAST)
    async with talking(project, PLAIN) as at:
        told = at.session.models.choose(tier="fast")
        assert told == (
            "fast is on (service_tier priority)\n$2.00 in, $0.2 cached, $16.00 out a million tokens "
            "instead of $1.00 in, $0.1 cached, $8.00 out a million tokens"
        )
        started = await turn(at, "say something")
        assert started.fast and asked(at)["service_tier"] == "priority"
        assert at.session.models.choose(tier="").startswith("fast is off")
        assert not (await turn(at, "say more")).fast and "service_tier" not in asked(at)
        assert [event.fast for event in at.all(ModelChosen)] == [True, False]


async def test_fast_goes_through_the_tiers_and_asks_once_for_one_that_costs_much(project: Path) -> None:
    configure(project, FASTEST)
    async with talking(project, PLAIN) as at:
        models = at.session.models
        assert models.tiers == ("", "fast", "ultrafast")
        assert "/fast ultrafast: $6.00 in" in models.next_tier()
        with pytest.raises(ChoiceError, match=r"ultrafast costs 6 times as much: \$6.00 in.* once more"):
            models.next_tier()
        assert models.tier == "fast", "nothing is changed until it is said again"
        assert models.next_tier().startswith("ultrafast is on (service_tier ultrafast)\n$6.00 in")
        assert (await turn(at, "say something")).fast and asked(at)["service_tier"] == "ultrafast"
        assert [event.tier for event in at.all(ModelChosen)] == ["fast", "ultrafast"]
        assert models.next_tier().startswith("fast is off")
        models.choose(tier="ultrafast")
        assert models.tier == "ultrafast", "it was asked before"
        assert "no tier ultrafast for calm: it is off" in await models.choose_model("calm")
        assert models.tier == ""


async def test_there_is_no_faster_tier_where_the_provider_has_none(project: Path) -> None:
    async with talking(project, PLAIN) as at:
        with pytest.raises(ChoiceError, match="partner has no faster tier for spark-practice"):
            at.session.models.choose(tier="fast")
        assert not at.session.models.fast and not at.all(ModelChosen)


async def test_a_tier_that_is_a_header_needs_a_new_connection(project: Path) -> None:
    configure(
        project,
        '[providers.partner]\nfast_headers = { X-Tier = "quick" }\nfast_models = ["spark-practice"]\n',
    )
    async with talking(project, PLAIN.replace('"spark-practice-text"', '"another"')) as at:
        await turn(at, "say something")
        before = at.session.connection
        assert before is not None and "X-Tier" not in before.endpoint.headers
        dials = before.dials
        at.session.models.choose(tier="fast")
        await turn(at, "say more")
        assert before.endpoint.headers["X-Tier"] == "quick" and before.dials > dials
        assert at.partner.headers[-1]["x-tier"] == "quick"
        told = await at.session.models.choose_model("another")
        assert told.endswith("\npartner has no faster tier for another: it is off")
        await turn(at, "and more")
        assert "X-Tier" not in before.endpoint.headers


@pytest.mark.parametrize(
    ("model", "sent", "left_out"),
    [
        ("claude-opus-5-5", {"output_config": {"effort": "high"}, "max_tokens": 64_000}, "thinking"),
        (
            "claude-sonnet-5-5",
            {"output_config": {"effort": "high"}, "thinking": {"type": "adaptive", "display": "summarized"}},
            "speed",
        ),
        ("claude-haiku-4-5", {"thinking": {"type": "enabled", "budget_tokens": 12_000}}, "output_config"),
    ],
)
def test_claude_models_are_told_the_effort_as_each_wants_it(
    tmp_path: Path, model: str, sent: dict[str, Any], left_out: str
) -> None:
    environ = {**environment(tmp_path / "xdg"), "ANTHROPIC_API_KEY": "sk-1"}
    opening = open_project(tmp_path, Flags(model=model, effort="high"), environ)
    body = encode_messages(ModelChoice(opening, "s", Toolbox()).profile(), [user_message("hello")])
    assert {name: body[name] for name in sent} == sent
    assert left_out not in body


@pytest.mark.parametrize(("model", "told"), [("claude-haiku-4-5", True), ("some-open-model", False)])
def test_a_window_that_nobody_told_is_not_shown(tmp_path: Path, model: str, told: bool) -> None:
    environ = {**environment(tmp_path / "xdg"), "ANTHROPIC_API_KEY": "sk-1"}
    opening = open_project(tmp_path, Flags(model=model), environ)
    chosen = ModelChoice(opening, "s", Toolbox()).event()
    assert (chosen.window > 0, chosen.budget > 0) == (told, told)
