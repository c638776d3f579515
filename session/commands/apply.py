"""Lands a stream of edits without a conversation: the engine of ``spark apply``."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, ParserEvent, Unread
from edits.hunk import Format, Landed, RefusalCode, Refused, Status
from edits.ledger.shared_lock import LockHeldError
from session.base.events import ApplyEnded, Event, HunkLanded, HunkOpened, HunkRedone, HunkRefused, HunkUndone
from session.base.text.sanitize import clean_line
from session.project.active_guards import locks_only
from session.project.locks import LockStore
from session.project.workspace import Workspace, settle_interrupted
from session.turn.hunk_life import landed_event, redone_event, refused_event, undone_event

CHUNK = 65_536
"""Most bytes of one read."""


class NotTextError(Exception):
    """The edits are not UTF-8 text; the message says at which byte, from 0."""


def apply_stream(
    workspace: Workspace,
    stream: BinaryIO,
    edit_format: str,
    *,
    dry_run: bool = False,
) -> Iterator[Event]:
    """Land the edits in ``stream`` (UTF-8) as they arrive. Yields their events, then ``ApplyEnded``.

    ``edit_format`` is a ``Format`` value or ``auto``. Raises NotTextError, after ``ApplyEnded``, if the
    stream is not UTF-8: what was complete before that byte has landed, and the rest is not read. Raises
    LockError, before anything is read, if the project's locks cannot be read.
    """
    locks = LockStore(workspace.root, workspace.folders.state, workspace.files).read()
    workspace.landing.protection = locks_only(locks)
    applying = _Applying(workspace, edit_format, dry_run)
    yield from settle_interrupted(workspace.ledger)
    text = _Utf8(stream)
    for piece in text:
        yield from applying.take(applying.parser.feed(piece))
    yield from applying.take(applying.parser.close(clean=text.problem is None, unsure=True))
    yield applying.ended()
    if text.problem is not None:
        raise text.problem


def _read_some(stream: BinaryIO) -> bytes:
    """The bytes that have arrived, so that a hunk lands while its pipe is still open."""
    read1 = getattr(stream, "read1", stream.read)
    data: bytes = read1(CHUNK)
    return data


class _Utf8:
    """Reads a byte stream as text, up to its end or to the first byte that is not UTF-8.

    ``problem`` then says which byte that is.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self.problem: NotTextError | None = None
        self._stream = stream
        self._read = 0

    def __iter__(self) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")()
        chunk = b"first"
        while chunk:
            chunk = _read_some(self._stream)
            self._read += len(chunk)
            try:
                yield decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as bad:
                place = self._read - len(bad.object) + bad.start
                self.problem = NotTextError(f"standard input is not UTF-8 at byte {place}: {bad.reason}")
                yield bad.object[: bad.start].decode("utf-8")
                return


class _Applying:
    def __init__(self, workspace: Workspace, edit_format: str, dry_run: bool) -> None:
        self.parser = AutoParser(None if edit_format == "auto" else Format(edit_format))
        self._workspace = workspace
        self._dry_run = dry_run
        self._names: dict[int, str] = {}
        self._counts = {"landed": 0, "refused": 0, "already": 0}

    def take(self, events: list[ParserEvent]) -> Iterator[Event]:
        for event in events:
            match event:
                case Opened(number=number, path=path, action=action):
                    yield HunkOpened(
                        turn="", hunk=self._name(number), path=clean_line(path), action=action.value
                    )
                case Completed(number=number, hunk=hunk):
                    name = self._name(number)
                    result = self._workspace.landing.land(hunk, hunk_id=name, dry_run=self._dry_run)
                    yield self._told(result)
                case Broken(number=number, path=path, code=code, message=message):
                    yield self._told(Refused(self._name(number), path, code, message))
                case Unread(number=number, message=message):
                    yield self._told(Refused(self._name(number), "", RefusalCode.MALFORMED, message))
                case _:
                    pass

    def ended(self) -> ApplyEnded:
        counts = self._counts
        return ApplyEnded(
            landed=counts["landed"], refused=counts["refused"], already_applied=counts["already"]
        )

    def _name(self, number: int) -> str:
        if number not in self._names:
            self._names[number] = f"dry{number}" if self._dry_run else self._workspace.ledger.next_id()
        return self._names[number]

    def _told(self, result: Landed | Refused) -> HunkLanded | HunkRefused:
        if isinstance(result, Refused):
            self._counts["refused"] += 1
        else:
            self._counts["already" if result.status is Status.ALREADY_APPLIED else "landed"] += 1
        return landed_event(result, "")


def undo_hunk(workspace: Workspace, hunk: str | None) -> HunkUndone | HunkRefused:
    """Undo ``hunk``, or the hunk that landed last if it is None. Needs no session."""
    result = _settled(workspace, hunk) or workspace.landing.undo(hunk)
    if isinstance(result, Refused):
        return refused_event(result, "")
    return undone_event(result)


def redo_hunk(workspace: Workspace, hunk: str | None) -> HunkRedone | HunkRefused:
    """Land ``hunk`` again, or the hunk that was undone last if it is None. Needs no session."""
    result = _settled(workspace, hunk) or workspace.landing.redo(hunk)
    if isinstance(result, Refused):
        return refused_event(result, "")
    return redone_event(result)


def _settled(workspace: Workspace, hunk: str | None) -> Refused | None:
    """Settle what dead processes left open; a refusal where another process keeps the ledger."""
    try:
        workspace.ledger.recover()
    except LockHeldError as held:
        return Refused(hunk or "", "", held.code, held.message)
    return None
