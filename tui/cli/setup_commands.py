"""Commands on the setup: ``spark doctor`` says what is wrong with it, the link and the terminal, ``spark
keys`` shows what the terminal sends for each key, and ``spark completion`` prints the shell's completion
script.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, json_option
from tui.front.exits import CONFIGURATION, DONE, FAILED, leave
from tui.front.printing import say, say_json, say_line

if TYPE_CHECKING:
    from session.setup.doctor_setup import Finding
    from session.setup.opening import Opening


@click.command("doctor")
@click.option(
    "--bundle",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show a report for others, without keys and content; then write it to FILE, if you agree.",
)
@click.option("--yes", is_flag=True, help="Write the report without asking.")
@json_option
@asking_options
def doctor_command(bundle: Path | None, yes: bool, as_json: bool, folder: Path, **given: Any) -> None:
    """Look at the setup, the link (one short request is sent) and the terminal, step by step."""
    import asyncio
    from dataclasses import asdict

    from session.base.text.sanitize import clean_line
    from session.setup.config import Flags
    from session.setup.doctor_link import examine_link
    from session.setup.doctor_setup import examine_keys, examine_machine, examine_setup, examine_terminal

    told: list[Finding] = []

    def tell(finding: Finding) -> None:
        told.append(finding)
        if as_json:
            say_json(asdict(finding))
            return
        sign = {True: "ok", False: "!!", None: "--"}[finding.well]
        took = f"  {finding.milliseconds:,.1f} ms" if finding.milliseconds is not None else ""
        say(f"{sign}  {finding.step:<12} {clean_line(finding.found)}{took}")

    async def look() -> None:
        findings, opening = examine_setup(folder, Flags(**given), os.environ)
        if opening is not None:
            findings += _examine_screen(opening)
            keys, opening = await examine_keys(opening)
            findings += keys + await examine_machine(opening)
        for finding in [*findings, *examine_terminal(os.environ, sys.stdout.isatty())]:
            tell(finding)
        if opening is not None:
            async for finding in examine_link(opening):
                tell(finding)

    asyncio.run(look())
    if bundle is not None:
        _write_bundle(bundle, told, folder, yes=yes)
    raise SystemExit(FAILED if any(finding.well is False for finding in told) else DONE)


def _examine_screen(opening: Opening) -> list[Finding]:
    """Whether the app can use the theme and the keys of the user's settings."""
    from session.setup.doctor_setup import Finding
    from themes.loader import ThemeError, load_theme
    from tui.front.keys.keymap import default_keymap
    from tui.front.keys.own_keys import KeymapError, own_keys
    from tui.screen.theme_choice import AUTO

    settings, found = opening.settings, list[Finding]()
    try:
        if settings.theme != AUTO:
            load_theme(settings.theme)
    except ThemeError as problem:
        found.append(Finding("theme", False, str(problem)))
    try:
        own_keys(default_keymap(), settings.keymap)
    except KeymapError as problem:
        file = opening.workspace.folders.config / "config.toml"
        found.append(Finding("keymap", False, f"{file}: {problem}"))
    return found


def _write_bundle(file: Path, findings: list[Finding], folder: Path, *, yes: bool) -> None:
    """Show the report, and write it where the user agrees. Exits with 1 where it is not written."""
    from session.base.storage.folders import project_folders
    from session.base.text.sanitize import clean
    from session.setup.doctor_bundle import bundle

    text = clean(bundle(findings, project_folders(folder), Path.home()))
    say()
    say(text)
    if not yes and not sys.stdin.isatty():
        leave("nobody can be asked without a terminal; --yes writes what is shown", FAILED)
    if not yes and not click.confirm(f"Write this to {file}?", default=False, err=True):
        leave("the report is not written", FAILED)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(text)
    except OSError as problem:
        leave(f"cannot write {file}: {problem.strerror}", FAILED)
    say_line(f"spark: the report is in {file}", err=True)


@click.command("keys")
def keys_command() -> None:
    """Show the bytes that the terminal sends for each key, and the key spark reads them as; Ctrl+C ends."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        leave("keys come from a terminal, and there is none here", CONFIGURATION)
    from tui.screen.terminal.keylog import log_keys

    log_keys()


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script for SHELL: eval "$(spark completion bash)" in your shell's start file."""
    from click.shell_completion import get_completion_class

    from tui.cli.main import spark

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(spark, {}, "spark", "_SPARK_COMPLETE").source())
