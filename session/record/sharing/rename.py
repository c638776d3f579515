"""Gives a session a title that no process has open."""

from __future__ import annotations

from session.base.events import SessionNamed
from session.base.storage.folders import ProjectFolders
from session.record.journal.journals import Journal
from session.record.sharing.claim import Claim


def rename_session(folders: ProjectFolders, name: str, title: str) -> None:
    """Write the title of the session ``name`` to its journal.

    Blocks. Raises SessionTakenError where a process has the session, StoreError where it cannot be written.
    """
    claim = Claim(folders.live, name)
    try:
        journal = Journal(folders.sessions, name)
        try:
            journal.write(SessionNamed(title))
        finally:
            journal.close()
    finally:
        claim.release()
