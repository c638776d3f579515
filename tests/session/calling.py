"""Scripts whose model calls tools, and what came of the calls: shared by the tests of tools in turns."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.session.talking import Listening

ROUTES = ("websocket", "responses", "chat", "messages")


def over(tmp_path: Path, route: str) -> None:
    """Have the session speak to the partner so."""
    if route != "websocket":
        allow(tmp_path, f'[providers.partner]\nwebsocket = false\ndialects = ["{route}"]\n')


def calling(*calls: tuple[str, Any]) -> str:
    """A script that makes ``calls`` together when it is told to go."""
    texts = [(tool, given if isinstance(given, str) else json.dumps(given)) for tool, given in calls]
    rows = ", ".join(f"{{ tool = {json.dumps(t)}, arguments = {json.dumps(given)} }}" for t, given in texts)
    return f"""
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["go"]
[[scenario.step]]
call = [{rows}]
[[scenario.step]]
say = "Done.\\n"
[scenario.redirect]
prompt = "stop that and say why"
[[scenario.redirect.step]]
say = "Because you asked.\\n"
"""


def allow(tmp_path: Path, text: str) -> None:
    """Write the user's configuration."""
    folder = tmp_path / "xdg" / "config" / "spark"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(text)


def last_body(talk: Listening) -> dict[str, Any]:
    """The last request for an answer; a spare connection may have been warmed since."""
    return [request.body for request in talk.partner.requests if request.generate][-1]


def outputs(talk: Listening) -> list[str]:
    """The answers to calls in the last request, in order, in whichever dialect it was sent."""
    body = last_body(talk)
    if "input" in body:
        kinds = ("function_call_output", "custom_tool_call_output")
        return [item["output"] for item in body["input"] if item.get("type") in kinds]
    texts = []
    for message in body["messages"]:
        if message["role"] == "tool":
            texts.append(message["content"])
        elif isinstance(message["content"], list):
            blocks = message["content"]
            texts += [block["content"] for block in blocks if block["type"] == "tool_result"]
    return texts


def running(mark: str) -> list[str]:
    """The processes whose command line holds ``mark``."""
    listed = subprocess.run(
        ["ps", "-ww", "-eo", "stat=,args="], capture_output=True, text=True, check=True
    ).stdout
    return [line for line in listed.splitlines() if mark in line and not line.lstrip().startswith("Z")]
