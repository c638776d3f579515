"""Which steps answer a conversation, however it was asked: the script's, or what can be practised here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from session.partner.script.script import Say, Step
from session.partner.script.story import Reply, reply

if TYPE_CHECKING:
    from session.partner.server.server import Partner

_PRACTICE = Path(__file__).parent / "practice.md"


def steps_for(
    partner: Partner, items: tuple[dict[str, Any], ...], *, rounds: bool, tools: bool
) -> tuple[tuple[Step, ...], Reply | None]:
    """The steps to play for ``items``, and the scenario's reply they are from, if any fits."""
    spent = frozenset(
        scenario.id
        for scenario in partner.script.scenarios
        if scenario.times is not None and partner.begun.get(scenario.id, 0) >= scenario.times
    )
    told = reply(partner.script, items, rounds=rounds, tools=tools, exhausted=spent)
    if told is None:
        return (Say(_practice(partner)),), None
    if told.begins:
        partner.begun[told.scenario.id] = partner.begun.get(told.scenario.id, 0) + 1
    return told.steps, told


def _practice(partner: Partner) -> str:
    """The honest answer to what no script covers."""
    prompts = [scenario.prompt for scenario in partner.script.scenarios if scenario.prompt]
    examples = "\n".join(f"- {prompt}" for prompt in prompts) or "- (this script has no examples)"
    return _PRACTICE.read_text(encoding="utf-8").replace("{examples}", examples)
