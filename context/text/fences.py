"""Makes text safe to quote in a prompt: fences that it cannot close, and no control characters."""

from __future__ import annotations

import re

from context.code.languages import fence_of

_CONTROL = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_CONTROL |= {0x7F: 0x2421}
# C1 controls, and marks that reorder text on a screen, which can make code look like other code.
_CONTROL |= dict.fromkeys([*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)], 0xFFFD)

_HELD = re.compile(f"[{re.escape(''.join(map(chr, _CONTROL)))}]")

_BACKTICKS = re.compile(r"`{3,}")


def harmless(text: str) -> str:
    """``text`` with control characters replaced by their Unicode pictures; tabs and line ends stay."""
    # Searching is many times faster than translating.
    return text.translate(_CONTROL) if _HELD.search(text) else text


def fenced(path: str, text: str) -> str:
    """``text`` in a Markdown fence longer than any fence inside it; the result ends in a line end."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=2)
    fence = "`" * max(3, longest + 1)
    body = text if text.endswith("\n") or not text else text + "\n"
    return f"{fence}{fence_of(path)}\n{body}{fence}\n"
