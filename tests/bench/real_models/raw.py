"""The bare prompt: all files and the request, and the whole files that the answer names."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path

from tests.bench.real_models.requests import Request

_SYSTEM = (
    "You edit code. Answer with each changed file whole: its name on a line, then a code fence with the "
    "file's complete new text. Nothing else."
)
_BLOCK = re.compile(r"^[#*`\s]*(?:File: ?)?([\w./-]+)[*`:]*\n+```[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_MOST_TOKENS = 1500


def ask_raw(folder: Path, request: Request, url: str, model: str) -> None:
    """Ask once, and write the files that the answer names."""
    shown = "".join(f"{name}\n```\n{text}```\n\n" for name, text in request.files.items())
    messages = [
        {"role": "system", "content": _SYSTEM},
        {"role": "user", "content": shown + request.prompt},
    ]
    body = {"model": model, "messages": messages, "max_tokens": _MOST_TOKENS, "stream": True}
    asked = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=1800) as answer:
        lines = [line for line in answer if line.startswith(b"data: {")]
    pieces = [(json.loads(line[6:]).get("choices") or [{}])[0].get("delta", {}) for line in lines]
    text = "".join(piece.get("content") or "" for piece in pieces)
    for name, new in _BLOCK.findall(text + "\n```"):
        target = folder / name
        if target.resolve().is_relative_to(folder.resolve()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(new, "utf-8")
