"""Commands on what reaches the model from a project: ``spark context`` shows the window that a request would
be sent with, ``spark trust`` the files that may instruct the model, ``spark mcp`` the tools of MCP servers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tui.cli.options import asking_options, folder_option, json_option, opening, opening_workspace
from tui.front.exits import CONFIGURATION, DONE, FAILED, UNREACHABLE, leave
from tui.front.printing import back_to_start, say, say_again, say_json


@click.command("context")
@click.argument("request", required=False, default="")
@json_option
@click.option("--budget", type=click.IntRange(min=1), metavar="N", help="Tokens to stay within.")
@click.option("--pin", "pinned", multiple=True, metavar="TARGET", help="Pin a path, path:10-20, symbol …")
@click.option("--remove", "removed", multiple=True, metavar="TARGET", help="Take a path or pattern out.")
@asking_options
def context_command(
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
    from session.turn.window_report import left_out_files, reported_pieces
    from tui.front.words.window_lines import kinds_line, left_out_lines

    try:
        with _scan_progress() as told:
            preview = preview_window(opening(folder, **given), request, budget, pinned, removed, told)
    except PreviewError as problem:
        leave(str(problem), FAILED)
    for note in preview.notes:
        say(f"spark: {note}", err=True)
    if as_json:
        say_json(preview.record())
        return
    window = preview.window
    most = "" if preview.window_assumed else f" of {window.budget:,}"
    say(f"{window.tokens:,}{most} tokens for {preview.model}")
    say(f"{kinds_line(reported_pieces(window.pieces, earlier=False))}\n")
    for piece in window.pieces:
        say(f"{piece.tokens:>8,}  {piece.kind:<20} {clean_line(piece.path or '')}")
        say(f"{'':>10}{piece.why}")
    if window.left_out:
        say("\nleft out")
    for line in left_out_lines(left_out_files(window.left_out)):
        say(line)


@contextmanager
def _scan_progress() -> Iterator[Callable[[int, int], None] | None]:
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


@click.command("trust")
@click.option("--yes", is_flag=True, help="Agree without being asked.")
@click.option("--revoke", is_flag=True, help="Forget every answer given in this project.")
@click.option("--list", "listing", is_flag=True, help="List the projects in which something was agreed to.")
@click.option("--forget", metavar="RULE", help="Take back a rule by which commands run without a question.")
@folder_option
def trust_command(yes: bool, revoke: bool, listing: bool, forget: str | None, folder: Path) -> None:
    """Show what AGENTS.md and .spark.toml of this project say, and ask whether they are used.

    Commands that run without a question here are listed too.

    An answer holds for what the files say now: one that changes is asked about again. Exits with 1 where
    something is not used.
    """
    from session.base.storage.private_files import StoreError

    if yes + revoke + listing + (forget is not None) > 1:
        raise click.UsageError("--yes, --revoke, --list and --forget exclude each other")
    try:
        if forget is not None:
            _forget_rule(folder, forget)
        elif listing:
            _list_trusted()
        elif revoke:
            _revoke_trust(folder)
        else:
            _ask_about_files(folder, yes=yes)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


def _ask_about_files(folder: Path, *, yes: bool) -> None:
    from session.commands.trust_commands import trust_of
    from session.project.trust import Standing
    from session.tools.command.rules import KeptRules
    from tui.front.words.check_lines import trust_lines

    workspace = opening_workspace(folder)
    trust, found = trust_of(workspace)
    for rule in KeptRules(workspace.folders.state).read():
        say(f"`{rule} …` runs without a question (spark trust --forget '{rule}' takes it back)")
    if not found:
        say("this project has no AGENTS.md and no .spark.toml")
        return
    say("\n".join(trust_lines(found)))
    wanted = [each for each in found if each.standing is not Standing.TRUSTED]
    if not wanted:
        say("all of it is used, as it is now; spark trust --revoke takes that back")
        return
    if not yes and not sys.stdin.isatty():
        leave("nobody can be asked without a terminal; --yes agrees to what is shown", FAILED)
    agreed = yes or click.confirm("Use it, as long as it stays as it is?", default=False)
    trust.answer({each.path: each.digest for each in wanted}, agreed=agreed)
    say("used from now on" if agreed else "not used: the model sees it as data only")
    raise SystemExit(DONE if agreed else FAILED)


def _revoke_trust(folder: Path) -> None:
    from session.commands.trust_commands import trust_of
    from session.tools.command.rules import KeptRules

    workspace = opening_workspace(folder)
    trust, _ = trust_of(workspace)
    revoked = [trust.revoke(), KeptRules(workspace.folders.state).forget()]
    say("nothing of this project is used any more" if any(revoked) else "nothing was answered here")


def _forget_rule(folder: Path, text: str) -> None:
    from session.tools.command.rules import KeptRules, Rule

    kept = KeptRules(opening_workspace(folder).folders.state)
    if not kept.remove(Rule(tuple(text.removesuffix("…").split()))):
        rules = ", ".join(map(str, kept.read())) or "none"
        leave(f"there is no rule {text!r} in this project; there are: {rules}", FAILED)
    say(f"`{text}` needs your OK again")


def _list_trusted() -> None:
    from session.commands.trust_commands import trusted_projects

    trusted = list(trusted_projects())
    for root, answers in trusted:
        say(f"{root}: {', '.join(sorted(answers.agreed()))}")
    if not trusted:
        say("nothing was agreed to in any project", err=True)


@click.command("mcp")
@json_option
@folder_option
def mcp_command(as_json: bool, folder: Path) -> None:
    """Open the configured MCP servers and list their tools.

    Servers are tables [mcp.NAME] of config.toml; docs/configuration.md tells more. Leaves with 4 where one
    cannot be had.
    """
    import asyncio

    from session.tools.mcp.servers import ask_servers

    opened = opening(folder)
    servers = opened.settings.mcp
    if not servers:
        say("no MCP server is configured: add a table [mcp.NAME] to config.toml", err=True)
        return
    reports = asyncio.run(ask_servers(servers, opened.program_environ, opened.server_folders))
    for report in reports:
        if as_json:
            say_json(report.as_dict())
            continue
        say(f"{report.name}  {report.problem or f'{len(report.tools)} tools'}")
        for tool in report.tools:
            asks = "  (asks first)" if tool.asks else ""
            say(f"  {tool.name}{asks}  {tool.description}"[:110].rstrip())
        for line in report.left_out:
            say(f"  left out: {line}")
    if any(report.problem for report in reports):
        raise SystemExit(UNREACHABLE)
