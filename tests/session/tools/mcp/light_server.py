"""The practice server of ``mcp_server.py`` written by hand: ``python light_server.py``.

It has the same tools and starts in milliseconds, where the official package is imported for two seconds. It
speaks the protocol's version of June 2025 on its standard streams, as most servers do.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any

WORD, NUMBER, WORDS = {"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"type": "string"}}
SHAPES: dict[str, dict[str, Any]] = {
    "add": {"one": NUMBER, "two": NUMBER},
    "environment": {"name": WORD},
    "lines": {"count": NUMBER},
    "refuse": {},
    "wait": {"seconds": {"type": "number"}},
    "crash": {},
    "process": {},
    "change": {"come": WORDS, "go": WORDS},
}
"""The arguments of each tool."""
tools = {
    name: {
        "name": name,
        "description": "Adds two numbers." if name == "add" else f"The tool {name}.",
        "inputSchema": {"type": "object", "properties": shape, "required": list(shape)},
        "annotations": {"readOnlyHint": name == "add"},
    }
    for name, shape in SHAPES.items()
}
writing = threading.Lock()


class RefusedError(Exception):
    """A tool failed, with the words for the model."""


def say(**message: Any) -> None:
    """Write a message."""
    with writing:
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def crash() -> str:
    """Ends the server."""
    print("something broke inside", file=sys.stderr, flush=True)
    os._exit(3)


def refuse() -> str:
    """Fails."""
    raise RefusedError("not today")


def change(come: list[str], go: list[str]) -> str:
    """Gives the server other tools, and says so."""
    for name in come:
        tools[name] = tools["process"] | {"name": name}
    for name in go:
        del tools[name]
    say(method="notifications/tools/list_changed")
    return "changed"


DOES: dict[str, Callable[..., str]] = {
    "add": lambda one, two: str(one + two),
    "environment": lambda name: os.environ.get(name, "not set"),
    "lines": lambda count: "\n".join(f"line {number} \x1b[31m" for number in range(count)),
    "refuse": refuse,
    "crash": crash,
    "process": lambda: str(os.getpid()),
    "change": change,
}


def call(number: object, name: str, arguments: dict[str, Any]) -> None:
    """Answer a call; the answer to ``wait`` comes later."""
    failed, said = False, "waited"
    if name == "wait":
        later = threading.Timer(arguments["seconds"], lambda: say(id=number, result=given(said)))
        later.daemon = True
        later.start()
        return
    try:
        said = DOES[name if name in DOES else "process"](**arguments)
    except (RefusedError, TypeError) as problem:
        failed, said = True, str(problem)
    say(id=number, result=given(said) | {"isError": failed})


def given(text: str) -> dict[str, Any]:
    """The content of an answer."""
    return {"content": [{"type": "text", "text": text}]}


def main() -> None:
    """Answer until standard input ends."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        match asked["method"]:
            case "initialize":
                info = {"name": "practice", "version": "1"}
                capabilities = {"tools": {"listChanged": True}}
                result = {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
                say(id=asked["id"], result=result)
            case "tools/list":
                say(id=asked["id"], result={"tools": list(tools.values())})
            case "tools/call":
                call(asked["id"], asked["params"]["name"], asked["params"].get("arguments") or {})
            case _:
                say(id=asked["id"], error={"code": -32601, "message": "Method not found"})


if __name__ == "__main__":
    main()
