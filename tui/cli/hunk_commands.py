"""Commands on hunks: ``spark apply`` lands those of standard input as they stream in, ``spark diff`` prints
what they changed as a patch, ``spark undo`` and ``spark redo`` take one back and again, whichever command
landed it.
"""

from __future__ import annotations

import io
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn

import click

from tui.cli.options import folder_option, json_option, opening_workspace
from tui.front.exits import CONFIGURATION, DONE, FAILED, USAGE, leave
from tui.front.printing import say, say_patch, say_waiting

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


@click.command("apply")
@click.option(
    "--format",
    "edit_format",
    type=click.Choice(["auto", "v4a", "search-replace", "unified", "json", "whole"]),
    default="auto",
    show_default=True,
    help="The shape of the edits.",
)
@json_option
@click.option("--dry-run", is_flag=True, help="Place the edits, write nothing.")
@folder_option
def apply_command(edit_format: str, as_json: bool, dry_run: bool, folder: Path) -> None:
    """Land edits from standard input as they stream in, each as soon as it is complete."""
    began = time.monotonic()
    from session.base.events import ApplyEnded, HunkLanded, HunkRefused, Notice
    from session.base.storage.private_files import StoreError
    from session.commands.apply import NotTextError, apply_stream
    from tui.line.event_printers import fate_line, json_printer

    workspace = opening_workspace(folder)
    workspace.ledger.wait.tell = say_waiting
    show = json_printer(began)
    refused = found = False
    try:
        with interruptible(sys.stdin.fileno()) as stream:
            for event in apply_stream(workspace, stream, edit_format, dry_run=dry_run):
                refused = refused or isinstance(event, HunkRefused)
                found = found or isinstance(event, HunkLanded | HunkRefused)
                if as_json:
                    show(event)
                elif isinstance(event, ApplyEnded):
                    counts = f"{event.landed} landed, {event.refused} refused"
                    say(f"{counts}, {event.already_applied} already there")
                elif isinstance(event, Notice):
                    say(f"spark: {event.text}", err=True)
                elif (line := fate_line(event)) is not None:
                    say(line)
    except NotTextError as problem:
        leave(str(problem), FAILED)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    if not found:
        say("spark: there was no edit in standard input", err=True)
    raise SystemExit(FAILED if refused or not found else DONE)


class _Input(io.RawIOBase):
    """Waits for bytes and for signals: one just before a blocking read would be handled only after it."""

    def __init__(self, source: int, signalled: int) -> None:
        super().__init__()
        self._source, self._signalled = source, signalled

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Wait for bytes or for a signal, and run its handler."""
        while self._source not in select.select([self._source, self._signalled], [], [])[0]:
            os.read(self._signalled, 64)
        with memoryview(buffer).cast("B") as view:
            data = os.read(self._source, len(view))
            view[: len(data)] = data
        return len(data)


@contextmanager
def interruptible(source: int) -> Iterator[BinaryIO]:
    """The file descriptor ``source`` as a stream that Ctrl+C ends at once. Call it in the main thread."""
    signalled, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    try:
        yield io.BufferedReader(_Input(source, signalled))
    finally:
        signal.set_wakeup_fd(before)
        os.close(signalled)
        os.close(told)


@click.command("diff")
@click.argument("hunks", nargs=-1, metavar="[HUNK]...")
@click.option("--session", metavar="ID", help="The hunks of this session; without it, of the last one.")
@click.option("--turn", type=click.IntRange(1), metavar="N", help="Only those of its turn N.")
@click.option("--last", type=click.IntRange(1), metavar="N", help="The last N hunks that are landed.")
@click.option("--stat", is_flag=True, help="Count the lines of each file.")
@folder_option
def diff_command(
    hunks: tuple[str, ...], session: str | None, turn: int | None, last: int | None, stat: bool, folder: Path
) -> None:
    """Print what hunks changed, as a patch that git apply takes. Without HUNKs and options: what the last
    session changed. Hunks that were undone are left out."""
    from session.commands.diff_commands import DiffError, Which, diff

    if (hunks and (session or turn or last)) or (turn and last):
        raise click.UsageError("name hunks, or give one of --turn and --last, with or without --session")
    workspace = opening_workspace(folder)
    try:
        found = diff(workspace.ledger, Which(session, turn, last, hunks))
    except DiffError as problem:
        leave(str(problem), USAGE)
    for note in found.notes:
        say(f"spark: {note}", err=True)
    if stat:
        for line in found.stat:
            say(line)
    else:
        say_patch(found.patch)
    if not found.patch:
        say("spark: those hunks change nothing: they are undone, or took each other back", err=True)
    raise SystemExit(DONE)


@click.command("undo")
@click.argument("hunk", required=False)
@folder_option
def undo_command(hunk: str | None, folder: Path) -> None:
    """Undo HUNK (such as h12), or the last landed hunk, and leave all others as they are."""
    _take_back(folder, hunk, again=False)


@click.command("redo")
@click.argument("hunk", required=False)
@folder_option
def redo_command(hunk: str | None, folder: Path) -> None:
    """Redo HUNK (such as h12), or the hunk undone last."""
    _take_back(folder, hunk, again=True)


def _take_back(folder: Path, hunk: str | None, *, again: bool) -> NoReturn:
    """Undo ``hunk``, or redo it when ``again``; print the result and exit."""
    from session.base.events import HunkRefused
    from session.base.text.wording import line_range
    from session.commands.apply import redo_hunk, undo_hunk

    workspace = opening_workspace(folder)
    workspace.ledger.wait.tell = say_waiting
    event = (redo_hunk if again else undo_hunk)(workspace, hunk)
    if isinstance(event, HunkRefused):
        subject = " ".join(part for part in (event.hunk, event.path) if part)
        leave(f"{subject}: {event.message}" if subject else event.message, FAILED)
    place = line_range(event.start, event.end)
    say(f"{event.hunk} {'redone' if again else 'undone'} {event.place}{place}")
    raise SystemExit(DONE)
