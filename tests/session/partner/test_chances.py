"""Scenarios that are played a number of times, or by chance, to prompts that are the same."""

from __future__ import annotations

from typing import Any

from session.partner.conversation import reply
from session.partner.load_script import parse
from session.partner.script import Say, Script
from session.partner.server.scripted_model import ScriptedModel

PATCH = """*** Begin Patch
*** Add File: {name}
+text
*** End Patch
"""


def script(first: str, seed: str = "") -> Script:
    scenarios = "".join(
        f'[[scenario]]\nid = "{name}"\nmatch = ["go"]\n{more}\n[[scenario.step]]\nsay = "I am {name}.\\n"\n'
        f'[[scenario.step]]\npatch = """{PATCH.format(name=name)}"""\n'
        f'[[scenario.step]]\nsay = "That was {name}.\\n"\n'
        for name, more in (("one", first), ("two", ""))
    )
    return parse(f"{seed}\n{scenarios}")


def asked() -> list[dict[str, Any]]:
    return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}]


def answered(name: str) -> list[dict[str, Any]]:
    said = {"type": "output_text", "text": f"I am {name}.\n"}
    call = {
        "type": "custom_tool_call",
        "call_id": "c",
        "name": "apply_patch",
        "input": PATCH.format(name=name),
    }
    done = {"type": "custom_tool_call_output", "call_id": "c", "output": f"h1 applied {name}:1-1\n"}
    return [*asked(), {"type": "message", "role": "assistant", "content": [said]}, call, done]


def test_an_answer_goes_on_as_the_scenario_that_it_began_as() -> None:
    played = script("times = 1")
    for name in ("one", "two"):
        for exhausted in (frozenset[str](), frozenset({"one"})):
            following = reply(played, answered(name), rounds=True, tools=True, exhausted=exhausted)
            assert following is not None and following.scenario.id == name
            assert following.steps == (Say(f"That was {name}.\n"),) and not following.begins


def test_a_chance_decides_which_scenario_begins() -> None:
    shares = {}
    for chance in ("0.0", "0.3", "1.0"):
        model = ScriptedModel(script(f"chance = {chance}", "seed = 7"), 1.0, None)
        begun = [model.script.choose("go", model.exhausted()) for _ in range(400)]
        shares[chance] = sum(each is not None and each.id == "one" for each in begun)
    assert shares["0.0"] == 0 and shares["1.0"] == 400
    assert 80 <= shares["0.3"] <= 160


def test_a_seed_makes_chances_fall_the_same() -> None:
    def run() -> list[frozenset[str]]:
        model = ScriptedModel(script("chance = 0.5", "seed = 3"), 1.0, None)
        return [model.exhausted() for _ in range(50)]

    assert run() == run() and len(set(run())) == 2
