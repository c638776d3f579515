"""Opens a session here, or follows it where another process has it."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from session.base.storage.line_files import StoreError
from session.record.journal.parts import SUFFIX
from session.record.sharing.claim import SOCKET, SessionTakenError, open_elsewhere
from session.record.sharing.host import Presence
from session.record.sharing.left_alone import forget_word, take_words
from session.session import Session
from session.setup.opening import Opening
from session.ways.followed_session import FollowedSession
from session.ways.following_link import Link, NobodyAnswersError

PATIENCE = 10.0
"""Seconds for which a process that is about to end may keep a session without answering."""
ANSWERS_WITHIN = 3.0
"""Seconds in which a process that has a session answers, unless it is stopped."""
_NAP = 0.05


def open_session(opening: Opening, resume: Path | None, *, join: bool) -> Session | FollowedSession:
    """The session of the journal ``resume``; without one, with ``join``, a session of this project that lost
    its screen and works on; else a new one.

    Blocks: call it in a thread. Raises StoreError.
    """
    if resume is not None:
        return _resumed(opening, resume)
    left = _left_alone(opening)
    if left is not None and join:
        return left
    session = Session(opening)
    if left is not None:
        left.leave()
        name = left.journal.stem
        session.notes += (f"session {name} goes on without a screen: spark resume {name} follows it",)
    session.notes += tuple(take_words(opening.workspace.folders.live))
    return session


def _resumed(opening: Opening, journal: Path) -> Session | FollowedSession:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            session = Session(opening, resume=journal)
            forget_word(opening.workspace.folders.live, journal.stem)
            return session
        except SessionTakenError as taken:
            try:
                return _join(opening, journal)
            except NobodyAnswersError as problem:
                if taken.holder.stopped or time.monotonic() > until:
                    who = f"session {taken.name} is open in {taken.holder}"
                    raise StoreError(f"{who}, which does not answer; {taken.holder.remedy}") from problem
        time.sleep(_NAP)


def _left_alone(opening: Opening) -> FollowedSession | None:
    """The newest session of the project that goes on without a screen."""
    folders = opening.workspace.folders
    for name in open_elsewhere(folders.live):
        with suppress(NobodyAnswersError, StoreError):
            link = Link(folders.live / f"{name}{SOCKET}", ANSWERS_WITHIN)
            if link.welcome.presence == Presence.NOBODY:
                return FollowedSession(opening, folders.sessions / f"{name}{SUFFIX}", link)
            link.leave()
    return None


def _join(opening: Opening, journal: Path) -> FollowedSession:
    live = opening.workspace.folders.live
    link = Link(live / f"{journal.stem}{SOCKET}", ANSWERS_WITHIN)
    try:
        return FollowedSession(opening, journal, link)
    except BaseException:  # whatever it was, nobody else could close the link
        link.leave()
        raise
