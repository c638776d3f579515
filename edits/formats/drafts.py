"""Recognizes the parts of an answer in which a model thinks: edits in them are drafts, and never land.

Source: the tags that open models print when their server does not take the reasoning out of the text.
"""

from __future__ import annotations

import re

_TAGS = (
    r"(?:think|thinking|thoughts?|reasoning|reflection|scratch_?pad|analysis|draft|antthinking|monologue"
    r"|internal_monologue|inner_monologue|deliberation|brainstorm|planning|plan)"
)
_OPENER = re.compile(
    rf"\s*(?:<(?P<tag>(?:\w+:)?{_TAGS})(?:\s[^<>]*)?>|(?P<square>\[THINK\])"
    r"|(?P<bar><\|begin_of_thought\|>|<\|startofthink\|>)|(?P<arrow>◁think▷)"
    r"|(?P<channel>(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>))",
    re.IGNORECASE,
)
_CLOSERS = {
    "square": re.compile(r"\[/THINK\]", re.IGNORECASE),
    "bar": re.compile(r"<\|(?:end_of_thought|endofthink)\|>", re.IGNORECASE),
    "arrow": re.compile(r"◁/think▷", re.IGNORECASE),
    "channel": re.compile(r"<\|end\|>", re.IGNORECASE),
}


def draft_in(line: str) -> tuple[re.Pattern[str], int] | None:
    """What ends the draft that begins with ``line``, and the index after its tag; None if none begins."""
    opener = _OPENER.match(line)
    if opener is None:
        return None
    tag = opener["tag"]
    closer = next((_CLOSERS[kind] for kind in _CLOSERS if opener[kind]), None)
    return closer or re.compile(rf"</{re.escape(tag)}\s*>", re.IGNORECASE), opener.end()
