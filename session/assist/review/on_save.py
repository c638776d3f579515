"""Reviews on save: what changed since the last review is reviewed when the user saves.

The checks that the user agreed to are started first, and the model is asked beside them. An answer comes
first: while a turn runs nothing is asked, and a review that a prompt finds running is given up and made again
afterwards. What is found is told event by event, and stays open until it is landed, dismissed or outdated.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import partial

from context.text.safe import harmless
from session.assist.review.change import NOT_SHOWN, Baselines, ReviewedChange, ReviewedFile
from session.assist.review.finding import ReviewFinding
from session.assist.review.open_findings import (
    MODEL,
    Dismissal,
    Dismissals,
    OpenFindings,
    content_of,
    hunk_of,
)
from session.assist.review.request import instructions
from session.assist.review.reviewer import LONGEST_ANSWER, NO_END, Asked, tokens_of
from session.assist.review.schedule import SaveChecks, Schedule, Signal
from session.assist.side_requests import NotNow, SideRequests
from session.base.events import (
    Event,
    FindingClosed,
    FindingReported,
    HunkRefused,
    Notice,
    PromptSubmitted,
    SaveReviewed,
    TurnEnded,
)
from session.base.storage.private_files import StoreError
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.commands.hunk_commands import HunkCommands
from session.record.journal.recorder import Recorder
from session.record.turn_cost import Tally
from session.record.usage import Kind

MOST_TOKENS = 20_000
"""What one review on save sends at most, about: nobody is asked before it."""
MOST_FINDINGS = 20
"""Findings of one review on save: more would not be read."""
_LOOKS, _LOOK_SECONDS = 200, 0.01
"""How often, and after how long, it is looked whether requests can go out."""
_MOST_KNOWN = 20
"""Known findings that the model is told of."""


class Mode(StrEnum):
    """What is looked for on save."""

    OFF = "off"
    ON = "on"
    SECURITY = "security"
    """Security holes alone."""


class SaveReview:
    """The reviews on save of one session. All methods are called on the event loop."""

    def __init__(
        self,
        mode: Mode,
        *,
        side: SideRequests,
        recorder: Recorder,
        tasks: BackgroundTasks,
        baselines: Baselines,
        dismissals: Dismissals,
        checks: SaveChecks,
        hunks: HunkCommands,
        allowed: Callable[[Collection[str]], Collection[str]],
        busy: bool,
    ) -> None:
        """``allowed`` gives those of some files that a model may see, in any thread; ``busy`` says whether a
        turn runs."""
        self.mode = mode
        self.findings = OpenFindings()
        self._side = side
        self._publish = recorder.publish
        self._tasks = tasks
        self._baselines = baselines
        self._dismissals = dismissals
        self._checks = checks
        self._hunks = hunks
        self._allowed = allowed
        self._schedule = Schedule(busy=busy)
        self._running: asyncio.Task[None] | None = None
        self._told = ""
        """What the user was told last."""
        recorder.subscribe(self.findings.take, FindingReported, FindingClosed)
        recorder.subscribe(self._take, PromptSubmitted, TurnEnded)

    def use(self, mode: Mode) -> None:
        """Review in another way from the next save on, or no more. What was changed while it was off is not
        reviewed."""
        if mode is Mode.OFF:
            self._signal(Signal.OFF)
            self._baselines.forget()
        self._baselines.look_for_others()
        self.mode = mode

    def landed(self, path: str, hunk: str) -> None:
        """A hunk changed a file."""
        if self.mode is not Mode.OFF:
            self._baselines.landed(path, hunk)

    def saved(self, path: str, before: tuple[str, ...]) -> None:
        """The user saved a file, whose lines were ``before``."""
        if self.mode is not Mode.OFF:
            self._baselines.saved(path, before)
            self._signal(Signal.SAVED)

    def saved_elsewhere(self, head: str, before: Mapping[str, tuple[str, ...]]) -> None:
        """Another program saved files, whose lines in the commit ``head`` are ``before``; perhaps none."""
        if self.mode is Mode.OFF:
            return
        self._baselines.based_on(head)
        for path, lines in before.items():
            self._baselines.saved(path, lines)
        if before:
            self._side.worked_elsewhere()
            self._signal(Signal.SAVED)

    async def changed_elsewhere(self, paths: Collection[str]) -> None:
        """Close the findings whose lines another program took away, as a checkout does."""
        noted = {path for path in paths if self.findings.of([path])}
        if noted:
            for path, lines in (await asyncio.to_thread(self._baselines.texts, noted)).items():
                for name in self.findings.gone(path, lines):
                    self._close(name, "outdated")

    async def land(self, name: str) -> str:
        """Land the fix of a finding. Returns why that is not possible, or nothing."""
        finding = self.findings.get(name)
        fix = hunk_of(finding) if finding is not None else None
        if finding is None or fix is None:
            return "this finding has no fix" if finding is not None else "this finding is not open any more"
        result = await self._hunks.land(fix)
        if isinstance(result, HunkRefused):
            return result.message
        self._close(name, "landed")
        return ""

    async def dismiss(self, name: str) -> None:
        """Close a finding, and show it no more as long as its lines say the same. Raises StoreError where
        that cannot be kept; then it is closed for this session."""
        finding = self.findings.get(name)
        if finding is None:
            return
        self._close(name, "dismissed")
        content = content_of(finding.lines)
        dismissal = Dismissal(finding.path, finding.kind, finding.message, content)
        await asyncio.to_thread(self._dismissals.add, dismissal)

    def _close(self, name: str, how: str) -> None:
        if self.findings.get(name) is not None:
            self._publish(FindingClosed(finding=name, how=how))

    def _take(self, event: Event) -> None:
        match event:
            case PromptSubmitted():
                self._signal(Signal.PROMPT)
            case TurnEnded():
                self._signal(Signal.TURN_OVER)
            case _:
                pass

    # The review.

    def _signal(self, signal: Signal) -> None:
        if signal in (Signal.PROMPT, Signal.OFF) and self._running is not None:
            self._running.cancel()
            self._running = None
        if self._schedule.begins(signal):
            work = self._review()
            self._running = self._tasks.start(work, "reviewing what was saved")

    async def _review(self) -> None:
        try:
            await self._review_once()
        except StoreError as problem:
            self._publish(Notice(level="warning", text=f"{problem}; nothing was reviewed"))
        except Exception:  # raised again: the next save is reviewed all the same
            self._signal(Signal.DONE)
            raise
        self._signal(Signal.DONE)

    async def _review_once(self) -> None:
        paths = self._baselines.taken()
        done = False
        try:
            for path, hunk in self._baselines.unknown(paths).items():
                self._baselines.was(path, await self._hunks.text_before(hunk))
            change = await asyncio.to_thread(self._read, paths)
            self._baselines.again(each.path for each in change.left_out if each.why == NOT_SHOWN)
            for name in self.findings.outdated(change):
                self._close(name, "outdated")
            change = await self._worth_asking(change)
            if change.files:
                done = await self._look_at(change)
            else:
                done = True
        finally:
            if not done:
                self._baselines.again(paths)

    def _read(self, paths: Collection[str]) -> ReviewedChange:
        """What changed in ``paths``. Other processes dismiss findings too, so these are read again."""
        self._dismissals.read()
        return self._baselines.change(paths, self._allowed(paths))

    async def _worth_asking(self, change: ReviewedChange) -> ReviewedChange:
        """``change`` without the files that are clean again, as after an undo, and without those that are too
        long to be sent unasked, which the user is told. Both count as reviewed, so that what is typed in them
        from now on is."""
        sizes = await asyncio.to_thread(lambda: [tokens_of([file]) for file in change.files])
        sent = 0
        kept: list[ReviewedFile] = []
        for file, tokens in zip(change.files, sizes, strict=True):
            clean = self._baselines.is_clean(file)
            if not clean and sent + tokens <= MOST_TOKENS:
                sent += tokens
                kept.append(file)
                continue
            self._baselines.reviewed(file, clean=clean)
            if not clean:
                path = clean_line(file.path)
                self._tell(f"{path} is not reviewed: it would take {tokens:,} tokens (spark review asks)")
        return ReviewedChange(tuple(kept), change.left_out)

    async def _look_at(self, change: ReviewedChange) -> bool:
        """Review ``change``; false where the model could not be asked about all of it."""
        checking = self._tasks.start(self._check(change), "running the checks of a review")
        reported: set[str] = set()
        asked = Asked(change, Tally("review"), known=self._known(change), most=MOST_FINDINGS)
        refusal = await self._refusal()
        try:
            if refusal is None:
                await self._ask(asked, change, reported)
            await asyncio.wait({checking})
        finally:
            checking.cancel()
        if refusal is None and asked.unclear:
            refusal = NotNow.FAILED if asked.unclear == NO_END else NotNow.UNCLEAR
        whole = refusal is None
        if whole:
            for name in self.findings.not_found_again(change, frozenset(reported)):
                self._close(name, "outdated")
            for file in change.files:
                self._baselines.reviewed(file, clean=not self.findings.of([file.path]))
        self._publish(
            SaveReviewed(
                files=len(change.files),
                findings=len(reported),
                unusable=len(asked.left_out),
                stopped=str(refusal or ""),
            )
        )
        self._tell(f"what you saved is not reviewed: {asked.unclear}" if refusal is NotNow.UNCLEAR else "")
        return whole

    def _tell(self, line: str) -> None:
        """Tell the user once, until there is something else to tell."""
        if line not in ("", self._told):
            self._publish(Notice(level="warning", text=line))
        self._told = line

    async def _refusal(self) -> NotNow | None:
        """Why the model cannot be asked. What is spent already may have to be read first."""
        for _ in range(_LOOKS):
            refusal = self._side.refusal(Kind.REVIEW)
            if refusal is not NotNow.STARTING:
                return refusal
            await asyncio.sleep(_LOOK_SECONDS)
        return NotNow.STARTING

    async def _ask(self, asked: Asked, change: ReviewedChange, reported: set[str]) -> None:
        wanted = instructions(security=self.mode is Mode.SECURITY)
        profile = self._side.model.profile(wanted, name="review", most=LONGEST_ANSWER)
        async with contextlib.aclosing(
            asked.findings(partial(self._side.ask, Kind.REVIEW), profile)
        ) as found:
            async for finding in found:
                if (name := self._report(finding, change, MODEL)) is not None:
                    reported.add(name)

    async def _check(self, change: ReviewedChange) -> None:
        async with contextlib.aclosing(self._checks.findings(change)) as findings:
            async for check, finding in findings:
                self._report(finding, change, check)

    def _report(self, found: ReviewFinding, change: ReviewedChange, by: str) -> str | None:
        """Tell of a finding, unless it is known. Returns the name of the open finding."""
        file = change.file(found.path)
        if file is None:
            return None
        event = self.findings.report(file, found, by)
        if self._dismissals.covers(event.path, event.kind, event.message, event.lines):
            return None
        known = self.findings.same(event)
        if known is None:
            self._publish(event)
        return (known or event).finding

    def _known(self, change: ReviewedChange) -> str:
        """What the model need not report again, since it was dismissed."""
        paths = {file.path for file in change.files}
        told = [(each.path, each.kind, each.message) for each in self._dismissals.known if each.path in paths]
        if not told:
            return ""
        lines = [f"- {path}: {kind}: {message}" for path, kind, message in told[-_MOST_KNOWN:]]
        return "The developer has dismissed these; do not report them again:\n" + harmless("\n".join(lines))
