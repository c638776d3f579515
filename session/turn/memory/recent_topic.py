"""The subject of the last turns, used to rank files when a new window is started.

Without it, "and where is that freed?" would select files unrelated to the question before.
"""

from __future__ import annotations

from dataclasses import dataclass

from context.find.mentions import find_mentions
from context.project.snapshot import Snapshot
from session.turn.memory.past_turns import PastTurns

_TURNS = 6
"""Number of the last turns whose files count."""
_PROMPTS = 3
"""Number of the last prompts whose words count."""
_LONGEST = 2_000
"""Number of first characters of each prompt whose words count."""
_LOOKED_THROUGH = 20_000
"""Characters of a prompt that are searched for file names: it may hold a long log."""
_MOST_NAMED = 8
"""Most files that one prompt may name and still count: a prompt that names a folder is not about each file
in it."""
_MOST_FILES = 20
"""Most files of a topic."""


@dataclass(frozen=True, slots=True)
class RecentTopic:
    """``words`` are those of the last prompts; ``files`` are those named or edited, newest first."""

    words: str = ""
    files: tuple[str, ...] = ()


def recent_topic(past: PastTurns, snapshot: Snapshot) -> RecentTopic:
    """The topic of the last turns of ``past``."""
    files: dict[str, None] = {}
    for turn in reversed(past.turns[-_TURNS:]):
        mentions = find_mentions(turn.prompt[:_LOOKED_THROUGH], snapshot)
        named = dict.fromkeys(mention.path for mention in mentions)
        if len(named) <= _MOST_NAMED:
            files |= named
        files |= dict.fromkeys(edit.path for edit in reversed(turn.edits))
    words = "\n".join(turn.prompt[:_LONGEST] for turn in past.turns[-_PROMPTS:])
    return RecentTopic(words, tuple(files)[:_MOST_FILES])
