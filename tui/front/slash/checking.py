"""Commands that run something: checks, races, the user's own commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.front.slash.errors import SlashError

if TYPE_CHECKING:
    from tui.front.port import SessionPort


async def run_checking(session: SessionPort, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
    match name, argument:
        case "check", _:
            return await _check(session, argument)
        case "try", str() if argument:
            from session.commands.race_words import run_try

            return await run_try(session.race, argument)
        case "fix", _:
            _fix(session, argument)
        case "run", str() if argument:
            session.shell.run(argument)
        case "watch", "":
            return f"watched: {session.shell.watched or 'nothing'}"
        case "watch", "off":
            return "no longer watched" if session.shell.unwatch() else "nothing was watched"
        case "watch", _:
            session.shell.watch(argument)
            return f"runs at every change: {argument}"
        case _:
            return None
    return ""


async def _check(session: SessionPort, argument: str) -> str | None:
    from session.commands.check_commands import NO_CHECKS
    from tui.front.words.check_lines import exact_command, listed_checks

    match argument.split(maxsplit=1):
        case []:
            return await session.checks.run()
        case ["list"]:
            return listed_checks(await session.checks.listed()) or NO_CHECKS
        case ["agree", agreed]:
            check = await session.checks.agree(agreed)
            return f"agreed for this project: {exact_command(check)}"
        case ["on"]:
            return await session.checks.follow()
        case ["off"]:
            session.checks.stop_following()
            return ""
        case _:
            return None


def _fix(session: SessionPort, remark: str) -> None:
    """Send what is red, or what failed, to the model, with what the user says of it."""
    from tui.front.words.check_lines import what_failed

    if not (prompt := what_failed(session)):
        raise SlashError("No check is red, and no command has failed.")
    session.submit(f"{remark}\n\n{prompt}" if remark else prompt, typed=remark)
