"""``spark apply``: lands edits from standard input as they stream in."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from tui.cli.options import folder_option, json_option, opening_workspace
from tui.front.printing import say, say_waiting


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
def command(edit_format: str, as_json: bool, dry_run: bool, folder: Path) -> None:
    """Land edits from standard input as they stream in, each as soon as it is complete."""
    began = time.monotonic()
    from session.base.events import ApplyEnded, HunkLanded, HunkRefused, Notice
    from session.base.storage.line_files import StoreError
    from session.commands.apply import NotTextError, apply_stream
    from tui.front.exits import CONFIGURATION, DONE, FAILED, leave
    from tui.line.event_printers import fate_line, json_printer
    from tui.screen.terminal.interruptible import interruptible

    workspace = opening_workspace(folder)
    workspace.ledger.wait.tell = say_waiting
    show = json_printer(began)
    refused = found = said = False

    def heard(text: str) -> None:
        nonlocal said
        said = said or bool(text.strip())

    try:
        with interruptible(sys.stdin.fileno()) as stream:
            for event in apply_stream(workspace, stream, edit_format, dry_run=dry_run, heard=heard):
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
    raise SystemExit(FAILED if refused or (said and not found) else DONE)
