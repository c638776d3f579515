"""Runs a command that was typed in place of a prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.front.slash.errors import SlashError
from tui.front.slash.table import slashes

if TYPE_CHECKING:
    from tui.front.port import SessionPort


async def run_command(session: SessionPort, name: str, argument: str) -> str:
    """Run a command and return what to tell the user, one line or several; empty where events tell it.

    Raises SlashError for a command that is unknown, lacks its argument or fails.
    """
    from session.assist.surgery import SurgeryError
    from session.base.storage.line_files import StoreError
    from session.checks.debugging.shell import ShellError
    from session.commands.check_commands import CheckError
    from session.commands.compaction_commands import CompactionError
    from session.commands.diff_commands import DiffError
    from session.commands.race_commands import RaceError
    from session.project.locks import LockError
    from session.project.pins import PinError
    from session.setup.model_choice import ChoiceError

    check_own(session, name)
    try:
        return await _run(session, name, argument)
    except (
        CheckError,
        LockError,
        ChoiceError,
        CompactionError,
        DiffError,
        PinError,
        RaceError,
        ShellError,
        StoreError,
        SurgeryError,
    ) as problem:
        raise SlashError(str(problem)) from problem


def check_own(session: SessionPort, name: str) -> None:
    """Raise SlashError for a command that is not for a process that only follows the session."""
    if session.standing.owner and any(slash.own for slash in slashes() if slash.name == name):
        raise SlashError(
            f"{session.standing.owner} has this session: /takeover brings it here, then /{name} works"
        )


async def _run(session: SessionPort, name: str, argument: str) -> str:
    """Ask each kind of command in turn; one that does not have this command returns None."""
    from tui.front.slash.checking import run_checking
    from tui.front.slash.hunks import run_on_hunks
    from tui.front.slash.prompts import run_on_prompts
    from tui.front.slash.window import run_on_window

    for run in (run_on_prompts, run_on_hunks, run_checking, run_on_window):
        told = await run(session, name, argument)
        if told is not None:
            return told
    raise SlashError(_unknown(name))


def _unknown(name: str) -> str:
    """Why no kind of command has this one: it lacks its argument, or there is none of this name."""
    from session.base.text.near_names import spelled_like

    known = {slash.name: slash for slash in slashes()}
    if name in known:
        argument = known[name].argument
        optional = argument.startswith("[") and argument.endswith("]")
        return f"/{name} takes {argument[1:-1]}" if optional else f"/{name} needs {argument}"
    like = spelled_like(name, known, 1)
    meant = f" Did you mean /{like[0]}?" if like else ""
    return f"Unknown command /{name}.{meant} /help lists all."
