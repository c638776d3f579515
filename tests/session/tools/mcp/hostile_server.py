"""A hostile MCP server for the tests: ``python hostile_server.py WHAT``. It writes its messages by hand.

Its tools' names and texts, and what else it does, are in ``WHAT``, a JSON object.
"""

from __future__ import annotations

import json
import signal
import sys
from typing import Any

WHAT: dict[str, Any] = json.loads(sys.argv[1])
TOOL = {"name": "t", "inputSchema": {"type": "object"}, **WHAT.get("tool", {})}
LISTED = {"tools": [TOOL, *WHAT.get("more", ())]}
GIVEN = {"content": [{"type": "text", "text": "given"}]}


def say(number: object, result: object, kind: str = "result") -> None:
    """Write an answer."""
    print(json.dumps({"jsonrpc": "2.0", "id": number, kind: result}), flush=True)


def answer(asked: dict[str, Any]) -> None:
    """Answer as far as anything is asked."""
    match asked["method"]:
        case "initialize":
            version = asked["params"]["protocolVersion"]
            info = {"name": "hostile", "version": "1"}
            say(asked["id"], {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        case "tools/list" if WHAT.get("pages"):
            page = int(asked.get("params", {}).get("cursor") or 0)
            tools = [{**TOOL, "name": f"t{page}-{number}"} for number in range(400)]
            say(asked["id"], {"tools": tools, "nextCursor": str(page + 1)})
        case "tools/list":
            say(asked["id"], LISTED)
        case "tools/call" if WHAT.get("endless"):
            while True:
                print("a" * 100_000, end="")
        case "tools/call":
            say(asked["id"], {**GIVEN, **WHAT.get("result", {})})
        case _:
            say(asked["id"], {"code": -32601, "message": "no such method"}, "error")


if WHAT.get("stays"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("ready", file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        answer(message)
while WHAT.get("stays"):
    signal.pause()
