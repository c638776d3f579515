"""Commands on hunks: undo, review, surgery, and the locks that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from session.base.events import HunkRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from session.base.events import HunkUndone
    from tui.front.port import SessionPort


async def run_on_hunks(session: SessionPort, name: str, argument: str) -> str | None:
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


def refusal_line(hunk: str, path: str, message: str) -> str:
    """Why a command for a hunk did nothing, with the hunk and file that ``message`` does not name."""
    named = [each for each in (hunk, path) if each and each not in message]
    return f"{' '.join(named)}: {message}" if named else message
