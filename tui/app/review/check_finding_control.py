"""What the keys for findings do: go to the next one, and send what is red to the model.

Signs beside the lines that checks judged, and the findings behind the red ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from session.base import events as said
from session.base.events import HunkChecked
from tui.editor.marks import Mark, Marks
from tui.editor.signs import Notes

if TYPE_CHECKING:
    from session.base import events as said
    from session.session import Session
    from tui.app.panes.layout import Layout, Panes
    from tui.editor.shown_file import ShownFile


SIGNS = {"green": "check_green", "red": "check_red", "pending": "check_pending"}
"""The names of the signs by verdict."""
_PLACED = re.compile(r"(?P<path>.+?):(?P<line>\d+): (?P<message>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A finding at a row of a file, from 0; ``hunk`` is the one that is blamed for it, if any is."""

    path: str
    row: int
    check: str
    message: str
    hunk: str = ""

    def __str__(self) -> str:
        blamed = f"{self.hunk} · " if self.hunk else ""
        return f"{blamed}{self.path}:{self.row + 1} · {self.check}: {self.message}"


FOLLOWED = (said.HunkChecked, said.HunkUndone, said.HunkRefused, said.CheckEnded)
"""The events that :meth:`FindingNotes.take` does something about."""


class FindingNotes:
    """Keeps the signs of checks up to date with the session's events. ``marks`` are the landed hunks."""

    def __init__(self, notes: Notes, marks: Marks) -> None:
        self._notes = notes
        self._marks = marks
        self._found: dict[str, Found] = {}
        """The findings by the source of their sign."""
        self._sources: dict[str, list[str]] = {}
        """The sources of signs by hunk, and by check of the project."""

    def take(self, event: said.Event) -> None:
        """Take one event in; a hunk's mark must be there before its verdict comes."""
        match event:
            case said.HunkChecked():
                self._judged(event)
            case said.HunkUndone(hunk=key) | said.HunkRefused(hunk=key):
                self._clear(key)
            case said.CheckEnded(check=check, status=status):
                self._clear(f"check {check}")
                for hunk in self._sources:
                    self._remove(_pending(hunk, check))
                for number, line in enumerate(event.findings if status == "red" else ()):
                    if placed := _PLACED.fullmatch(line):
                        row = max(0, int(placed["line"]) - 1)
                        found = Found(placed["path"], row, check, placed["message"])
                        self._put(f"check {check}", f"{check} {number}", found.path, row, "red", found)
            case _:
                pass

    def _judged(self, event: said.HunkChecked) -> None:
        """Put the signs of a verdict on a hunk in place of those of the last one by the same check."""
        source = f"{event.check} of {event.hunk}"
        for each in self._sources.get(event.hunk, ()):
            if each == source or each.startswith(f"{source}#"):
                self._remove(each)
        mark = self._marks.find(event.hunk)
        if mark is None or event.status not in SIGNS:
            return
        if event.status == "green":
            self._put(event.hunk, source, event.path, mark[1].start, "green")
        if event.status == "pending":
            at = _pending(event.hunk, event.check)
            self._put(event.hunk, at, event.path, mark[1].start, "pending")
        for number, (line, message) in enumerate(event.findings()):
            row = line - 1 if line else mark[1].start
            found = Found(event.path, row, event.check, message, event.hunk)
            self._put(event.hunk, f"{source}#{number}" if number else source, event.path, row, "red", found)

    def where_it_is(self, event: said.HunkChecked) -> said.HunkChecked:
        """A verdict of long ago, at its line if that is in the hunk as it is now, else at the hunk."""
        mark = self._marks.find(event.hunk)
        inside = mark is not None and mark[1].start < event.line <= mark[1].end
        return event if inside else replace(event, line=0, more=())

    def beside(self, path: str, row: int, step: int) -> Found | None:
        """The next (``step`` 1) or previous (-1) finding after ``row`` of ``path``, going round all files,
        where its line is now."""
        order = sorted(self._now(), key=lambda each: (each.path, each.row, each.check))
        if not order:
            return None
        if step > 0:
            later = [each for each in order if (each.path, each.row) > (path, row)]
            return later[0] if later else order[0]
        earlier = [each for each in order if (each.path, each.row) < (path, row)]
        return earlier[-1] if earlier else order[-1]

    def _now(self) -> list[Found]:
        """The findings whose lines are still there, at their rows now."""
        found = []
        for source, each in self._found.items():
            for row in self._notes.of(each.path, source):
                found.append(Found(each.path, row, each.check, each.message, each.hunk))
        return found

    def _put(
        self, key: str, source: str, path: str, row: int, verdict: str, found: Found | None = None
    ) -> None:
        self._notes.put(source, path, {row: SIGNS[verdict]})
        sources = self._sources.setdefault(key, [])
        if source not in sources:
            sources.append(source)
        if found is not None:
            self._found[source] = found

    def _clear(self, key: str) -> None:
        for source in self._sources.pop(key, ()):
            self._remove(source)

    def _remove(self, source: str) -> None:
        self._notes.clear(source)
        self._found.pop(source, None)


def _pending(hunk: str, check: str) -> str:
    """The source of the sign of a hunk that a check of the project has still to judge."""
    return f"{check} of {hunk}, pending"


class FindingControl:
    """Goes to findings, and sends them."""

    def __init__(self, panes: Panes, layout: Layout, session: Session, shown_file: ShownFile) -> None:
        self._panes = panes
        self._layout = layout
        self._session = session
        self._file = shown_file
        self.notes = FindingNotes(panes.editor.notes, shown_file.marks)

    def take(self, event: said.Event) -> None:
        """Follow the session: after the open file has what landed before."""
        if not isinstance(event, FOLLOWED):
            return

        async def take() -> None:
            self.notes.take(event)

        self._file.order.add(take)

    def resume(self, past: Iterable[said.Event]) -> None:
        """Show the verdicts of a resumed session that still stand, once its landed hunks are marked."""
        from session.checks.red import standing

        for event in standing(past):
            self.take(self.notes.where_it_is(event) if isinstance(event, HunkChecked) else event)

    def go(self, step: int) -> None:
        """Go to the next (1) or the previous (-1) finding, and say what it is."""
        self._panes.editor.call_later(self._go, step)

    async def _go(self, step: int) -> None:
        file = self._file
        found = self.notes.beside(file.path, self._panes.editor.cursor_location[0], step)
        if found is None:
            self._panes.status.say("no check has found anything; /check on judges hunks as they land")
        elif await file.go_to(found.path, Mark(found.hunk, found.row, found.row + 1)):
            self._layout.bring("editor")
            self._panes.status.say(str(found), "error")

    def fix(self) -> None:
        """Send what is red, or the last command's output, to the model, with the draft before it."""
        prompt = self._session.request_to_mend(failed=False)
        if not prompt:
            self._panes.status.say("nothing is red: no failure to send")
            return
        composer = self._panes.composer
        if draft := composer.draft.strip():
            composer.history_of_prompts.add(draft)
            composer.put("")
            prompt = f"{draft}\n\n{prompt}"
        self._session.submit(prompt, typed=draft)
