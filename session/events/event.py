"""The union of all events: what a reader may meet."""

from __future__ import annotations

from session.events.compaction import DialogueCompacted, LedgerProposed, LineForgotten, LineRemembered
from session.events.context import (
    ContextPinned,
    ContextRemoved,
    ContextRestored,
    ContextUnpinned,
    ReadingProgress,
)
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

Event = (
    SessionStarted
    | ModelChosen
    | PromptSubmitted
    | PromptQueued
    | PromptsUnqueued
    | TurnStarted
    | PhaseChanged
    | TextDelta
    | ReasoningDelta
    | HunkOpened
    | HunkTyped
    | HunkAimed
    | HunkHeld
    | HunkLanded
    | HunkRefused
    | HunkDropped
    | HunkUndone
    | HunkRedone
    | ToolCalled
    | ToolHeld
    | ToolOutput
    | ToolEnded
    | FileSaved
    | FilesChanged
    | Usage
    | TurnEnded
    | ContextPinned
    | ContextUnpinned
    | ContextRemoved
    | ContextRestored
    | ReadingProgress
    | ConnectionChanged
    | Notice
    | ApplyEnded
    | DialogueCompacted
    | LedgerProposed
    | LineRemembered
    | LineForgotten
)
