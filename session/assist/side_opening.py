"""Makes the side requests of a session."""

from __future__ import annotations

from collections.abc import Callable

from session.assist.side_answer import SideAnswer
from session.assist.side_model import SideModel
from session.assist.side_requests import SideRequests
from session.base.tasks import BackgroundTasks
from session.record.journal.recorder import Recorder
from session.record.usage_log import UsageLog
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.turn.money import MoneyBudget
from session.wire.link.connection import Connection


def side_requests(
    opening: Opening,
    session: str,
    choice: ModelChoice,
    connection: Connection | None,
    recorder: Recorder,
    tasks: BackgroundTasks,
    money: MoneyBudget,
    *,
    busy: Callable[[], bool],
) -> SideRequests:
    """The side requests of the session called ``session``; ``connection`` is None where it asks no model."""
    workspace = opening.workspace
    return SideRequests(
        opening.settings.side,
        SideModel(opening, session, choice),
        connection,
        UsageLog(
            workspace.folders.usage,
            project=str(workspace.root),
            session=session,
            provider=opening.settings.provider,
        ),
        recorder,
        tasks,
        busy,
        money,
        SideAnswer(workspace.folders.shared_state),
    )
