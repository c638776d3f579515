"""Commands on what the model is shown: pins, files taken out, the ledger of a long dialogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.front.port import SessionPort


async def run_on_window(session: SessionPort, name: str, argument: str) -> str | None:
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
