"""The dialogue as values: prompts, answers, edits and commands of each turn, and the remembered lines.

They are built from events, live or read from a journal. A window that starts afresh (a resumed session, a
full window) holds them as plain history in place of the conversation's items. Code is left out: files are
shown as they are on disk.

The subject of the last turns ranks files when a new window is started. Without it, "and where is that freed?"
would select files unrelated to the question before.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

from context.find.mentions import find_mentions
from context.project.snapshot import Snapshot
from session.base.events import (
    CheckEnded,
    CommandEnded,
    DialogueCompacted,
    Event,
    HunkDropped,
    HunkLanded,
    HunkRedone,
    HunkRefused,
    HunkUndone,
    LedgerProposed,
    LineForgotten,
    LineRemembered,
    PromptSubmitted,
    TextDelta,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from session.base.text.pieces import Pieces

MOST_SAID = 1_000_000
"""Characters of one answer that are kept, the newest: more than any window holds."""
_LONGEST_FAILURE = 8_000
"""Characters of what a failed command said that are kept, the last ones."""
MOST_CALLS = 12
"""Most tool calls of one turn that are listed; the last ones are kept."""


@dataclass(frozen=True, slots=True)
class EditFact:
    """The end of one hunk; ``status`` is in the words of the report to the model, ``why`` the user's own."""

    hunk: str
    status: str
    path: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class RunFact:
    """One command that was run: ``line`` holds the command and its result, ``failed`` whether it failed."""

    line: str
    failed: bool


@dataclass(frozen=True, slots=True)
class PastTurn:
    """One turn. ``status`` says how it ended, empty while it runs; ``edits`` are in the order of events."""

    turn: str
    prompt: str
    said: str
    edits: tuple[EditFact, ...]
    status: str
    calls: tuple[str, ...] = ()
    runs: tuple[RunFact, ...] = ()
    """The commands among the calls that were run."""

    def text(self) -> str:
        """The turn as plain history."""
        parts = [f"The developer asked:\n{self.prompt.strip()}\n"]
        said = self.said.strip()
        if said:
            parts.append(f"You answered:\n{said}\n")
        if self.calls:
            more = len(self.calls) - MOST_CALLS
            called = [f"and {more} before", *self.calls[-MOST_CALLS:]] if more > 0 else self.calls
            parts.append("You called tools:\n" + "".join(f"- {line}\n" for line in called))
        if self.edits:
            lines = (
                f"- {edit.hunk} {edit.status} {edit.path}{f': {edit.why}' if edit.why else ''}\n"
                for edit in self.edits
            )
            parts.append("Your edits:\n" + "".join(lines))
        if self.status and self.status != "completed":
            parts.append(f"This answer was {self.status}.\n")
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class PastTurns:
    """The dialogue at one moment, oldest turn first.

    ``remembered`` holds the remembered lines and their numbers, ``compacted`` the compaction in force, and
    ``proposed`` the model's last summary. ``failing`` is what the last command or check that failed said of
    it, until it passes.
    """

    turns: tuple[PastTurn, ...] = ()
    remembered: tuple[tuple[int, str], ...] = ()
    compacted: DialogueCompacted | None = None
    proposed: LedgerProposed | None = None
    failing: str = ""

    def before(self, turn: str) -> PastTurns:
        """The dialogue before ``turn``."""
        names = [each.turn for each in self.turns]
        turns = self.turns[: names.index(turn)] if turn in names else self.turns
        return replace(self, turns=turns)


@dataclass(slots=True)
class _OpenTurn:
    """A turn that may still get events."""

    prompt: str
    said: Pieces = field(default_factory=lambda: Pieces(MOST_SAID))
    edits: list[EditFact] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    status: str = ""
    runs: list[RunFact] = field(default_factory=list)


class PastTurnsFold:
    """Builds the dialogue from events."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        PromptSubmitted,
        TurnStarted,
        TextDelta,
        HunkLanded,
        HunkRefused,
        HunkDropped,
        HunkUndone,
        HunkRedone,
        ToolEnded,
        CommandEnded,
        CheckEnded,
        TurnEnded,
        LineRemembered,
        LineForgotten,
        DialogueCompacted,
        LedgerProposed,
    )
    """The events that :meth:`take` looks at."""

    def __init__(self) -> None:
        self._turns: dict[str, _OpenTurn] = {}
        self._remembered: dict[int, str] = {}
        self._lines = 0
        self._failing: dict[str, str] = {}
        self._compacted: DialogueCompacted | None = None
        self._proposed: LedgerProposed | None = None

    @property
    def next_line(self) -> int:
        """The number of the next line to be remembered. No number is used twice."""
        return self._lines + 1

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case PromptSubmitted(turn=turn, text=text):
                self._turns[turn] = _OpenTurn(text)
            case TurnStarted(turn=turn):
                self._of(turn)  # the record of its prompt may be damaged
            case TextDelta(turn=turn, text=text):
                self._of(turn).said.append(text)
            case HunkLanded(turn=turn, hunk=hunk, path=path) if turn not in self._turns:
                # It came of no turn: the user decided on it, beside the dialogue.
                self._last().edits.append(EditFact(hunk, "landed by the developer", path))
            case HunkLanded(turn=turn, hunk=hunk, status=status, path=path):
                self._of(turn).edits.append(EditFact(hunk, status, path))
            case HunkRefused(turn=turn, hunk=hunk, code=code, path=path) if turn in self._turns:
                self._of(turn).edits.append(EditFact(hunk, f"rejected ({code})", path, event.why))
            case HunkDropped(turn=turn, hunk=hunk, path=path) if turn in self._turns:
                self._of(turn).edits.append(EditFact(hunk, "not_received", path))
            case HunkUndone(hunk=hunk, path=path, why=why):
                self._last().edits.append(EditFact(hunk, "undone_by_user", path, " ".join(why.split())))
            case HunkRedone(hunk=hunk, path=path):
                self._last().edits.append(EditFact(hunk, "landed again by the developer", path))
            case ToolEnded(turn=turn, tool=tool, line=line, status=status):
                told = line if status in ("done", "failed") else f"{line} ({status})"
                self._of(turn).calls.append(told)
                if tool == "run" and status in ("done", "failed"):
                    self._ran(line.partition(" · ")[0], status, line, event.tail)
                    self._of(turn).runs.append(RunFact(line, status == "failed"))
            case CommandEnded(line=line, status=status, tail=tail, places=places):
                self._ran(line, status, tail, *places)
            case CheckEnded(check=check, status=status, findings=findings, excerpt=excerpt):
                self._ran(check, status, excerpt, *findings)
            case TurnEnded(turn=turn, status=status):
                self._of(turn).status = status
            case LineRemembered(line=line, text=text):
                self._remembered[line] = text
                self._lines = max(self._lines, line)
            case LineForgotten(line=line):
                self._remembered.pop(line, None)
            case DialogueCompacted():
                self._compacted = event
            case LedgerProposed():
                self._proposed = event
            case _:
                pass

    def past(self) -> PastTurns:
        """The turns so far, as a value that any thread may read."""
        turns = tuple(
            PastTurn(
                turn=turn,
                prompt=each.prompt,
                said=each.said.text(),
                edits=tuple(each.edits),
                status=each.status,
                calls=tuple(each.calls),
                runs=tuple(each.runs),
            )
            for turn, each in self._turns.items()
        )
        remembered = tuple(sorted(self._remembered.items()))
        failing = next(reversed(self._failing.values()), "")
        return PastTurns(turns, remembered, self._compacted, self._proposed, failing)

    def _of(self, turn: str) -> _OpenTurn:
        return self._turns.setdefault(turn, _OpenTurn(""))

    def _ran(self, name: str, status: str, *said: str) -> None:
        """Keep what a command or a check said, if it failed, until it passes."""
        self._failing.pop(name, None)
        if status in ("failed", "red"):
            self._failing[name] = "\n".join(said)[-_LONGEST_FAILURE:]

    def _last(self) -> _OpenTurn:
        return self._turns[next(reversed(self._turns))] if self._turns else self._of("")


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
