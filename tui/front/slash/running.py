"""Runs a command that was typed in place of a prompt: on hunks, on prompts and the session, on the window,
and the commands that run something.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from session.base.events import HunkRefused, SessionNamed
from tui.front.slash.table import slashes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from session.base.events import HunkUndone
    from session.session import Session


class SlashError(Exception):
    """A command failed; the message says why."""


async def run_command(session: Session, name: str, argument: str) -> str:
    """Run a command and return what to tell the user, one line or several; empty where events tell it.

    Raises SlashError for a command that is unknown, lacks its argument or fails.
    """
    from session.assist.surgery import SurgeryError
    from session.base.storage.private_files import StoreError
    from session.checks.shell import ShellError
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


def check_own(session: Session, name: str) -> None:
    """Raise SlashError for a command that is not for a process that only follows the session."""
    if session.standing.owner and any(slash.own for slash in slashes() if slash.name == name):
        raise SlashError(
            f"{session.standing.owner} has this session: /takeover brings it here, then /{name} works"
        )


async def _run(session: Session, name: str, argument: str) -> str:
    """Ask each kind of command in turn; one that does not have this command returns None."""
    for run in (_run_on_prompts, _run_on_hunks, _run_checking, _run_on_window):
        told = await run(session, name, argument)
        if told is not None:
            return told
    raise SlashError(_unknown(name))


def _unknown(name: str) -> str:
    """Why no kind of command has this one: it lacks its argument, or there is none of this name."""
    from session.base.text.wording import spelled_like

    known = {slash.name: slash for slash in slashes()}
    if name in known:
        argument = known[name].argument
        optional = argument.startswith("[") and argument.endswith("]")
        return f"/{name} takes {argument[1:-1]}" if optional else f"/{name} needs {argument}"
    like = spelled_like(name, known, 1)
    meant = f" Did you mean /{like[0]}?" if like else ""
    return f"Unknown command /{name}.{meant} /help lists all."


async def _run_checking(session: Session, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
    match name, argument:
        case "check", _:
            return await _check(session, argument)
        case "try", str() if argument:
            from session.commands.race_commands import run_try

            return await run_try(session.race, argument)
        case "fix", _:
            _fix(session, argument)
        case "run", "sandbox" | "ask" | "off":
            return _run_so(session, argument)
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


def _run_so(session: Session, argument: str) -> str:
    """Run the model's commands in another way."""
    from session.tools.settings import Running

    mode = Running.NEVER if argument == "off" else Running(argument)
    session.commands.choose(mode)
    return _RUNS[mode]


_RUNS = {
    "sandbox": "the model's commands run in a sandbox, unasked; what needs out of it asks",
    "ask": "each of the model's commands needs your OK",
    "never": "the model is offered no commands, from the next turn on",
}


async def _check(session: Session, argument: str) -> str | None:
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


def _fix(session: Session, remark: str) -> None:
    """Send what is red, or what failed, to the model, with what the user says of it."""
    if not (prompt := session.request_to_mend()):
        raise SlashError("No check is red, and no command has failed.")
    session.submit(f"{remark}\n\n{prompt}" if remark else prompt, typed=remark)


async def _run_on_window(session: Session, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
    match name, argument:
        case "context", "":
            from tui.front.words.window_lines import window_lines

            return window_lines(await session.context.explain(""))
        case "pin", "":
            return "pinned: " + (", ".join(session.context.pinned) or "nothing")
        case "pin", _:
            await session.context.pin(argument)
        case "unpin", str() if argument:
            await session.context.unpin(argument)
        case "drop", "":
            return "taken out: " + (", ".join(session.context.removed) or "nothing")
        case "drop", _:
            await session.context.remove(argument)
        case "restore", str() if argument:
            await session.context.restore(argument)
        case "index", "":
            return session.context.read_all()
        case "compact", "":
            return await session.compaction.compact()
        case "ledger", "":
            return await session.compaction.summary()
        case "remember", "":
            return session.compaction.remembered()
        case "remember", _:
            session.compaction.remember(argument)
        case "forget", str() if argument:
            session.compaction.forget(argument)
        case _:
            return None
    return ""


async def _run_on_prompts(session: Session, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
    match name, argument:
        case "after", str() if argument:
            session.after_hunk(argument)
        case "queue", str() if argument:
            session.queue(argument)
        case (("model" | "effort"), ""):
            return f"{session.models.model} · {session.models.effort}"
        case "model", _:
            return await session.models.choose_model(argument)
        case "effort", _:
            return session.models.choose(effort=argument)
        case "fast", "":
            return session.models.next_tier()
        case "fast", ("on" | "off" | "fast" | "ultrafast"):
            return session.models.choose(tier={"on": "fast", "off": ""}.get(argument, argument))
        case "takeover", "":
            if not session.standing.owner:
                raise SlashError("this process has the session already")
            session.standing.take_over()
        case "rename", str() if argument:
            return _rename(session, " ".join(argument.split()))
        case "usage", "":
            from tui.front.words.figures import report

            return await report(session.usage, session.models.prices)
        case (("theme" | "lean"), _):
            raise SlashError("Line mode uses the terminal's own colours.")
        case (("new" | "resume"), _):
            raise SlashError("Line mode has one session: spark line begins one, spark line -c goes on.")
        case _:
            return None
    return ""


def _rename(session: Session, title: str) -> str:
    session.publish(SessionNamed(title))
    return f"this session is called {title!r} in lists"


async def _run_on_hunks(session: Session, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
    match name, argument:
        case "undo", _:
            await session.hunks.undo(argument or None)
        case "redo", _:
            await session.hunks.redo(argument or None)
        case "undo-turn", _:
            return undone_line(await session.hunks.undo_turn())
        case "review", ("on" | "off"):
            session.review = argument == "on"
            return "every hunk is held until you agree" if session.review else "hunks land at once"
        case "diff", _:
            return (await session.hunks.diff(argument)).text
        case "drop", str() if (cut := session.surgery.parsed(argument)) is not None:
            return await session.surgery.drop(cut)
        case "amend", str() if argument and (cut := session.surgery.parsed(argument, amended=True)):
            return await session.surgery.drop(cut)
        case "lock", "":
            return "locked: " + (", ".join(await session.locks.shown()) or "nothing")
        case "lock", _:
            return await session.locks.lock(argument)
        case "unlock", str() if argument:
            return await session.locks.unlock(argument)
        case _:
            return None
    return ""


def undone_line(results: Sequence[HunkUndone | HunkRefused]) -> str:
    """All that was undone at once, in a line; what could not be undone is told with its reason."""
    if not results:
        return "no turn of this session has a landed hunk"
    refused = [each for each in results if isinstance(each, HunkRefused)]
    undone = [each for each in results if not isinstance(each, HunkRefused)]
    files = len({each.place for each in undone})
    where = undone[0].place if files == 1 else f"{files} files"
    told = [f"Undone in {where}: {', '.join(each.hunk for each in reversed(undone))}"] if undone else []
    told += [f"{each.hunk} stays: {each.message}" for each in refused]
    return "; ".join(told)
