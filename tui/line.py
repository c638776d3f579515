"""The session without a full screen: prompt_toolkit below, plain scrolling output above.

Works where the app cannot: dumb terminals, screen readers, serial lines. The prompt stays usable
while an answer streams: Enter redirects, Ctrl+C stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.application import get_app
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.patch_stdout import patch_stdout

from session.events import (
    ConnectionChanged,
    Event,
    HunkRedone,
    HunkUndone,
    Notice,
    PromptQueued,
    TextDelta,
    TurnEnded,
    Usage,
)
from session.opening import Opening
from session.session import Session
from session.store import StoreError
from tui.exits import CONFIGURATION, DONE, leave
from tui.headless import hunk_line

HELP = """\
Enter sends, or redirects while an answer streams; Alt+Enter begins a new line
Esc or Ctrl+C stops the answer; Ctrl+D on an empty line quits
/undo [HUNK]   takes back one hunk, the last one without HUNK
/redo [HUNK]   lands it again
/queue TEXT    sends TEXT after the running answer
/help, /quit"""


def run_line(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    """Run the session until the user leaves; returns the exit code."""
    try:
        return asyncio.run(_run(opening, prompt, resume))
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


async def _run(opening: Opening, prompt: str | None, resume: Path | None) -> int:
    session = Session(opening, resume=resume)
    events = session.listen()
    with patch_stdout():
        printing = asyncio.create_task(_print_all(session, events))
        await session.open()
        try:
            print(f"{session.model} in {session.root} (/help for the keys)")
            if prompt:
                session.submit(prompt)
            await _ask(session)
        finally:
            await session.close()
            await printing
    return DONE


async def _ask(session: Session) -> None:
    asking: PromptSession[str] = PromptSession(
        history=_history(session), key_bindings=_keys(session), multiline=False, erase_when_done=False
    )
    text = session.draft()
    while True:
        try:
            text = await asking.prompt_async("> ", default=text)
        except KeyboardInterrupt:
            text = ""
            continue
        except EOFError:
            return
        if text.strip() in ("/quit", "/exit"):
            return
        if text.strip():
            await _obey(session, text.strip())
        text = ""


async def _obey(session: Session, text: str) -> None:
    word, _, rest = text.partition(" ")
    match word:
        case "/help":
            print(HELP)
        case "/undo":
            await session.undo(rest.strip() or None)
        case "/redo":
            await session.redo(rest.strip() or None)
        case "/queue" if rest.strip():
            session.queue(rest.strip())
        case _:
            session.submit(text)


def _history(session: Session) -> InMemoryHistory:
    return InMemoryHistory(session.prompts())


def _keys(session: Session) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape")
    def stop(event: KeyPressEvent) -> None:
        session.interrupt()

    @keys.add("c-c")
    def stop_or_clear(event: KeyPressEvent) -> None:
        if session.running:
            session.interrupt()
        else:
            get_app().exit(exception=KeyboardInterrupt)

    return keys


async def _print_all(session: Session, events: AsyncIterator[Event]) -> None:
    for event in session.past():
        _show(event)
    async for event in events:
        _show(event)


def _show(event: Event) -> None:
    match event:
        case TextDelta(text=text):
            print(text, end="", flush=True)
        case HunkUndone(hunk=hunk, path=path):
            print(f"{hunk} undone {path}")
        case HunkRedone(hunk=hunk, path=path):
            print(f"{hunk} landed again {path}")
        case Notice(text=text):
            print(f"spark: {text}")
        case PromptQueued(waiting=waiting):
            print(f"queued ({waiting} waiting)")
        case ConnectionChanged(state="failed", message=message) if message:
            print(f"spark: {message}")
        case Usage(input_tokens=given, cached_tokens=cached, output_tokens=made, estimated=estimated):
            about = "about " if estimated else ""
            print(f"\n[{about}{given:,} tokens in ({cached:,} cached), {made:,} out]")
        case TurnEnded(status=status, message=message):
            if status != "completed":
                print(f"\n{status}{': ' + message if message else ''}")
        case _ if (line := hunk_line(event)) is not None:
            print(f"\n{line}")
        case _:
            pass
