"""``spark doctor``: what is wrong with the setup, the link and the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from tui.commands.options import json_option, model_options
from tui.printing import say, say_json


@click.command("doctor")
@json_option
@model_options
def command(as_json: bool, folder: Path, **given: Any) -> None:
    """Look at the setup, the link (one short request is sent) and the terminal, step by step."""
    import asyncio
    from dataclasses import asdict

    from session.doctor.diagnosis import examine_keys, examine_machine, examine_setup, examine_terminal
    from session.doctor.finding import Finding
    from session.doctor.link_steps import examine_link
    from session.setup.config import Flags
    from session.text.sanitize import clean_line
    from tui.exits import DONE, FAILED

    ill = False

    def tell(finding: Finding) -> None:
        nonlocal ill
        ill = ill or finding.well is False
        if as_json:
            say_json(asdict(finding))
            return
        sign = {True: "ok", False: "!!", None: "--"}[finding.well]
        took = f"  {finding.milliseconds:,.1f} ms" if finding.milliseconds is not None else ""
        say(f"{sign}  {finding.step:<12} {clean_line(finding.found)}{took}")

    async def look() -> None:
        findings, opening = examine_setup(folder, Flags(**given), os.environ)
        if opening is not None:
            keys, opening = await examine_keys(opening)
            findings += keys + await examine_machine(opening)
        for finding in [*findings, *examine_terminal(os.environ, sys.stdout.isatty())]:
            tell(finding)
        if opening is not None:
            async for finding in examine_link(opening):
                tell(finding)

    asyncio.run(look())
    raise SystemExit(FAILED if ill else DONE)
