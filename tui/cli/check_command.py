"""``spark check``: run the project's agreed checks in a sandbox."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import folder_option, json_option, opening, typed_checks
from tui.front.exits import CONFIGURATION, FAILED, USAGE, leave
from tui.front.printing import say, say_json

if TYPE_CHECKING:
    from session.checks.check import Check
    from session.checks.finding import Verdict
    from session.checks.known_checks import KnownChecks
    from session.setup.opening import Opening


NO_WALLS = """\
agreed for this project: where this machine has no walls, checks run as you do. What a model wrote can then
read your keys, write anywhere and reach the network. spark check --without-walls revoke takes it back"""


@click.command("check")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--list", "listing", is_flag=True, help="Show the checks and their commands; run nothing.")
@click.option("--agree", is_flag=True, help="Agree to the named checks for this project; run nothing.")
@click.option("--revoke", is_flag=True, help="Take the agreement to the named checks back.")
@click.option(
    "--without-walls",
    type=click.Choice(["agree", "revoke"]),
    help="Let checks of this project run where the machine cannot wall them off, or no longer; run nothing.",
)
@click.option("--check", "commands", multiple=True, metavar="COMMAND", help="Run COMMAND as a check, too.")
@json_option
@folder_option
def check_command(
    names: tuple[str, ...],
    listing: bool,
    agree: bool,
    revoke: bool,
    without_walls: str | None,
    commands: tuple[str, ...],
    as_json: bool,
    folder: Path,
) -> None:
    """Run the project's checks, or the named ones, in a sandbox, and print what they find.

    A check is a command of [[checks]] in config.toml, or one that the project's files propose. Each needs
    your agreement once in a project, by its exact text. What a check writes is thrown away. Leaves with 1
    where a check is not green.
    """
    from session.base.storage.private_files import StoreError
    from session.checks.known_checks import KnownChecks, UnknownCheckError

    if listing + agree + revoke > 1 or ((agree or revoke) and not names):
        leave("name the checks to agree to, as in: spark check --agree NAME", USAGE)
    opened = opening(folder)
    if without_walls:
        _agree_to_no_walls(opened, agreed=without_walls == "agree")
        return
    known = KnownChecks(opened.workspace.root, opened.workspace.folders.state, opened.settings.checks)
    try:
        chosen = known.named(names)
        if listing:
            _list(chosen, known)
        elif agree:
            known.agree(chosen)
            _tell_agreed(chosen)
        elif revoke:
            known.revoke(chosen)
        else:
            _run(
                [*_agreed(chosen, known, asked=bool(names), more=commands), *typed_checks(commands)],
                opened,
                as_json,
            )
    except UnknownCheckError as problem:
        leave(str(problem), USAGE)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)


def _agree_to_no_walls(opened: Opening, *, agreed: bool) -> None:
    from session.base.storage.private_files import StoreError
    from session.checks.known_checks import Agreements

    try:
        Agreements(opened.workspace.folders.state).agree_to_no_walls(agreed)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    say(NO_WALLS if agreed else "checks run only behind walls again", err=True)


def _list(checks: list[Check], known: KnownChecks) -> None:
    agreed = known.agreed()
    for check in checks:
        state = "agreed" if check in agreed else "not agreed"
        say(f"{check.name}  {check.kind}  {state}  {_shown(check)}  ({check.source})")
    if not checks:
        say("this project has no checks: add [[checks]] to config.toml", err=True)


def _tell_agreed(checks: list[Check]) -> None:
    for check in checks:
        say(f"agreed for this project: {_shown(check)}", err=True)


def _agreed(checks: list[Check], known: KnownChecks, *, asked: bool, more: tuple[str, ...]) -> list[Check]:
    """Those of ``checks`` that may run. Asks for the others where there is a terminal to ask on."""
    if more and not asked:
        return []
    agreed = known.agreed()
    missing = [check for check in checks if check not in agreed]
    if not asked and agreed:
        missing = []
    if missing and not (sys.stdin.isatty() and sys.stderr.isatty()):
        names = " ".join(check.name for check in missing)
        leave(f"not agreed to in this project; to allow it, run: spark check --agree {names}", CONFIGURATION)
    if not checks:
        leave("this project has no checks: add [[checks]] to config.toml, or use --check", CONFIGURATION)
    given = [check for check in missing if _ask(check)]
    known.agree(given)
    if not given and not agreed:
        leave("nothing was agreed to, so nothing was run", CONFIGURATION)
    return [check for check in checks if check in agreed or check in given]


def _ask(check: Check) -> bool:
    from tui.front.words.check_lines import exact_lines

    say(f"{check.name} ({check.source}) runs, in a sandbox of this project:", err=True)
    for line in exact_lines(check.command):
        say(f"    {line}", err=True)
    return click.confirm("Agree to this command for this project?", default=False, err=True)


def _run(checks: list[Check], opened: Opening, as_json: bool) -> None:
    import asyncio

    began = time.monotonic()
    verdicts = asyncio.run(_verdicts(checks, opened, as_json, began))
    if as_json:
        counts = {
            status: sum(each.status == status for each in verdicts) for status in ("green", "red", "unclear")
        }
        _print_json({"type": "checks.ended", **counts}, began)
    if any(verdict.status != "green" for verdict in verdicts):
        raise SystemExit(FAILED)


async def _verdicts(checks: list[Check], opened: Opening, as_json: bool, began: float) -> list[Verdict]:
    import asyncio
    import os

    from session.checks.known_checks import Agreements
    from session.checks.runner import CheckRunner
    from session.checks.sandbox.sandbox import Sandboxes

    root = opened.workspace.root
    agreements = Agreements(opened.workspace.folders.state)
    files = await asyncio.to_thread(opened.workspace.files)
    sandboxes = Sandboxes(root, os.environ, agreements.without_walls)
    runner = CheckRunner(root, sandboxes, opened.command_environ, lambda: files)
    verdicts = []
    for check in checks:
        verdicts.append(verdict := await runner.run(check))
        _print_json(_record(verdict), began) if as_json else _print(verdict)
    return verdicts


def _print(verdict: Verdict) -> None:
    """The findings on standard output, and how the check ended on standard error."""
    for finding in verdict.findings:
        say(str(finding))
    if verdict.last and not verdict.findings:
        say("\n".join(f"    {line}" for line in verdict.last.splitlines()), err=True)
    why = f" · {verdict.why}" if verdict.why else ""
    say(f"{verdict.status:<7} {verdict.check.name} · {verdict.seconds:.1f} s{why}", err=True)
    if verdict.note:
        say(f"        in {verdict.note}", err=True)


def _record(verdict: Verdict) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "type": "check.ended",
        "check": verdict.check.name,
        "status": str(verdict.status),
        "seconds": round(verdict.seconds, 3),
        "findings": [asdict(finding) for finding in verdict.findings],
        "why": verdict.why,
        "walls": verdict.walls,
        "note": verdict.note,
    }


def _print_json(record: dict[str, Any], began: float) -> None:
    say_json({**record, "t": round(time.monotonic() - began, 3)})


def _shown(check: Check) -> str:
    from tui.front.words.check_lines import exact_command

    return exact_command(check)
