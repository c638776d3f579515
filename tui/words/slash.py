"""Commands typed in place of a prompt, such as ``/undo h3``: the same in the app and in line mode."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.port import SessionPort

_ALSO = {"exit": "quit", "clear": "new", "sessions": "resume"}
"""Aliases of commands, as other programs name them."""
_WORD = re.compile(r"/([a-z][a-z-]*)(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Slash:
    """A command: its name, its argument and its help."""

    name: str
    argument: str
    help: str
    completes: str = ""
    """What Tab completes the argument to: ``files``, or a set that :func:`values` knows."""
    words: tuple[str, ...] = ()
    """Fixed words that the argument may also be."""
    own: bool = False
    """Whether it is for the process that has the session."""

    @property
    def shown(self) -> str:
        """The command as people write it."""
        return f"/{self.name} {self.argument}".rstrip()


@cache
def slashes() -> tuple[Slash, ...]:
    """All commands, in the order of the help."""
    table = tomllib.loads(Path(__file__).with_name("slash.toml").read_text("utf-8"))
    return tuple(
        Slash(
            row["name"],
            row["argument"],
            row["help"],
            row.get("completes", ""),
            tuple(row.get("words", ())),
            row.get("own", False),
        )
        for row in table["command"]
    )


def split_slash(text: str) -> tuple[str, str] | None:
    """Split a command into its name and its argument; None for a prompt. The command may be unknown.
    ``!COMMAND`` is short for ``/run COMMAND``. To send a prompt that looks like a command, begin it with a
    space."""
    if text.strip() == "/":
        return "help", ""
    if text.startswith("!"):
        return "run", text[1:].strip()
    found = _WORD.fullmatch(text.rstrip())
    return (_ALSO.get(found[1], found[1]), (found[2] or "").strip()) if found else None


def values(session: SessionPort, name: str) -> tuple[str, ...]:
    """The possible arguments of the command ``name``; empty where they are not a fixed set."""
    slash = next((each for each in slashes() if each.name == name), None)
    match slash.completes if slash is not None else "":
        case "models":
            known: Sequence[str] = session.models.served.names()
        case "efforts":
            known = session.models.efforts
        case "locks":
            known = session.locks.known
        case "pins":
            known = session.context.pinned
        case "removals":
            known = session.context.removed
        case "themes":
            from themes.loader import theme_names

            known = theme_names()
        case "landed":
            known = list(reversed(session.hunks.undoable.landed))
        case "undone":
            known = list(reversed(session.hunks.undoable.undone))
        case "remembered":
            known = [str(number) for number in session.compaction.lines]
        case _:
            known = ()
    return (*known, *(slash.words if slash is not None else ()))


def value_told(session: SessionPort, name: str, value: str) -> str:
    """A detail that tells ``value`` from the other arguments of the command ``name``; may be empty."""
    match name:
        case "model":
            return session.models.served.told(value)
        case "undo":
            return session.hunks.undoable.landed.get(value, "")
        case "redo":
            return session.hunks.undoable.undone.get(value, "")
        case "forget":
            return session.compaction.line(int(value)) if value.isdecimal() else ""
        case _:
            return ""


def hint(draft: str) -> str:
    """The usage and help of the command that ``draft`` begins, or the names it could become; empty where
    ``draft`` is no command."""
    if draft.startswith("!"):
        draft = "/run "
    name, space, _ = draft.partition(" ")
    if not name.startswith("/") or "/" in name[1:] or "\n" in draft:
        return ""
    fit = [slash for slash in slashes() if slash.name == name[1:]]
    if not fit and not space:
        fit = [slash for slash in slashes() if slash.name.startswith(name[1:])]
    if len(fit) == 1:
        return f"{fit[0].shown}: {fit[0].help}"
    return " ".join(f"/{slash.name}" for slash in fit)


async def run_command(session: SessionPort, name: str, argument: str) -> str:
    """Run a command and return what to tell the user, one line or several; empty where events tell it.

    Raises SlashError for a command that is unknown, lacks its argument or fails.
    """
    from session.commands.check_commands import CheckError
    from session.commands.compaction_commands import CompactionError
    from session.commands.diff_commands import DiffError
    from session.commands.race_commands import RaceError
    from session.debugging.shell import ShellError
    from session.model_choice.choice import ChoiceError
    from session.project.locks import LockError
    from session.project.pins import PinError
    from session.storage.line_files import StoreError
    from session.surgery.surgery import SurgeryError

    check_own(session, name)
    try:
        return await _run_command(session, name, argument)
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


class SlashError(Exception):
    """A command failed; the message says why."""


async def _run_command(session: SessionPort, name: str, argument: str) -> str:
    from session.commands.check_commands import NO_CHECKS
    from session.events import SessionNamed
    from session.text.near_names import spelled_like
    from tui.words.check_lines import exact_command, listed_checks
    from tui.words.figures import report
    from tui.words.window_lines import window_lines

    match name, argument:
        case "undo", _:
            await session.hunks.undo(argument or None)
        case "redo", _:
            await session.hunks.redo(argument or None)
        case "undo-turn", _:
            if not await session.hunks.undo_turn():
                return "no turn of this session has a landed hunk"
        case "review", ("on" | "off"):
            session.review = argument == "on"
            return "every hunk is held until you agree" if session.review else "hunks land at once"
        case "diff", _:
            return (await session.hunks.diff(argument)).text
        case "after", str() if argument:
            session.after_hunk(argument)
        case "takeover", "":
            if not session.standing.owner:
                raise SlashError("this process has the session already")
            session.standing.take_over()
        case "queue", str() if argument:
            session.queue(argument)
        case "lock", "":
            return "locked: " + (", ".join(await session.locks.shown()) or "nothing")
        case "lock", _:
            return await session.locks.lock(argument)
        case "unlock", str() if argument:
            return await session.locks.unlock(argument)
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
        case "check", "":
            return await session.checks.run()
        case "check", "list":
            return listed_checks(await session.checks.listed()) or NO_CHECKS
        case "check", _ if argument.startswith("agree "):
            check = await session.checks.agree(argument.removeprefix("agree ").strip())
            return f"agreed for this project: {exact_command(check)}"
        case "check", "on":
            return await session.checks.follow()
        case "check", "off":
            session.checks.stop_following()
            return "hunks are not judged any more"
        case "try", str() if argument:
            from session.commands.race_words import run_try

            return await run_try(session.race, argument)
        case "fix", _:
            from tui.words.check_lines import what_failed

            if not (prompt := what_failed(session)):
                raise SlashError("No check is red, and no command has failed.")
            session.submit(f"{argument}\n\n{prompt}" if argument else prompt)
        case "run", str() if argument:
            session.shell.run(argument)
        case "watch", "":
            return f"watched: {session.shell.watched or 'nothing'}"
        case "watch", "off":
            return "watched no more" if session.shell.unwatch() else "nothing was watched"
        case "watch", _:
            session.shell.watch(argument)
            return f"runs at every change: {argument}"
        case "context", "":
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
            if (cut := session.surgery.parsed(argument)) is not None:
                return await session.surgery.drop(cut)
            await session.context.remove(argument)
        case "amend", str() if argument:
            if (cut := session.surgery.parsed(argument, amended=True)) is not None:
                return await session.surgery.drop(cut)
        case "restore", str() if argument:
            await session.context.restore(argument)
        case (("model" | "effort"), ""):
            return f"{session.models.model} · {session.models.effort}"
        case "model", _:
            return await session.models.choose_model(argument)
        case "effort", _:
            return session.models.choose(effort=argument)
        case "fast", ("" | "on" | "off"):
            return session.models.choose(fast=not session.models.fast if not argument else argument == "on")
        case "theme", _:
            raise SlashError("Line mode uses the terminal's own colours.")
        case (("new" | "resume"), _):
            raise SlashError("Line mode has one session: spark line begins one, spark line -c goes on.")
        case "index", "":
            return session.context.read_all()
        case "rename", str() if argument:
            session.publish(SessionNamed(" ".join(argument.split())))
            return f"this session is called {' '.join(argument.split())!r} in lists"
        case "usage", "":
            return await report(session.usage, session.models.prices)
        case _:
            known = {slash.name: slash for slash in slashes()}
            if name in known:
                raise SlashError(f"/{name} needs {known[name].argument}")
            like = spelled_like(name, known, 1)
            meant = f" Did you mean /{like[0]}?" if like else ""
            raise SlashError(f"Unknown command /{name}.{meant} /help lists all.")
    return ""
