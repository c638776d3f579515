"""The memory of a session between turns: the conversation, what the model was shown, what it is owed.

The conversation as the model holds it: an append-only list of items.

Tracks the files that the model has edited, so that it can be told what the user changed in them.

For each file with a landed hunk this keeps the text that the model believes it to have: the text before the
first hunk, with all of the model's own hunks applied. Any difference on disk comes from the user (typing, an
undo, another program), and is reported to the model as a short diff.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from context.text.safe import fenced, harmless, safe_text
from context.text.secrets import is_secret_file, masked_lines
from context.window.seen import Seen
from edits.files.merge import merge3
from edits.files.text import FileError, decode, split
from edits.git_patch import unified_hunks
from edits.ledger.ledger import Ledger
from edits.report import Outcome, render
from session.tools.taint import Typed
from session.turn.past_turns import PastTurnsFold
from session.turn.window_report import SentWindows
from session.wire.protocol.items import Item

LONGEST_DIFF = 120
"""Most lines of one file's diff; a longer diff is cut, and says so."""
_LAST_EDITS, _LONGEST_EDIT = 8, 4_000
"""How many of the last hunks tell what the user works on, and characters of each that do."""
LONGEST_LINE = 1_000
"""Most characters of one line of a diff; a longer line is cut, and says so."""


class EditedFiles:
    """The text of each edited file as the model believes it to be, by path; None for a missing file."""

    def __init__(self) -> None:
        self._believed: dict[str, str | None] = {}
        self._lines: deque[str] = deque(maxlen=_LAST_EDITS)

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the tracked files."""
        return tuple(self._believed)

    def copied(self) -> EditedFiles:
        """A copy, to read while a turn changes the original."""
        copy = EditedFiles()
        copy._believed = dict(self._believed)
        copy._lines = self._lines.copy()
        return copy

    @property
    def last_lines(self) -> str:
        """The lines that the last hunks changed, as they were before and after. An undo leaves them."""
        return "\n".join(self._lines)

    def landed(self, path: str, before: str | None, after: str | None) -> None:
        """Record that a hunk of the model turned ``before`` into ``after`` on disk."""
        self._remember(path, before, after)
        believed = self._believed.get(path, before)
        if believed == before or believed is None or before is None or after is None:
            self._believed[path] = after
        else:
            self._believed[path] = merge3(before, believed, after).text

    def landed_hunk(self, ledger: Ledger, hunk: str) -> None:
        """Record what ``hunk`` did, according to the ledger.

        A file that is not text (such as an image that was moved), or whose text the ledger has lost, is no
        longer tracked.
        """
        entry = next((entry for entry in reversed(ledger.entries()) if entry.hunk == hunk), None)
        if entry is None:
            return
        try:
            before, after = (
                decode(ledger.content(digest), entry.path).text if digest is not None else None
                for digest in (entry.before, entry.after)
            )
        except FileError:
            for path in (entry.path, entry.place):
                self._believed.pop(path, None)
            return
        if entry.moved_to:
            self.landed(entry.path, before, None)
            self.landed(entry.moved_to, None, after)
        else:
            self.landed(entry.path, before, after)

    def resumed(self, ledger: Ledger, session: str) -> None:
        """Recall what the last hunks of ``session`` changed. What the files hold by now is read anew."""
        hunks = [record.id for record in ledger.hunks() if record.session == session]
        before = EditedFiles()
        for hunk in hunks[-_LAST_EDITS:]:
            before.landed_hunk(ledger, hunk)
        self._lines = before._lines

    def _remember(self, path: str, before: str | None, after: str | None) -> None:
        lines = unified_hunks(split(before or "")[0], split(after or "")[0], context=0)
        changed = "\n".join(line[1:] for line in lines if line[0] != "@")
        self._lines.append(f"{path}\n{changed[:_LONGEST_EDIT]}")

    def changes(self, now: Mapping[str, str | None]) -> str:
        """A report for the model on how the texts ``now`` of the files in ``paths`` differ from those that
        it believes in; empty if none differs."""
        parts = [
            _difference(path, self._believed.get(path), text)
            for path, text in now.items()
            if text != self._believed.get(path)
        ]
        if not parts:
            return ""
        differences = harmless("".join(parts))
        return "The developer has changed these files since; their text stands:\n" + fenced("", differences)

    def told(self, now: Mapping[str, str | None]) -> None:
        """Record that the model was told of the changes up to ``now``."""
        self._believed.update(now)


def _difference(path: str, believed: str | None, now: str | None) -> str:
    if now is None:
        return f"--- {path}\nThis file is gone.\n"
    if believed is None:
        return f"--- {path}\nThis file is there now.\n"
    before, after = split(believed)[0], split(now)[0]
    if before == after:
        return f"--- {path}\nOnly its line endings have changed.\n"
    masked = masked_lines(before), masked_lines(after)
    if is_secret_file(path) or masked[0] == masked[1]:
        return f"--- {path}\nText that is not shown to you has changed.\n"
    lines = [f"--- {path}", f"+++ {path}", *unified_hunks(*masked, context=1)]
    shown = [_shortened(line) for line in lines[:LONGEST_DIFF]]
    cut = len(lines) - LONGEST_DIFF
    if cut > 0:
        shown.append(f"({cut} more lines of this diff are left out)")
    return "\n".join(shown) + "\n"


def _shortened(line: str) -> str:
    cut = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} ({cut} more characters)" if cut > 0 else line


class Conversation:
    """The items of the conversation. ``tokens`` is their sum by spark's own count."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self.tokens = 0
        self.starts = 0
        """The number of times that it was cleared."""

    @property
    def items(self) -> Sequence[Item]:
        """All items, oldest first."""
        return self._items

    def extend(self, items: Sequence[Item], tokens: int) -> None:
        """Append ``items``, which together take ``tokens`` tokens."""
        self._items.extend(items)
        self.tokens += tokens

    def copied(self) -> Conversation:
        """A copy, to read while a turn changes the original."""
        copy = Conversation()
        copy.extend(self._items, self.tokens)
        return copy

    def clear(self) -> None:
        """Remove all items, to begin a new window."""
        self._items.clear()
        self.tokens = 0
        self.starts += 1


@dataclass(slots=True)
class TurnMemory:
    """A session's memory between turns. Only the running turn changes it."""

    conversation: Conversation = field(default_factory=Conversation)
    seen: Seen = field(default_factory=Seen)
    edited_files: EditedFiles = field(default_factory=EditedFiles)
    unreported: list[Outcome] = field(default_factory=list)
    cut_short: str = ""
    """How the last turn ended, as a sentence for the model; empty if it was completed."""
    past_turns: PastTurnsFold = field(default_factory=PastTurnsFold)
    """The past turns, for the history in a new window."""
    sent_windows: SentWindows = field(default_factory=SentWindows)
    """The windows that were sent, for the user to see."""
    unsent: list[str] = field(default_factory=list)
    """Prompts whose turn was interrupted before its request went out; the next request carries them."""

    typed: Typed = field(default_factory=Typed)
    """What the user typed."""

    line_news: list[str] = field(default_factory=list)
    """Notices of remembered and forgotten lines that the model has not been sent."""

    told_hidden: set[str | None] = field(default_factory=set)
    """Files of which the user was told that they hold hidden characters."""
    told_unread: set[str] = field(default_factory=set)
    """Files that were left out of a window so far: what cannot be read in one is told once."""

    def start_afresh(self) -> None:
        """Drop the conversation, so that the next turn starts a new window."""
        self.conversation.clear()
        self.seen = self.seen.restart()
        self.sent_windows.clear()

    def copied(self) -> TurnMemory:
        """A copy for a preparation beside a running turn, which the turn does not change.

        Only ``past_turns`` is shared: it is read as a value (``PastTurnsFold.past``).
        """
        return replace(
            self,
            conversation=self.conversation.copied(),
            edited_files=self.edited_files.copied(),
            unreported=list(self.unreported),
            sent_windows=copy(self.sent_windows),
            unsent=list(self.unsent),
            line_news=list(self.line_news),
            told_hidden=set(self.told_hidden),
            told_unread=set(self.told_unread),
        )

    def report(self) -> str:
        """The report for the model: how its last answer ended, and how its edits ended. May be empty."""
        parts = [self.cut_short] if self.cut_short else []
        if self.unreported:
            parts.append(safe_text(render(self.unreported)).text)
        return "\n".join(parts) + "\n" if parts else ""

    def reported(self, count: int) -> None:
        """Record that the model was told the first ``count`` outcomes, and how its last answer ended."""
        self.cut_short = ""
        del self.unreported[:count]

    def take_report(self) -> str:
        """The report, which counts as told from now on."""
        report = self.report()
        self.reported(len(self.unreported))
        return report
