"""Commands on prompts, the model and the session as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.front.slash.errors import SlashError

if TYPE_CHECKING:
    from tui.front.port import SessionPort


async def run_on_prompts(session: SessionPort, name: str, argument: str) -> str | None:
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
        case "fast", ("" | "on" | "off"):
            return session.models.choose(fast=not session.models.fast if not argument else argument == "on")
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


def _rename(session: SessionPort, title: str) -> str:
    from session.base.events import SessionNamed

    session.publish(SessionNamed(title))
    return f"this session is called {title!r} in lists"
