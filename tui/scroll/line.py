"""Line mode: a session without a full screen, with a prompt below and plain scrolling output above.

It works where the app cannot: dumb terminals, screen readers, serial lines. The prompt stays usable while an
answer streams: Enter redirects, Ctrl+C stops.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill, wrap

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from session.events import (
    ConnectionChanged,
    DialogueCompacted,
    Event,
    FileBroken,
    HunkRedone,
    HunkTyped,
    HunkUndone,
    LedgerProposed,
    LineForgotten,
    LineRemembered,
    ModelChosen,
    Notice,
    PromptQueued,
    TakeoverAsked,
    TextDelta,
    ToolOutput,
    TrustAnswered,
    TrustAsked,
    TurnEnded,
    TurnStarted,
)
from session.session import Session
from session.setup.opening import Opening
from session.storage.error_log import log_faults_to
from session.storage.line_files import StoreError
from session.text.sanitize import clean_line
from session.trust.project_trust import Candidate
from session.usage.totals import UsageFold
from tui.app.unattended import carry_on
from tui.exits import CONFIGURATION, DONE, leave
from tui.printing import say
from tui.scroll.headless import fate_line
from tui.terminal.command_signals import CommandSignals
from tui.terminal.lost_terminal import StandardStreams
from tui.words.check_lines import broken_line
from tui.words.compaction_lines import compaction_line, dialogue_line
from tui.words.completion import completer, prefetch_models
from tui.words.exact_text import exact_lines
from tui.words.figures import turn_said
from tui.words.held_items import HeldItem, HeldItems, Verdict
from tui.words.slash import SlashError, run_command, slashes, split_slash
from tui.words.trust_lines import trust_lines, trust_title
from tui.words.window_lines import context_line

ESCAPE_SECONDS = 0.05
MOST_SHOWN = 60
"""The most lines of a held hunk that are shown."""

HELP = """\
Enter sends, or redirects while an answer streams; Alt+Enter begins a new line; Tab completes
Esc or Ctrl+C stops the answer; Ctrl+D on an empty line quits"""


def run_line(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    """Run the session until the user leaves; returns the exit code."""
    try:
        return asyncio.run(_run(opening, prompt, resume))
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


async def _run(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    session = Session(opening, resume=resume)
    log_faults_to(opening.workspace.folders.error_log)
    events = session.listen()
    answer = _Answer()
    with patch_stdout():
        printing = asyncio.create_task(_print_all(session, events, answer))
        await session.open()
        say(f"{session.models.model} in {session.root}\n/help for the keys")
        if prompt:
            session.submit(prompt)
        asking = asyncio.create_task(_ask(session, answer))
        answer.on_taken = asking.cancel
        with CommandSignals(asking.cancel) as signals:
            try:
                await asyncio.wait({asking})
                if answer.taken_by and session.standing.goes_on and signals.code is None:
                    say(f"spark: its turn goes on in process {os.getpid()}")
                    minutes = opening.settings.unattended_minutes
                    why = f"process {answer.taken_by} takes this session over"
                    await carry_on(session, minutes * 60.0, why, StandardStreams())
            finally:
                await session.close()
                await printing
    if signals.code is None and not answer.taken_by:
        asking.result()
    return signals.code or DONE


async def _ask(session: Session, answer: _Answer) -> None:
    history = InMemoryHistory(session.prompts())
    asking: PromptSession[str] = PromptSession(
        history=history,
        key_bindings=_keys(session),
        completer=_Tab(session),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
    )
    asking.default_buffer.on_text_changed += lambda buffer: prefetch_models(session, buffer.text)
    # Treat Esc as a key at once, instead of waiting a second for the rest of a sequence.
    asking.app.ttimeoutlen = asking.app.timeoutlen = ESCAPE_SECONDS
    text = session.draft()
    while True:
        try:
            # Faults of background work are told as notices, without a pause for Enter.
            text = await asking.prompt_async("> ", default=text, set_exception_handler=False)
        except KeyboardInterrupt:
            text = ""
            continue
        except EOFError:
            return
        except asyncio.CancelledError:  # by a signal
            session.save_draft(asking.default_buffer.text)
            raise
        if split_slash(text) == ("quit", ""):
            return
        if text.strip():
            await _run_command(session, answer, text.strip())
        text = ""


async def _run_command(session: Session, answer: _Answer, text: str) -> None:
    command = split_slash(text)
    if command is None:
        session.submit(text)
        return
    name, argument = command
    if name == "help":
        say(HELP)
        width = get_terminal_size().columns - 1
        for slash in slashes():
            say(fill(f"{slash.shown:<22} {slash.help}", width, subsequent_indent=" " * 23))
    elif name == "trust":
        told = await _answer_trust(session, answer, argument)
        if told:
            say(told)
    elif name in ("land", "decline"):
        verdict: Verdict = "reject" if name == "decline" else "apply all" if argument == "all" else "apply"
        named = "" if verdict == "apply all" else argument
        if answer.held.answer(session, verdict, named):
            answer.ask()
        else:
            say(f"{named} is not held" if named else "nothing is held")
    else:
        try:
            told = await run_command(session, name, argument)
        except SlashError as problem:
            told = str(problem)
        if told:
            say(told)


async def _answer_trust(session: Session, answer: _Answer, argument: str) -> str:
    """Answer whether the project's files are used, or ask again; a line for the user, or nothing."""
    if argument in ("", "ask"):
        return await session.trust.ask_again()
    if argument == "later":
        session.trust.later()
        return "not used for now: /trust asks again"
    if argument not in ("yes", "no"):
        return "/trust needs yes, no or later"
    if not sys.stdin.isatty():
        return "nobody can be asked without a terminal: use spark trust"
    try:
        return await session.trust.answer(agreed=argument == "yes", seen=answer.trust_shown)
    except StoreError as problem:
        return str(problem)


class _Tab(Completer):
    """Completes the same words at Tab as the composer of the app."""

    def __init__(self, session: Session) -> None:
        self._complete = completer(session)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """See :class:`Completer`."""
        found = self._complete(document.current_line_before_cursor)
        if found is not None:
            yield from (Completion(text, -len(found.word)) for text in found.texts)


def _stop(session: Session) -> None:
    """Stop the turn, and drop the queued prompts."""
    session.interrupt()
    for text in session.unqueue():
        say(f"not sent any more: {text}")


def _keys(session: Session) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape")
    def stop(event: KeyPressEvent) -> None:
        _stop(session)

    @keys.add("c-c")
    def stop_or_clear(event: KeyPressEvent) -> None:
        if session.running:
            _stop(session)
        else:
            get_app().exit(exception=KeyboardInterrupt)

    return keys


async def _print_all(session: Session, events: AsyncIterator[Event], answer: _Answer) -> None:
    for past in session.past():
        answer.show(past)
    async for event in events:
        answer.follow(session, event)


class _Answer:
    """Prints events. The text of the answer is printed in whole lines, since the prompt is below it."""

    def __init__(self) -> None:
        self.held = HeldItems()
        self.trust_shown: tuple[Candidate, ...] = ()
        """The project's files that the user was shown and asked about."""
        self._asked: HeldItem | None = None
        """The held item that was asked about last."""
        self._partial = ""
        self._typed: dict[str, list[tuple[str, str]]] = {}
        """The lines of the turn's hunks, by hunk: pieces with their kinds."""
        self._in_code = False
        self.taken_by = 0
        """The process that asked for the session, or 0."""
        self.on_taken: Callable[[], object] = lambda: None
        """Called when another process asks for the session."""
        self._usage = UsageFold()
        self._started: TurnStarted | None = None

    def show(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            *lines, self._partial = (self._partial + event.text).split("\n")
            for line in lines:
                self._print(line)
            return
        if isinstance(event, HunkTyped):
            pieces = self._typed.setdefault(event.hunk, [])
            pieces.append((event.kind, event.text))
            return
        if isinstance(event, TurnEnded):
            self._typed.clear()
        elif isinstance(event, TurnStarted):
            self._started = event
        self._usage.take(event)
        told = _line(event)
        if told is not None:
            self._end_line()
            say(told)
        if isinstance(event, TurnEnded) and (usage := self._usage.turns.get(event.turn)) is not None:
            say(turn_said(usage, self._started))

    def follow(self, session: Session, event: Event) -> None:
        """Show an event of the running session, and ask about what it holds."""
        if isinstance(event, TakeoverAsked):
            self.taken_by = event.pid
            say(f"spark: process {event.pid} takes this session over")
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
            say(f"spark: {trust_title(candidates)} (spark trust asks)")
            return
        say("\n".join(trust_lines(candidates)))
        say(f"{trust_title(candidates)} (/trust yes, /trust no or /trust later)")

    def ask(self) -> None:
        """Ask about the oldest held item, unless that was done: one question at a time."""
        item = self.held.oldest
        if item == self._asked:
            return
        self._asked = item
        if item is None:
            return
        self._end_line()
        if item.is_call:
            say(f"{item.label} needs your OK (/land allows it, /decline does not):")
            say("\n".join(exact_lines(item.reason)))
            return
        self._show_hunk(self._typed.get(item.name, []))
        say(f"{item.label} needs your OK: {item.path}: {item.reason} (/land or /decline)")

    def _show_hunk(self, pieces: list[tuple[str, str]]) -> None:
        """Print the changes of a held hunk as a diff."""
        text = ""
        for kind, piece in pieces:
            for part in piece.splitlines(keepends=True):
                text += part if text and not text.endswith("\n") else kind + part
        lines = text.rstrip("\n").split("\n")
        say("\n".join(f"  {line}" for line in lines[:MOST_SHOWN]))
        if len(lines) > MOST_SHOWN:
            say(f"  … {len(lines) - MOST_SHOWN} more lines")

    def _end_line(self) -> None:
        if self._partial:
            self._print(self._partial)
            self._partial = ""

    def _print(self, line: str) -> None:
        if line.lstrip().startswith("```"):
            self._in_code = not self._in_code
        width = get_terminal_size().columns - 1
        if self._in_code or len(line) <= width:
            say(line)
            return
        indent = " " * (len(line) - len(line.lstrip()))
        for part in wrap(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ):
            say(part)


def _line(event: Event) -> str | None:
    """One line for an event, or None for the answer's text and for events that are not shown."""
    match event:
        case FileBroken(path=path, message=message, hunks=hunks):
            return broken_line(path, message, hunks)
        case HunkUndone(hunk=hunk, path=path):
            return f"{hunk} undone {path}"
        case HunkRedone(hunk=hunk, path=path):
            return f"{hunk} redone {path}"
        case ToolOutput(text=text):
            return text.rstrip("\n")
        case ModelChosen(model=model, effort=effort, fast=fast):
            return f"{model} · {effort}{' · fast' if fast else ''}"
        case Notice(text=text):
            return f"spark: {text}"
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
        case TurnEnded(status=status, message=message):
            return f"[{status}{': ' + message if message else ''}]"
        case _:
            return fate_line(event) or context_line(event)
