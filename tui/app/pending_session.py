"""A session on its way: what of it the first frame shows, and the thread that makes it behind that frame.

What a session is made of takes longer to import than the screen does. So the screen is painted first,
from the few facts that can be had at once, and takes keys while the rest is loaded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from session.project.prompts import Draft, PromptHistory

if TYPE_CHECKING:
    from session.setup.opening import Opening
    from tui.port import SessionPort


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What the first frame shows of a session."""

    root: str
    provider: str
    model: str
    effort: str
    fast: bool
    prompts: tuple[str, ...]
    draft: str


def look_at(opening: Opening) -> FirstLook:
    """The first look at a session that ``opening`` will make. Raises StoreError for a draft or for earlier
    prompts that cannot be read: before there is a screen, that is said in a line."""
    settings, state = opening.settings, opening.workspace.folders.state
    provider = opening.catalogue.provider(settings.provider)
    return FirstLook(
        root=str(opening.workspace.root),
        provider=settings.provider,
        model=opening.model.name,
        effort=settings.effort,
        fast=settings.fast and provider.has_fast(opening.model.name),
        prompts=tuple(PromptHistory(state).read()),
        draft=Draft(state).read(),
    )


def look_of(session: SessionPort) -> FirstLook:
    """The first look at a session that is there. Raises StoreError as :func:`look_at` does."""
    return FirstLook(
        root=str(session.root),
        provider=session.provider,
        model=session.models.model,
        effort=session.models.effort,
        fast=session.models.fast,
        prompts=tuple(session.prompts()),
        draft=session.draft(),
    )


@dataclass(frozen=True, slots=True)
class Coming:
    """A session that ``make`` makes, in a thread, once it is asked for."""

    look: FirstLook
    make: Callable[[], SessionPort]

    async def made(self) -> SessionPort:
        """Make it. Raises what ``make`` raises."""
        return await asyncio.to_thread(self._make)

    def _make(self) -> SessionPort:
        session = self.make()
        # What shows it comes with it: the loop would stand still for these imports.
        import tui.app.desk
        import tui.app.feed
        import tui.overlays.context_panel
        import tui.overlays.offer_screen  # noqa: F401

        return session
