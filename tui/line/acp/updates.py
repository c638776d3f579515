"""What an event of the session is in the Agent Client Protocol: session updates.

A hunk is a tool call of the kind ``edit``: begun while it is typed, completed with its diff once it has
landed. Format: https://agentclientprotocol.com/protocol/tool-calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from acp.helpers import (
    SessionUpdate,
    ToolCallContentVariant,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_user_message_text,
)
from acp.schema import ToolCallLocation, ToolCallProgress, ToolCallStart, ToolKind

from session.base.events import (
    CheckEnded,
    ConnectionChanged,
    DialogueCompacted,
    Event,
    FileBroken,
    HunkChecked,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRedone,
    HunkRefused,
    HunkTyped,
    HunkUndone,
    InstructionsUnused,
    Notice,
    PromptSubmitted,
    ReadingHeld,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolEnded,
    ToolOutput,
)
from session.base.text.sanitize import clean
from session.commands.hunk_commands import HunkChange
from tui.front.words.check_lines import check_line, checked_detail
from tui.front.words.window_lines import compaction_line

_Ending = Literal["completed", "failed"]
_LONGEST_OUTPUT = 20_000
"""Characters of a running command's output that are shown; the end is kept."""
_HUNK_KINDS: dict[str, ToolKind] = {"delete": "delete", "move": "move"}
_TOOL_KINDS: dict[str, ToolKind] = {
    "read": "read",
    "outline": "read",
    "search": "search",
    "list": "search",
    "run": "execute",
}


class Updates:
    """Turns the events of one session into updates, one after the other."""

    def __init__(self, root: Path) -> None:
        """``root`` is the project's folder: the protocol's paths are absolute."""
        self._root = root
        self._begun: set[str] = set()
        """The tool calls that the client knows."""
        self._output: dict[str, str] = {}
        self._typed: dict[str, list[HunkTyped]] = {}
        """What was typed of each hunk that has not ended."""

    def of(
        self, event: Event, changes: Sequence[HunkChange] = (), result: str | None = None
    ) -> list[SessionUpdate]:
        """The updates for ``event``; ``changes`` are those of the hunk that it is about, ``result`` is what
        the tool gave whose call has ended."""
        if isinstance(event, HunkLanded | HunkRefused | HunkDropped):
            self._typed.pop(event.hunk, None)
        match event:
            case TextDelta(text=text):
                return [update_agent_message_text(clean(text))]
            case ReasoningDelta(text=text):
                return [update_agent_thought_text(clean(text))]
            case HunkTyped(hunk=hunk):
                self._typed.setdefault(hunk, []).append(event)
                return []
            case HunkHeld(hunk=hunk, path=path):
                return [self._held(hunk, path)]
            case HunkOpened(hunk=hunk, path=path, action=action):
                return [self._begin(hunk, f"Edit {path}", _hunk_kind(action), path)]
            case HunkLanded(hunk=hunk):
                return self._landed(event, changes)
            case HunkRefused(hunk=hunk, path=path, message=message):
                title = f"Edit {path}: not applied"
                return self._end(hunk, title, "failed", path, [_said(message)])
            case HunkDropped(hunk=hunk, path=path):
                return self._end(hunk, f"Edit {path}: not received", "failed", path, [])
            case HunkUndone(hunk=hunk, place=path, start=start):
                return self._end(hunk, f"Edit {path}: undone", "completed", path, None, start)
            case HunkRedone(hunk=hunk, place=path, start=start):
                return self._end(hunk, f"Edit {path}", "completed", path, None, start)
            case HunkChecked(hunk=hunk, check=check, status=status) if status != "green":
                return [_note(f"{hunk} {check}: {status}: {checked_detail(event)}")]
            case ToolCalled(call=call, tool=tool, line=line):
                return [self._begin(call, line, _TOOL_KINDS.get(tool, "other"))]
            case ToolOutput(call=call, text=text):
                return self._printed(call, text)
            case ToolEnded(call=call, line=line, status=status, tail=tail):
                text = result or tail
                shown = [_said(shortened(text))] if text else None
                ended: _Ending = "completed" if status == "done" else "failed"
                self._output.pop(call, None)
                return self._end(call, line, ended, None, shown)
            case FileBroken(path=path, message=message, hunks=hunks):
                return [_note(f"{path} no longer parses: {message} (/undo {hunks[-1]} undoes the last hunk)")]
            case InstructionsUnused(paths=paths):
                return [_note(f"{', '.join(paths)}: not used until you agree: run spark trust here")]
            case CheckEnded():
                return [_note(check_line(event))]
            case DialogueCompacted():
                return [_note(compaction_line(event))]
            case ReadingHeld(reason=reason) if reason:
                return [_note(f"{reason}: it is not indexed")]
            case Notice(text=text) | ConnectionChanged(state="failed", message=str(text)):
                return [_note(text)]
            case _:
                return []

    def of_past(self, event: Event, changes: Sequence[HunkChange] = ()) -> list[SessionUpdate]:
        """The updates for an event of a session that is loaded, the user's own prompts among them."""
        if isinstance(event, PromptSubmitted):
            return [update_user_message_text(clean(event.text))]
        if isinstance(event, Notice | ConnectionChanged | InstructionsUnused):
            return []
        return self.of(event, changes)

    def note(self, text: str) -> list[SessionUpdate]:
        """Lines of spark's own."""
        return [_note(text)]

    def location(self, path: str, line: int | None = None) -> ToolCallLocation:
        """A place in the project."""
        return ToolCallLocation(path=str(self._root / path), line=line or None)

    def diff(self, changes: Iterable[HunkChange]) -> list[ToolCallContentVariant]:
        """The changes of a hunk as the diffs that clients draw."""
        return [
            tool_diff_content(str(self._root / change.path), change.new, change.old) for change in changes
        ]

    def proposed(self, hunk: str, path: str) -> list[ToolCallContentVariant]:
        """A hunk that has not landed, as the diff of its lines as far as they were typed."""
        old = "".join(piece.text for piece in self._typed.get(hunk, ()) if piece.kind in " -")
        new = "".join(piece.text for piece in self._typed.get(hunk, ()) if piece.kind in " +")
        return [tool_diff_content(str(self._root / path), clean(new), clean(old) or None)]

    def _held(self, hunk: str, path: str) -> ToolCallProgress:
        return ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=hunk,
            status="pending",
            content=self.proposed(hunk, path),
        )

    def _begin(self, call: str, title: str, kind: ToolKind, path: str | None = None) -> ToolCallStart:
        self._begun.add(call)
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=call,
            title=clean(title),
            kind=kind,
            status="in_progress",
            locations=[self.location(path)] if path else None,
        )

    def _landed(self, event: HunkLanded, changes: Sequence[HunkChange]) -> list[SessionUpdate]:
        place = event.moved_to or event.path
        title = f"Edit {event.path}" + (f" -> {event.moved_to}" if event.moved_to else "")
        return self._end(event.hunk, title, "completed", place, self.diff(changes), event.start)

    def _end(
        self,
        call: str,
        title: str,
        status: _Ending,
        path: str | None,
        content: list[ToolCallContentVariant] | None,
        line: int | None = None,
    ) -> list[SessionUpdate]:
        """The end of a tool call, with its beginning where the client does not know it yet."""
        kind: ToolKind = "edit" if path else "other"
        first = [] if call in self._begun else [self._begin(call, title, kind, path)]
        progress = ToolCallProgress(
            session_update="tool_call_update",
            tool_call_id=call,
            title=clean(title),
            status=status,
            content=content,
            locations=[self.location(path, line)] if path else None,
        )
        return [*first, progress]

    def _printed(self, call: str, text: str) -> list[SessionUpdate]:
        shown = (self._output.get(call, "") + clean(text))[-_LONGEST_OUTPUT:]
        self._output[call] = shown
        return [
            ToolCallProgress(session_update="tool_call_update", tool_call_id=call, content=[_said(shown)])
        ]


def shortened(text: str) -> str:
    """Both ends of ``text`` where it is long, with a line that says how much was left out."""
    if len(text) <= _LONGEST_OUTPUT:
        return text
    half = _LONGEST_OUTPUT // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"


def _hunk_kind(action: str) -> ToolKind:
    return _HUNK_KINDS.get(action, "edit")


def _said(text: str) -> ToolCallContentVariant:
    return tool_content(text_block(clean(text)))


def _note(text: str) -> SessionUpdate:
    """Lines of spark's own, in a quote of their own, told from what the model says."""
    quoted = "\n".join(f"> {line}" for line in f"spark: {clean(text)}".splitlines())
    return update_agent_message_text(f"\n\n{quoted}\n\n")
