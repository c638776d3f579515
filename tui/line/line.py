"""Line mode: a session without a full screen, with a prompt below and plain scrolling output above.

It works where the app cannot: dumb terminals, screen readers, serial lines. The prompt stays usable while an
answer streams: Enter redirects, Ctrl+C stops.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from time import monotonic

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout
from prompt_toolkit.shortcuts import CompleteStyle

from session.base.events import Event
from session.base.storage.error_log import log_faults_to
from session.base.storage.private_files import StoreError
from session.session import Session
from session.setup.opening import Opening
from tui.app.unattended import carry_on
from tui.front.event_loop import run
from tui.front.exits import CONFIGURATION, DONE, leave
from tui.front.slash.running import SlashError, run_command
from tui.front.slash.session_values import completer, prefetch_models
from tui.front.slash.table import slashes, split_slash
from tui.front.words.held_items import BARE_ANSWERS, Verdict
from tui.front.words.silence import telling_silence
from tui.line.answer import Answer, say_in_words
from tui.screen.terminal.signals import CommandSignals, StandardStreams

ESCAPE_SECONDS = 0.05
ASKED_SECONDS = 0.7
"""A line that is sent so soon after a question was begun before it."""

HELP_COLUMN = 23
"""Where the help of a command begins."""
HELP = """\
Enter sends, or redirects while an answer streams; Alt+Enter begins a new line; Tab completes
Esc or Ctrl+C stops the answer; Ctrl+D on an empty line quits"""


def run_line(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    """Run the session until the user leaves; returns the exit code."""
    if not sys.stdin.isatty():
        leave("line mode needs a terminal; without one use: spark exec PROMPT", CONFIGURATION)
    try:
        return run(_run(opening, prompt, resume))
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


async def _run(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    session = Session(opening, resume=resume)
    log_faults_to(opening.workspace.folders.error_log)
    events = session.listen()
    answer = Answer()
    keyboard = _Keyboard(sys.stdin)
    with keyboard.raw_mode(), patch_stdout():
        printing = asyncio.create_task(_print_all(session, events, answer))
        await session.open()
        paid = f" · {session.models.plan}" if session.models.plan else ""
        say_in_words(f"{session.models.model}{paid} in {session.root}\n/help for the keys")
        if prompt:
            session.submit(prompt)
        asking = asyncio.create_task(_ask(session, answer, keyboard))
        answer.on_taken = asking.cancel
        with CommandSignals(asking.cancel) as signals:
            try:
                await asyncio.wait({asking})
                if answer.taken_by and session.standing.goes_on and signals.code is None:
                    say_in_words(f"spark: its turn goes on in process {os.getpid()}")
                    minutes = opening.settings.unattended_minutes
                    why = f"process {answer.taken_by} takes this session over"
                    await carry_on(session, minutes * 60.0, why, StandardStreams())
            finally:
                await session.close()
                await printing
    if signals.code is None and not answer.taken_by:
        asking.result()
    return signals.code or DONE


class _Keyboard(Vt100Input):
    """Standard input that stays raw while a line is printed above the prompt, and between two prompts.

    Else a key that comes then would be the terminal's: Ctrl+C a signal, and Ctrl+D lost.
    """

    def cooked_mode(self) -> AbstractContextManager[None]:
        """See :class:`Vt100Input`."""
        return nullcontext()


async def _ask(session: Session, answer: Answer, keyboard: Vt100Input) -> None:
    history = InMemoryHistory(session.prompts.read())
    asking: PromptSession[str] = PromptSession(
        input=keyboard,
        history=history,
        key_bindings=_keys(session),
        completer=_Tab(session),
        complete_while_typing=False,
        complete_style=CompleteStyle.READLINE_LIKE,
    )
    asking.default_buffer.on_text_changed += lambda buffer: prefetch_models(session, buffer.text)
    # Treat Esc as a key at once, instead of waiting a second for the rest of a sequence.
    asking.app.ttimeoutlen = asking.app.timeoutlen = ESCAPE_SECONDS
    text = session.draft.read()
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
            session.draft.write(asking.default_buffer.text)
            raise
        if split_slash(text) == ("quit", ""):
            return
        if text.strip():
            await _run_command(session, answer, text.strip())
        text = ""


async def _run_command(session: Session, answer: Answer, text: str) -> None:
    command = split_slash(text)
    if command is None and await _answers(session, answer, text):
        return
    if command is None:
        session.submit(text)
        return
    name, argument = command
    if name == "help":
        say_in_words(HELP)
        indent = " " * HELP_COLUMN
        for slash in slashes():
            if len(slash.shown) < HELP_COLUMN:
                say_in_words(slash.help, f"{slash.shown:<{HELP_COLUMN}}", indent)
            else:
                say_in_words(slash.shown)
                say_in_words(slash.help, indent, indent)
    elif name == "trust":
        told = await _answer_trust(session, answer, argument)
        if told:
            say_in_words(told)
    elif name in ("land", "decline"):
        verdict: Verdict = "reject" if name == "decline" else "apply all" if argument == "all" else "apply"
        named = "" if verdict == "apply all" else argument
        if not _give(session, answer, verdict, named):
            say_in_words(f"{named} is not held" if named else "nothing is held")
    else:
        try:
            told = await run_command(session, name, argument)
        except SlashError as problem:
            told = str(problem)
        if told:
            say_in_words(told)


async def _answers(session: Session, answer: Answer, text: str) -> bool:
    """Take a line that is nothing but an answer for one, where something is asked; false where it is a
    prompt. It cannot answer what was asked only while it was typed."""
    verdict = BARE_ANSWERS.get(text.lower())
    if verdict is None:
        return False
    if answer.held.oldest is None:
        words = {"apply": "yes", "reject": "no", "later": "later"}
        if not session.trust.asked or verdict not in words:
            return False
        say_in_words(await _answer_trust(session, answer, words[verdict]))
    elif verdict == "later":
        say_in_words("y or n answers what needs your OK")
    elif monotonic() - answer.asked_at < ASKED_SECONDS:
        say_in_words("That was asked just now: answer again")
    else:
        _give(session, answer, verdict, "")
    return True


def _give(session: Session, answer: Answer, verdict: Verdict, named: str) -> bool:
    """Answer what is held; false where nothing is."""
    given = answer.held.answer(session, verdict, named)
    if given:
        answer.ask()
    return bool(given)


async def _answer_trust(session: Session, answer: Answer, argument: str) -> str:
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


def _stop(session: Session, typed: Buffer) -> None:
    """Stop the turn, and put the queued prompts back before what is ``typed``."""
    session.interrupt()
    if queued := session.unqueue():
        typed.text = "\n\n".join(filter(str.strip, [*queued, typed.text]))
        typed.cursor_position = len(typed.text)
        say_in_words("Queued messages are back in the prompt")


def _keys(session: Session) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape")
    def stop(event: KeyPressEvent) -> None:
        _stop(session, event.current_buffer)

    @keys.add("c-c")
    @keys.add("<sigint>")
    def stop_or_clear(event: KeyPressEvent) -> None:
        if session.running:
            _stop(session, event.current_buffer)
        else:
            get_app().exit(exception=KeyboardInterrupt)

    return keys


async def _print_all(session: Session, events: AsyncIterator[Event], answer: Answer) -> None:
    for past in session.past():
        answer.show(past)

    def tell(line: str) -> None:
        say_in_words(f"spark: {line}")

    async with telling_silence(tell, lambda: answer.held.oldest is not None) as heard:
        async for event in events:
            heard(event)
            answer.follow(session, event)
