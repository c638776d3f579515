"""``spark trust``: what in a project may instruct the model, read and answered without a session."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tui.cli.options import folder_option, opening_workspace
from tui.front.exits import CONFIGURATION, DONE, FAILED, leave
from tui.front.printing import say


@click.command("trust")
@click.option("--yes", is_flag=True, help="Agree without being asked.")
@click.option("--revoke", is_flag=True, help="Forget every answer given in this project.")
@click.option("--list", "listing", is_flag=True, help="List the projects in which something was agreed to.")
@folder_option
def command(yes: bool, revoke: bool, listing: bool, folder: Path) -> None:
    """Show what AGENTS.md and .spark.toml of this project say, and ask whether they are used.

    An answer holds for what the files say now: one that changes is asked about again. Exits with 1 where
    something is not used.
    """
    from session.base.storage.line_files import StoreError

    if yes + revoke + listing > 1:
        raise click.UsageError("--yes, --revoke and --list exclude each other")
    try:
        if listing:
            _list()
        elif revoke:
            _revoke(folder)
        else:
            _ask(folder, yes=yes)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


def _ask(folder: Path, *, yes: bool) -> None:
    from session.project.trust_answers import Standing
    from session.project.trust_candidates import trust_of
    from tui.front.words.trust_lines import trust_lines

    trust, found = trust_of(opening_workspace(folder))
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


def _revoke(folder: Path) -> None:
    from session.project.trust_candidates import trust_of

    trust, _ = trust_of(opening_workspace(folder))
    say("nothing of this project is used any more" if trust.revoke() else "nothing was answered here")


def _list() -> None:
    from session.project.trust_candidates import trusted_projects

    trusted = list(trusted_projects())
    for root, answers in trusted:
        say(f"{root}: {', '.join(sorted(answers.agreed()))}")
    if not trusted:
        say("nothing was agreed to in any project", err=True)
