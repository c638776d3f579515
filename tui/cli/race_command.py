"""``spark race``: the attempts of this project's last race."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from tui.cli.options import folder_option, json_option, opening_workspace
from tui.front.exits import CONFIGURATION, USAGE, leave
from tui.front.printing import say, say_json, say_line


@click.command("race")
@click.argument("attempt", required=False, type=click.IntRange(1, 64))
@json_option
@folder_option
def race_command(attempt: int | None, as_json: bool, folder: Path) -> None:
    """List the attempts of this project's last race with their verdicts, or print what ATTEMPT changes.

    They are kept until the next race. In a session, /try take N lands one.
    """
    from session.base.storage.private_files import StoreError
    from session.base.text.sanitize import clean, clean_line
    from session.race.kept_race import read_race

    try:
        race = read_race(opening_workspace(folder).folders.state)
    except StoreError as problem:
        leave(str(problem), CONFIGURATION)
    if race is None:
        say("there was no race yet in this project; spark exec --attempts N PROMPT begins one", err=True)
        return
    chosen = [each for each in race.attempts if attempt in (None, each.number)]
    if not chosen:
        leave(f"the last race has no attempt {attempt}; it has 1 to {len(race.attempts)}", USAGE)
    if not as_json:
        say_line(clean_line(race.prompt), err=True)
    for each in chosen:
        if as_json:
            say_json({"type": "attempt", "taken": each.number == race.taken, **asdict(each)})
            continue
        if attempt is not None:
            say(clean(each.diff), end="")
            continue
        landed = " · in the project" if each.number == race.taken else ""
        why = f" ({clean_line(each.why)})" if each.why else ""
        say(f"{each.number:>2}  {each.status}{why} · {each.lines} lines · {each.tokens:,} tokens{landed}")
        for verdict in each.verdicts:
            say(f"      {clean_line(verdict)}")
