"""Commands on hunks: undo, review, surgery, and the locks that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.port import SessionPort


async def run_on_hunks(session: SessionPort, name: str, argument: str) -> str | None:
    """What to tell the user, or None for any other command."""
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
