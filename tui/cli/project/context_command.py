"""``spark context``: the window that a request would be sent with."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tui.cli.options import asking_options, json_option, opening
from tui.front.printing import back_to_start, say, say_again, say_json


@click.command("context")
@click.argument("request", required=False, default="")
@json_option
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Tokens to stay within.")
@click.option("--pin", "pinned", multiple=True, metavar="TARGET", help="Pin a path, path:10-20, symbol …")
@click.option("--remove", "removed", multiple=True, metavar="TARGET", help="Take a path or pattern out.")
@asking_options
def command(
    request: str,
    as_json: bool,
    budget: int | None,
    pinned: tuple[str, ...],
    removed: tuple[str, ...],
    folder: Path,
    **given: Any,
) -> None:
    """Show the window that REQUEST would be sent with: its pieces, their tokens, and what was left out."""

    from session.base.text.sanitize import clean_line
    from session.commands.window_preview import PreviewError, preview_window
    from session.turn.memory.window_report import left_out_files, reported_pieces
    from tui.front.exits import FAILED, leave
    from tui.front.words.window_lines import kinds_line, left_out_lines

    try:
        with _progress() as told:
            preview = preview_window(opening(folder, **given), request, budget, pinned, removed, told)
    except PreviewError as problem:
        leave(str(problem), FAILED)
    for note in preview.notes:
        say(f"spark: {note}", err=True)
    if as_json:
        say_json(preview.record())
        return
    window = preview.window
    say(f"{window.tokens:,} of {window.budget:,} tokens for {preview.model}")
    say(f"{kinds_line(reported_pieces(window.pieces, earlier=False))}\n")
    for piece in window.pieces:
        say(f"{piece.tokens:>8,}  {piece.kind:<20} {clean_line(piece.path or '')}")
        say(f"{'':>10}{piece.why}")
    if window.left_out:
        say("\nleft out")
    for line in left_out_lines(left_out_files(window.left_out)):
        say(line)


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None] | None]:
    """On a terminal, show the progress of the scan in a line that is removed at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    longest = 0

    def told(known: int, total: int) -> None:
        nonlocal longest
        line = f"reading {known:,} of {total:,} files" if total else "listing the files"
        longest = max(longest, len(line))
        say_again(line, longest)

    try:
        yield told
    finally:
        if longest:
            say_again("", longest)
            back_to_start()
