"""What line mode prints of a session: the answer as it comes, hunks as diffs, questions. Lines end between
words: the terminal itself would break them anywhere.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from shutil import get_terminal_size
from time import monotonic

from prompt_toolkit.utils import get_cwidth

from session.base.events import (
    ConnectionChanged,
    DialogueCompacted,
    Event,
    FileBroken,
    HunkLanded,
    HunkOpened,
    HunkRedone,
    HunkTyped,
    HunkUndone,
    LedgerProposed,
    LineForgotten,
    LineRemembered,
    ModelChosen,
    Notice,
    PromptQueued,
    ReadingHeld,
    TakeoverAsked,
    TextDelta,
    ToolCalled,
    ToolOutput,
    TrustAnswered,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)
from session.base.text.sanitize import clean_line
from session.project.trust import Candidate
from session.record.usage import UsageFold
from session.session import Session
from tui.front.printing import say
from tui.front.words.check_lines import BAR, broken_line, exact_lines, trust_lines, trust_title
from tui.front.words.figures import stopped_line, turn_said
from tui.front.words.held_items import HeldItem, HeldItems
from tui.front.words.window_lines import compaction_line, context_line, dialogue_line
from tui.line.event_printers import fate_line

CONTINUED = "↳"
"""Stands in the column of signs where a line of a diff goes on."""
_WORDS = re.compile(r"(\s*)(\S+)")
MOST_SHOWN = 60
"""The most lines of a hunk that are shown."""


def say_in_words(text: str, first: str = "", rest: str = "") -> None:
    """Print lines, broken between words: ``first`` stands before each, and ``rest`` where one goes on."""
    width = get_terminal_size().columns - 1
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        before = max(get_cwidth(f"{each}{indent}".expandtabs()) for each in (first, rest))
        lead, *further = in_rows(line.lstrip(), width - before)
        say("\n".join([f"{first}{indent}{lead}", *(f"{rest}{indent}{each}" for each in further)]))


def say_diff(lines: list[str]) -> None:
    """Print lines of a diff, each with its sign as the first character."""
    for line in lines:
        say_in_words(line[1:], f"  {line[:1]}", f"  {CONTINUED} ")


def in_rows(text: str, width: int) -> list[str]:
    """``text`` in rows of at most ``width`` cells, without the blanks that it was broken at. A word that is
    longer stays whole."""
    if get_cwidth(text) <= width:
        return [text]
    rows, row = [], ""
    for blank, word in _WORDS.findall(text):
        if row and get_cwidth(f"{row}{blank}{word}") > width:
            rows.append(row)
            row = word
        else:
            row += f"{blank}{word}"
    return [*rows, row]


class Answer:
    """Prints events. The text of the answer is printed in whole lines, since the prompt is below it."""

    def __init__(self) -> None:
        self.held = HeldItems()
        self.trust_shown: tuple[Candidate, ...] = ()
        """The project's files that the user was shown and asked about."""
        self._asked: HeldItem | None = None
        """The held item that was asked about last."""
        self._partial = ""
        self.asked_at = 0.0
        """When that was asked, on the monotonic clock."""
        self._typed: dict[str, list[tuple[str, str]]] = {}
        """The lines of the turn's hunks, by hunk: pieces with their kinds."""
        self._in_code = False
        self.taken_by = 0
        """The process that asked for the session, or 0."""
        self.on_taken: Callable[[], object] = lambda: None
        """Called when another process asks for the session."""
        self._usage = UsageFold()
        self._started: TurnStarted | None = None
        self._landed = 0
        """The hunks that landed in the turn."""
        self._called = False
        """Whether the turn called a tool, which may have changed files."""

    def show(self, event: Event) -> None:
        """Print what an event says."""
        if isinstance(event, TextDelta):
            *lines, self._partial = (self._partial + event.text).split("\n")
            for line in lines:
                self._print(line)
            return
        if isinstance(event, HunkTyped):
            pieces = self._typed.setdefault(event.hunk, [])
            pieces.append((event.kind, event.text))
            return
        if isinstance(event, HunkOpened):
            self._end_line()  # its last word is whole
        if isinstance(event, TurnStarted):
            self._started = event
            self._landed, self._called = 0, False
        self._called = self._called or isinstance(event, ToolCalled)
        self._usage.take(event)
        told = _line(event)
        if isinstance(event, TurnEnded):
            self._typed.clear()
            self._end_line()
            if event.status == "interrupted":
                told = stopped_line(self._landed, called=self._called)
        if told is not None:
            self._end_words()
            if isinstance(event, ToolOutput):
                say(told)
            else:
                say_in_words(told)
        if isinstance(event, HunkLanded):
            self._landed += 1
            self._show_hunk(self._typed.pop(event.hunk, []))
        if isinstance(event, TurnEnded) and (usage := self._usage.turns.get(event.turn)) is not None:
            say_in_words(turn_said(usage, self._started))

    def follow(self, session: Session, event: Event) -> None:
        """Show an event of the running session, and ask about what it holds."""
        if isinstance(event, TakeoverAsked):
            self.taken_by = event.pid
            say_in_words(f"spark: process {event.pid} takes this session over")
            self.on_taken()
        self.show(event)
        self.held.take(event)
        self.ask()
        if isinstance(event, TrustAsked):
            self._ask_trust(session.trust.asked)

    def _ask_trust(self, candidates: tuple[Candidate, ...]) -> None:
        """Show what the project's files say, whole, and how to answer."""
        self.trust_shown = candidates
        if not candidates:
            return
        self._end_line()
        if not sys.stdin.isatty():
            say_in_words(f"spark: {trust_title(candidates)} (spark trust asks)")
            return
        for line in trust_lines(candidates):
            bar = BAR if line.startswith(BAR) else ""
            say_in_words(line.removeprefix(bar), bar, bar)
        say_in_words(f"{trust_title(candidates)} (/trust yes, /trust no or /trust later)")

    def ask(self) -> None:
        """Ask about the oldest held item, unless that was done: one question at a time."""
        item = self.held.oldest
        if item == self._asked:
            return
        self._asked, self.asked_at = item, monotonic()
        if item is None:
            return
        self._end_line()
        if item.is_call:
            say_in_words(f"{item.label} needs your OK (y or /land allows it, n or /decline does not):")
            for line in item.why:
                say_in_words(line)
            say("\n".join(exact_lines(item.reason)))
            if item.label == "run":
                always = f", a allows {item.always} always in this project" if item.always else ""
                say_in_words(f"s allows it for this session{always}")
            return
        self._show_hunk(self._typed.get(item.name, []))
        say_in_words(f"{item.label} needs your OK: {item.path}: {item.reason} (y or /land, n or /decline)")

    def _show_hunk(self, pieces: list[tuple[str, str]]) -> None:
        """Print the changes of a hunk as a diff."""
        if not pieces:
            return
        text = ""
        for kind, piece in pieces:
            for part in piece.splitlines(keepends=True):
                text += part if text and not text.endswith("\n") else kind + part
        lines = text.rstrip("\n").split("\n")
        say_diff(lines[:MOST_SHOWN])
        if len(lines) > MOST_SHOWN:
            say(f"  … {len(lines) - MOST_SHOWN} more lines")

    def _end_words(self) -> None:
        """Print the words that are whole; the last one may go on."""
        whole, blank, rest = self._partial.rpartition(" ")
        if blank and whole.strip():
            self._print(whole)
            self._partial = rest

    def _end_line(self) -> None:
        if self._partial:
            self._print(self._partial)
            self._partial = ""

    def _print(self, line: str) -> None:
        if line.lstrip().startswith("```"):
            self._in_code = not self._in_code
        if self._in_code:
            say(line)
        else:
            say_in_words(line)


def _line(event: Event) -> str | None:
    """One line for an event, or None for the answer's text and for events that are not shown."""
    match event:
        case FileBroken(path=path, message=message, hunks=hunks):
            return broken_line(path, message, hunks)
        case HunkUndone(hunk=hunk, place=path):
            return f"{hunk} undone {path}"
        case HunkRedone(hunk=hunk, place=path):
            return f"{hunk} redone {path}"
        case ToolOutput(text=text):
            return text.rstrip("\n")
        case ModelChosen(model=model, effort=effort, fast=fast, plan=plan):
            return f"{model} · {effort}{' · fast' if fast else ''}{f' · {plan}' if plan else ''}"
        case Notice(text=text):
            return f"spark: {text}"
        case ReadingHeld(reason=reason) if reason:
            return f"spark: {reason}: it is not indexed; /index does that"
        case DialogueCompacted():
            dropped = "".join(f"\n  dropped: {clean_line(each)}" for each in event.dropped)
            return f"spark: {compaction_line(event)} (/ledger shows what is kept){dropped}"
        case LedgerProposed() | LineRemembered() | LineForgotten():
            return f"spark: {dialogue_line(event)}"
        case PromptQueued(waiting=waiting):
            return f"queued ({waiting} waiting)"
        case ConnectionChanged(state="failed" | "connecting", message=message) if message:
            return f"spark: {message}"
        case ConnectionChanged(state="waiting", message=message, seconds=seconds) if seconds is not None:
            return f"spark: {message} (again in {seconds:.0f} s)"
        case TrustAnswered(paths=paths, agreed=agreed):
            return f"spark: {', '.join(paths)}: {'used from now on' if agreed else 'not used'}"
        case TurnEnded(status="failed", message=message):
            return f"The turn failed: {message}" if message else "The turn failed"
        case TurnEnded(status=status):
            return f"[{status}]"
        case _:
            return fate_line(event) or context_line(event)
