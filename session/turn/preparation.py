"""From a prompt to the items of its request: the window, the report the model is owed, the words.

Building costs milliseconds of CPU and some disk, so it runs in a thread; nothing else changes a
session's memory while it does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from context.disk.source import Source, is_instructions
from context.project.snapshot import ReadsProject
from context.text.safe import HIDDEN, safe_text
from context.text.secrets import is_secret_file
from context.text.tokens import Counter
from context.window.limits import (
    afresh_limit,
    fill_comfort,
    fill_limit,
    later_limit,
    map_limit,
    restart_limit,
)
from context.window.packing import REMOVED_THOUGH_NAMED
from context.window.pieces import Approved, BudgetTooSmall, Kind, Piece, Window, WindowRequest
from context.window.preamble import PASSED_OVER, UNREAD
from context.window.window import build
from edits.files.text import FileError
from edits.files.tree import Tree
from session.project.indexing import ProjectReading
from session.project.pins import Pins
from session.project.trust import ProjectTrust
from session.setup.model_choice import ModelChoice
from session.turn.compaction.compact import History, Room, history, room_in
from session.turn.money import least_cost
from session.turn.past_turns import PastTurns, RecentTopic, recent_topic
from session.turn.prepared import PreparedRequest
from session.turn.turn_memory import TurnMemory
from session.wire.input_items import report_messages
from session.wire.instructions import AGREED_HEAD, DATA_HEAD, REPORT_HEAD
from session.wire.protocol.items import user_message

_HEADINGS = 32
"""Tokens that the window's own headings over the instructions and the request may take."""
PATIENCE = 1.5
"""Seconds that the first prompt waits for the project to be read."""
_BRIEF_LIKELY = 1_500
"""Most tokens of files that nobody named for a model that reads a few tens of tokens a second."""
_IMAGES = (".avif", ".bmp", ".gif", ".heic", ".ico", ".jpeg", ".jpg", ".png", ".tiff", ".webp")
_OTHER_SUBJECT = 0.1
"""The share of a budget from which what a request about another subject lacks starts the window afresh."""
_SUBJECT_SHARE = 0.75
"""The share of the room left in a window that such a request may fill; the rest is for the turn's calls."""
_TOLD = 4
"""Most files that were named and not shown that are listed one by one."""


@dataclass(frozen=True, slots=True)
class Preparation:
    """Prepares turns for one project and one model. ``budget`` is in tokens, instructions included."""

    project: ReadsProject
    counter: Counter
    known: asyncio.Event
    """Set once the project has been read for the first time, but for a few files at most."""
    instructions: str
    tools: str
    """The tools' definitions as text: they take their share of the budget."""
    budget: int
    root: Path
    open_files: tuple[str, ...]
    pins: Pins
    approved: Approved = field(default_factory=Approved)
    """What of the project may instruct the model."""
    brief: bool = False
    """Whether the model is small or reads slowly: it is shown few files that nobody named."""
    mapped: bool = True
    """Whether it is shown the map of the project."""

    @property
    def instruction_tokens(self) -> int:
        """Tokens of what is sent with every request: the instructions and the tools."""
        return self.counter.count_kept(self.instructions) + self.counter.count_kept(self.tools)

    def count(self, text: str) -> int:
        """Tokens of ``text``; an upper bound until the ranks are loaded."""
        return self.counter.count(text)

    def file_text(self, path: str) -> str | None:
        """The text of a project's file as the model may be shown it, from disk; None where there is none."""
        source = None if is_secret_file(path) else self.project.snapshot.read(path)
        return safe_text(source.text).text if isinstance(source, Source) else None

    def within(self, project: ReadsProject) -> Preparation:
        """The same preparation for ``project``, which may have edits that are not written."""
        return replace(self, project=project)

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> PreparedRequest:
        """The items for ``prompt``, which ``memory`` knows of once they are committed.

        With a ``share`` below 1 the window is started afresh in that part of the budget: the server
        found the last one too long. Raises context.pieces.BudgetTooSmall when the words alone do not fit.
        """
        # A large project is still being read: the window is built from what is known, and says so.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.known.wait()
        await self.pins.settled()
        past = memory.past_turns.past()
        # The turn that is being prepared is the last of them, and stands in the window as the request.
        past = replace(past, turns=past.turns[:-1])
        return await asyncio.to_thread(self.prepare_now, prompt, memory, past, share)

    def prepare_now(
        self, prompt: str, memory: TurnMemory, past: PastTurns, share: float = 1.0
    ) -> PreparedRequest:
        """As :meth:`prepare`, in this thread and from what is known of the project; ``past`` is the
        dialogue before this prompt."""
        try:
            return self._prepared(prompt, memory, past, share)
        except BudgetTooSmall as problem:
            if self.counter.ready:
                # The tools and what else is sent with the window are part of what does not fit.
                own = int(self.budget * share)
                raise BudgetTooSmall(problem.needed + own - problem.budget, own) from problem
            # Counts were upper bounds until now; with exact ones the words may fit.
            self.counter.load()
            return self.prepare_now(prompt, memory, past, share)

    def _prepared(
        self,
        prompt: str,
        memory: TurnMemory,
        past: PastTurns,
        share: float,
        *,
        other_subject: bool = False,
    ) -> PreparedRequest:
        """The items for ``prompt``. One about an ``other_subject`` than what the window holds starts it
        afresh, and gets the room of a first one."""
        tree = Tree(self.root)
        files = {path: read_or_none(tree, path) for path in memory.edited_files.paths}
        reported, unsent, kept = len(memory.unreported), tuple(memory.unsent), tuple(memory.line_news)
        report = memory.report() + memory.edited_files.changes(files)
        extra = sum(self.count(text) for text in unsent)
        extra += self.count(REPORT_HEAD + report) if report else 0
        used = memory.conversation.tokens + extra + self.count(prompt)
        limit = restart_limit(self.budget, self.instruction_tokens)
        full = share < 1 or other_subject or (used > limit and bool(memory.conversation.items))
        fresh = full or not memory.conversation.items
        news = REPORT_HEAD + "".join(kept) if kept and not fresh else ""
        extra += self.count(news) if news else 0
        heads = self.count(DATA_HEAD) + (self.count(AGREED_HEAD) if self.approved.any else 0)
        budget = int(self.budget * share) - self.count(self.tools) - extra - heads
        dialogue = self._history(past, budget, prompt, full=full) if fresh else History((), 0)
        window = self._build(
            prompt,
            memory,
            budget,
            dialogue.pieces,
            past,
            extra + heads,
            fresh=fresh,
            first=not memory.conversation.items or other_subject,
        )
        if not fresh and window.unmet > _OTHER_SUBJECT * self.budget:
            return self._prepared(prompt, memory, past, share, other_subject=True)
        pieces = [piece for piece in window.pieces if piece.kind is not Kind.INSTRUCTIONS]
        words = (Kind.PROJECT_INSTRUCTIONS, Kind.REQUEST)
        agreed = _headed(AGREED_HEAD, (piece for piece in pieces if piece.kind is Kind.PROJECT_INSTRUCTIONS))
        data = _headed(DATA_HEAD, (piece for piece in pieces if piece.kind not in words))
        extra += sum(self.count(head) for head, text in ((AGREED_HEAD, agreed), (DATA_HEAD, data)) if text)
        items = [user_message(text) for text in (agreed, data) if text]
        items += report_messages(report)
        items += [user_message(text) for text in (news, *unsent) if text]
        items += [user_message(piece.text) for piece in pieces if piece.kind is Kind.REQUEST]
        return PreparedRequest(
            items=tuple(items),
            tokens=sum(piece.tokens for piece in pieces) + extra,
            window=window,
            notes=(
                *_notes(
                    full=full,
                    refused=share < 1,
                    compacted=dialogue.made is not None,
                    other_subject=other_subject,
                    past=bool(past.turns),
                ),
                *_named_but_not_shown(window),
                *_hidden(window, memory),
                *_unread_instructions(window, memory),
            ),
            compacted=dialogue.made,
            afresh=full,
            reported=reported,
            files=files,
            unsent=len(unsent),
            kept=len(kept),
        )

    def _history(self, past: PastTurns, budget: int, prompt: str, *, full: bool) -> History:
        """The dialogue for a window of ``budget`` tokens that starts afresh; what it takes is exact."""
        if past.turns and not self.counter.ready:
            # An upper bound would have words dropped that there is room for, and for good.
            self.counter.load()
        room = room_in(budget, self.count(self.instructions) + self.count(prompt) + _HEADINGS)
        return history(past, room, self.counter.count_kept, full=full)

    def _fill_limits(self) -> tuple[int, int]:
        """The tokens that a fresh window may fill, and those of them that need not surely matter."""
        standing = self.count(self.instructions), self.count(self.tools)
        return fill_limit(self.budget, *standing), fill_comfort(self.budget, *standing)

    def _likely_limit(self, budget: int, memory: TurnMemory, *, fresh: bool) -> int:
        """The tokens that parts of files that nobody named may take where they do not fill the window. In a
        following turn, they take at most what is left until the window would be started afresh."""
        if fresh:
            return min(afresh_limit(budget), _BRIEF_LIKELY) if self.brief else afresh_limit(budget)
        return min(later_limit(budget), self._left(memory))

    def _left(self, memory: TurnMemory) -> int:
        """The tokens that are left until the window would be started afresh."""
        limit = restart_limit(self.budget, self.instruction_tokens)
        return max(0, limit - memory.conversation.tokens)

    @property
    def dialogue_room(self) -> Room:
        """The room for the dialogue in a window that asks for little."""
        return room_in(self.budget, self.instruction_tokens + _HEADINGS)

    def _build(
        self,
        prompt: str,
        memory: TurnMemory,
        budget: int,
        dialogue: tuple[str, ...],
        past: PastTurns,
        extra: int,
        *,
        fresh: bool,
        first: bool,
    ) -> Window:
        """The window; in a ``fresh`` one the ``past`` counts, which is the dialogue before it. ``extra`` are
        the tokens that the request has beside it. The ``first`` one about its subject is filled."""
        snapshot = self.project.snapshot
        goes_on = fresh and not (first and memory.conversation.items)
        about = recent_topic(past, snapshot) if goes_on else RecentTopic()
        most, comfort = self._fill_limits()
        request = WindowRequest(
            text=prompt,
            instructions=self.instructions,
            budget=budget,
            history=dialogue,
            open_files=self.open_files,
            map_limit=map_limit(budget) if self.mapped else 0,
            likely_limit=self._likely_limit(budget, memory, fresh=fresh),
            subject_limit=int(self._left(memory) * _SUBJECT_SHARE),
            fills_up=fresh and first,
            likeliest_last=self.brief,
            whole_files=not self.mapped,
            fill_limit=most - extra if fresh else None,
            fill_comfort=comfort - extra if fresh else None,
            pinned=self.pins.pinned,
            removed=self.pins.removed,
            at_work="\n".join(filter(None, (memory.edited_files.last_lines, past.failing))),
            earlier=about.words,
            recent=about.files,
            approved=self.approved,
            used=0 if fresh else self.count(self.instructions) + memory.conversation.tokens,
        )
        if fresh:
            return build(request, snapshot, self.counter, memory.seen.restart())
        # The model wrote these edits itself, and the report tells what the user did to them since.
        sources = (snapshot.read(path) for path in memory.edited_files.paths)
        seen = memory.seen.knowing(source for source in sources if isinstance(source, Source))
        return build(request, snapshot, self.counter, seen)


class Preparations:
    """Makes the preparation of each turn from what is chosen, pinned and open at that moment."""

    def __init__(
        self, root: Path, reading: ProjectReading, choice: ModelChoice, pins: Pins, trust: ProjectTrust
    ) -> None:
        self._root = root
        self._reading = reading
        self._choice = choice
        self._pins = pins
        self._trust = trust
        self.open_files: tuple[str, ...] = ()
        """The files that the user has open; they weigh in the window's ranking."""

    def least_cost(self, tokens: int, held: int) -> float | None:
        """The dollars that a request of ``tokens`` costs at least, ``held`` of which were sent before; None
        where the price is unknown."""
        cached = min(held, tokens)
        return least_cost(self._choice.price, tokens - cached, cached, self._choice.model.token_ratio)

    def now(self, choice: ModelChoice | None = None) -> Preparation:
        """The preparation for a turn that begins now, for another ``choice`` than the session's if given."""
        reading = self._reading
        made = preparation_for(
            choice or self._choice, reading.project, reading.counter, self._root, self._pins
        )
        return replace(made, known=reading.known, open_files=self.open_files, approved=self._trust.approved)


def preparation_for(
    choice: ModelChoice, project: ReadsProject, counter: Counter, root: Path, pins: Pins
) -> Preparation:
    """The preparation of turns for a chosen model."""
    return Preparation(
        project=project,
        counter=counter,
        known=asyncio.Event(),
        instructions=choice.instructions.text,
        tools="".join(map(str, choice.tools)),
        budget=choice.budget,
        root=root,
        open_files=(),
        pins=pins,
        brief=choice.model.brief,
        mapped=not choice.model.small,
    )


def _headed(head: str, pieces: Iterable[Piece]) -> str:
    """The pieces as one message below ``head``; empty where there are none."""
    text = "".join(piece.text for piece in pieces)
    return head + text if text else ""


def _notes(*, full: bool, refused: bool, compacted: bool, other_subject: bool, past: bool) -> tuple[str, ...]:
    if not full or (compacted and not refused):
        return ()
    if other_subject and not refused:
        return (
            "The window was about another subject: it was started afresh, with the conversation as history.",
        )
    why = "too long for the server" if refused else "full"
    if not past:
        return (f"The window was {why}: a smaller one was sent.",)
    return (f"The window was {why}: it was started afresh, with the conversation as history.",)


def _hidden(window: Window, memory: TurnMemory) -> tuple[str, ...]:
    """Which files hold characters that a person would not see but a model would read; each is told once."""
    paths = [piece.path for piece in window.pieces if piece.path and HIDDEN in piece.why]
    return tuple(
        f"{path} holds characters that cannot be seen and could hide words. The model is shown stand-ins for "
        "them, so an edit of these lines may be refused."
        for path in dict.fromkeys(paths)
        if path not in memory.told_hidden
    )


def _unread_instructions(window: Window, memory: TurnMemory) -> tuple[str, ...]:
    """Which files of instructions are there and cannot be read, or do not count; each is told once."""
    reasons = tuple(why.partition("{")[0] for why in (UNREAD, PASSED_OVER))
    return tuple(
        f"{left.path} {left.why}, so the model does not follow it"
        for left in window.left_out
        if is_instructions(left.path) and left.why.startswith(reasons) and left.path not in memory.told_unread
    )


def _named_but_not_shown(window: Window) -> tuple[str, ...]:
    """What the prompt asks for and the model was not given, and why; a few, and how many more there are."""
    named = [left for left in window.left_out if left.named]
    told = []
    for left in named[:_TOLD]:
        if left.path.startswith("@"):
            told.append(f"{left.path} {left.why}")
            continue
        why = left.why
        if why == REMOVED_THOUGH_NAMED:
            why = f"it is taken out (/restore {left.path})"
        elif left.path.lower().endswith(_IMAGES):
            why = "it is an image, and spark sends text alone"
        told.append(f"{left.path} is named in the prompt and was not shown: {why}")
    if len(named) > _TOLD:
        told.append(
            f"{len(named) - _TOLD:,} more that the prompt names were not shown (/context tells which)"
        )
    return tuple(told)


def read_or_none(tree: Tree, path: str) -> str | None:
    """The text of a project file, or None where there is none to be had."""
    try:
        return tree.read_text(path).text
    except FileError:
        return None
