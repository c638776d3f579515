"""The one vocabulary of what happens in a session.

The journal stores these events, ``--json`` prints them, and every front end renders nothing else.
Each is a frozen value with a ``type`` tag; :func:`to_dict` and :func:`from_dict` are the JSON form.
Readers ignore types and fields they do not know, so adding either is always safe.
"""

from session.events.compaction import DialogueCompacted, LedgerProposed, LineForgotten, LineRemembered
from session.events.context import (
    ContextPinned,
    ContextRemoved,
    ContextRestored,
    ContextUnpinned,
    ReadingProgress,
)
from session.events.event import Event
from session.events.hunks import (
    ApplyEnded,
    FileSaved,
    FilesChanged,
    HunkAimed,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRedone,
    HunkRefused,
    HunkTyped,
    HunkUndone,
)
from session.events.link import (
    ConnectionChanged,
    Notice,
)
from session.events.record import from_dict, to_dict
from session.events.tools import ToolCalled, ToolEnded, ToolHeld, ToolOutput
from session.events.turns import (
    ModelChosen,
    PhaseChanged,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    ReasoningDelta,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Usage,
)

__all__ = [
    "ApplyEnded",
    "ConnectionChanged",
    "ContextPinned",
    "ContextRemoved",
    "ContextRestored",
    "ContextUnpinned",
    "DialogueCompacted",
    "Event",
    "FileSaved",
    "FilesChanged",
    "HunkAimed",
    "HunkDropped",
    "HunkHeld",
    "HunkLanded",
    "HunkOpened",
    "HunkRedone",
    "HunkRefused",
    "HunkTyped",
    "HunkUndone",
    "LedgerProposed",
    "LineForgotten",
    "LineRemembered",
    "ModelChosen",
    "Notice",
    "PhaseChanged",
    "PromptQueued",
    "PromptSubmitted",
    "PromptsUnqueued",
    "ReadingProgress",
    "ReasoningDelta",
    "SessionStarted",
    "TextDelta",
    "ToolCalled",
    "ToolEnded",
    "ToolHeld",
    "ToolOutput",
    "TurnEnded",
    "TurnStarted",
    "Usage",
    "from_dict",
    "to_dict",
]
