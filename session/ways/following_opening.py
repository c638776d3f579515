"""Opens a session here, or follows it where another process has it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from edits.ledger.ledger import HunkRecord
from session.base.storage.private_files import StoreError
from session.record.journal.parts import SUFFIX
from session.record.sharing.claim import SOCKET, SessionTakenError, take_dead
from session.record.sharing.elsewhere import Elsewhere
from session.record.sharing.host import Presence
from session.record.sharing.unattended import forget_word, killed_word, take_words
from session.session import Session
from session.setup.opening import Opening
from session.ways.followed_session import FollowedSession
from session.ways.following_link import ANSWERS_WITHIN, Link, NobodyAnswersError, look_elsewhere

PATIENCE = 10.0
"""Seconds for which a process that is about to end may keep a session without answering."""
_NAP = 0.05


def open_session(opening: Opening, resume: Path | None, *, join: bool) -> Session:
    """The session of the journal ``resume``; without one, with ``join``, a session of this project that lost
    its screen and works on; else a new one.

    Blocks: call it in a thread. Raises StoreError.
    """
    if resume is not None:
        return _resumed(opening, resume)
    folders = opening.workspace.folders
    others = list(look_elsewhere(folders.live))
    if join and (left := _left_alone(opening, others)) is not None:
        return left
    died = take_dead(folders.live)
    session = Session(opening)
    session.elsewhere = tuple(others)
    session.notes += tuple(each.line for each in others)
    session.notes += tuple(_told_of_dead(opening, died))
    session.notes += tuple(take_words(folders.live))
    return session


def _told_of_dead(opening: Opening, names: Sequence[str]) -> Iterator[str]:
    """What is to be said of the sessions whose processes were ended by force."""
    workspace = opening.workspace
    for name in names:
        hunks = [each for each in workspace.ledger.hunks() if each.session == name]

        def landed(turn: str, hunks: Sequence[HunkRecord] = hunks) -> list[str]:
            return [each.id for each in hunks if each.turn == turn and each.state != "undone"]

        with suppress(StoreError):  # it is listed as damaged
            if word := killed_word(workspace.folders.sessions, name, landed):
                yield word


def _resumed(opening: Opening, journal: Path) -> Session:
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


def _left_alone(opening: Opening, others: Sequence[Elsewhere]) -> FollowedSession | None:
    """The newest session of the project that goes on without a screen."""
    for other in others:
        if other.presence == Presence.NOBODY:
            with suppress(NobodyAnswersError, StoreError):
                return _join(opening, opening.workspace.folders.sessions / f"{other.name}{SUFFIX}")
    return None


def _join(opening: Opening, journal: Path) -> FollowedSession:
    live = opening.workspace.folders.live
    link = Link(live / f"{journal.stem}{SOCKET}", ANSWERS_WITHIN)
    try:
        return FollowedSession(opening, journal, link)
    except BaseException:  # whatever it was, nobody else could close the link
        link.leave()
        raise
