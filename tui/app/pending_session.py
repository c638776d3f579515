"""A session that is made in a thread while the first frame is already on the screen.

Importing what a session is made of takes longer than importing the screen. So the screen is painted
first, from a few facts that are quick to read, and takes keys while the session is made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import events

from session.project.prompts import Draft, PromptHistory

if TYPE_CHECKING:
    from session.session import Session
    from session.setup.opening import Opening


@dataclass(frozen=True, slots=True)
class FirstFrame:
    """What the first frame shows of a session."""

    root: str
    provider: str
    model: str
    effort: str
    fast: bool
    prompts: tuple[str, ...]
    draft: str
    plan: str = ""
    """The words for a plan that pays; empty where a key does."""
    lean: str = "auto"
    """The setting of that name."""


def first_frame_of(opening: Opening, lean: str = "") -> FirstFrame:
    """The facts of a session that ``opening`` will make. ``lean`` is what the user chose in place of the
    setting of that name.

    Raises StoreError for a draft or earlier prompts that cannot be read, which is told in a line before
    there is a screen.
    """
    settings, state = opening.settings, opening.workspace.folders.state
    provider = opening.catalogue.provider(settings.provider)
    return FirstFrame(
        root=str(opening.workspace.root),
        provider=settings.provider,
        model=opening.model.name,
        effort=settings.effort,
        fast=settings.fast and provider.has_fast(opening.model.name),
        prompts=tuple(PromptHistory(state).read()),
        draft=Draft(state).read(),
        plan=provider.plan.using if provider.plan is not None else "",
        lean=lean or settings.lean,
    )


def first_frame_of_session(session: Session) -> FirstFrame:
    """The facts of a session that exists. Raises StoreError as :func:`first_frame_of` does."""
    return FirstFrame(
        root=str(session.root),
        provider=session.provider,
        model=session.models.model,
        effort=session.models.effort,
        fast=session.models.fast,
        prompts=tuple(session.prompts.read()),
        draft=session.draft.read(),
        plan=session.models.plan,
    )


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A session that does not exist yet: ``make`` makes it, in a thread."""

    first_frame: FirstFrame
    make: Callable[[], Session]


def needs_no_session(event: events.InputEvent) -> bool:
    """Whether ``event`` can be handled before the session is there: text for the composer can."""
    if isinstance(event, events.Key):
        return event.is_printable or event.key == "backspace"
    return isinstance(event, events.MouseMove)
