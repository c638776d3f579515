"""Shows the session's events in the panes. This is the one place that handles every kind of event."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from session.base import events as said
from session.record.usage import UsageFold
from tui.app.panes.held_bar import HeldBar, Question
from tui.app.panes.status import StatusLine
from tui.app.review.review_book import ReviewBook
from tui.chat.chat import ChatView
from tui.chat.transcript.entries import COMMAND_LINES, HunkSize
from tui.editor.disk_changes import DiskChanges
from tui.editor.flights import Flights
from tui.editor.shown_file import ShownFile
from tui.editor.signs import HunkNotes
from tui.front.words.check_lines import (
    broken_line,
    check_line,
    checked_detail,
    command_end,
    command_ends,
    command_runs,
    ended_line,
    exact_lines,
    watch_lines,
)
from tui.front.words.figures import Meter, compact, effort_said, stopped_line, turn_brief, turn_said
from tui.front.words.held_items import HeldItem, HeldItems, TakesAnswers, Verdict
from tui.front.words.window_lines import compaction_line, compaction_text, context_line, dialogue_line

AGREED = "lands once the hunks before it in its file have ended"
"""What the chat says of a held hunk that the user agreed to."""


class Feed:
    """Shows events. After an interrupt it shows nothing more of the stopped turn than what landed."""

    def __init__(
        self,
        chat: ChatView,
        shown_file: ShownFile,
        flights: Flights,
        disk: DiskChanges,
        status: StatusLine,
        held_bar: HeldBar,
        window: int,
    ) -> None:
        self._chat = chat
        self._held_bar = held_bar
        self._shown_file = shown_file
        self._flights = flights
        self._disk = disk
        self._status = status
        self._hunk_notes = HunkNotes(shown_file.editor.notes)
        self._meter = Meter()
        self._rate: float | None = None
        """Tokens per second of the last turn, as told at its end."""
        self._usage = UsageFold()
        self._started: said.TurnStarted | None = None
        self._landed: dict[str, int] = {}
        """The hunks that landed, counted by turn: a redirect is told before the turn that it stops ends."""
        self._called: set[str] = set()
        """The turns that called a tool, which may have changed files."""
        self._window = window
        self._turn = self._asked = ""  # the turn that runs, and that of the last prompt
        self._stopped: set[str] = set()
        self.on_turn: Callable[[bool], None] = lambda running: None
        """Called when a turn begins or ends."""
        self.on_landed_turn: Callable[[], None] = lambda: None
        """Called when a turn has ended that landed hunks."""
        self.on_queue: Callable[[said.Event], None] = lambda event: None
        """Called with every event, for the list of messages that wait."""
        self.on_waiting: Callable[[str], None] = lambda title: None
        """Called with what needs the user's OK, empty once nothing does."""
        self.on_heard: Callable[[said.Event], None] = lambda event: None
        """Called with each event."""
        self.on_broken: Callable[[said.FileBroken], None] = lambda broken: None
        """Called when a turn left a file with a syntax error."""
        self.held = HeldItems()
        self.book = ReviewBook()
        """Every hunk of the session, for the review."""
        self._question: Question | None = None
        """What is asked about the oldest held item; None when nothing is held."""
        self._unanswered = ""
        self.on_unanswered: Callable[[str], None] = lambda prompt: None
        """Called with the prompt of a turn that failed before any answer arrived."""

    def stop(self) -> None:
        """The user stopped the turn: drop what is not painted yet, and what still arrives of it."""
        if self._turn:
            self._stopped.add(self._turn)
        self._chat.drop_pending()
        self._flights.drop_all()

    def replay(self, events: list[said.Event]) -> None:
        """Show the past events of a resumed session: the conversation, without the typing of its hunks."""
        for event in events:
            self._tell(event)
        self._turn = ""
        self._status.show(phase="", waiting=0)

    def take(self, event: said.Event) -> None:
        """Show one event."""
        self.on_heard(event)
        if getattr(event, "turn", None) in self._stopped and isinstance(event, _DRAWN):
            return
        self._tell(event)
        self.held.take(event)
        self._show(event)
        self._ask()

    def _show(self, event: said.Event) -> None:
        """Show what an event means for the editor, the status line and the hunk or call it is about."""
        self._hunk_notes.take(event)
        match event:
            case said.TurnEnded(status="failed") if self._unanswered and not self._turn:
                self.on_unanswered(self._unanswered)
            case said.TextDelta(text=text) | said.ReasoningDelta(text=text):
                self._count(len(text))
            case said.HunkTyped(text=text):
                self._count(len(text))
                self._flights.typed(event)
            case said.HunkOpened():
                self._flights.opened(event)
            case said.HunkAimed():
                self._flights.aimed(event)
            case said.HunkHeld(hunk=hunk, path=path, guard=guard, message=message):
                action = "replace" if guard == "overwrites" else "update"
                self._chat.hunk(hunk, path, action, "held", message.removeprefix(f"{path} "))
            case said.ToolHeld(call=call, text=text):
                self._chat.call(call, text).hold(text)
            case said.ToolOutput(call=call, text=text) | said.CommandOutput(command=call, text=text):
                self._chat.call(call, "").printed(text)
            case said.ModelChosen(model=model, effort=effort, window=window, budget=budget):
                self._window = budget or window
                tier = {"tier": event.tier or ("fast" if event.fast else ""), "plan": event.plan}
                self._status.show(model=model, effort=effort, window=self._window, picked="", **tier)
            case said.HunkLanded():
                self._disk.landed(event)
            case said.HunkRefused(hunk=hunk) | said.HunkDropped(hunk=hunk):
                self._flights.dropped(hunk)
            case said.HunkUndone():
                self._disk.undone(event)
            case said.HunkRedone():
                self._disk.redone(event)
            case said.FileBroken():
                self.on_broken(event)
            case said.FilesChanged(paths=paths):
                self._disk.changed(paths)
            case said.ConnectionChanged(state=state, message=message, seconds=seconds):
                waited = self._status.status.link == "waiting"
                self._status.show(link=state)
                self._status.count_down(seconds)
                if message or waited:
                    levels = {"failed": "error", "offline": "warning", "waiting": "warning"}
                    self._status.say(message or "", levels.get(state, "info"))
            case said.ReadingProgress(known=known, total=total):
                self._status.show(reading=f"reading {known:,}/{total:,}" if known < total else "")
            case said.PromptRead(tokens=tokens, total=total):
                share = 100 * tokens // total if total else 100
                self._status.show(reading=f"the model reads: {share} %" if tokens < total else "")
            case said.PhaseChanged(phase=phase):
                if phase == "settling":
                    self._chat.hurry()  # the answer is whole
                if phase not in ("completed", "interrupted", "failed"):
                    self._status.show(phase=phase)
            case _:
                pass

    def _tell(self, event: said.Event) -> None:
        """Show what an event means for the chat and for the turn."""
        self.book.take(event)
        self.on_queue(event)
        if isinstance(event, _ANSWERS):
            self._unanswered = ""
        chat, status = self._chat, self._status
        match event:
            case said.PromptSubmitted(turn=turn, text=text, kind=kind, waiting=waiting, typed=typed):
                self._turn = self._asked = turn
                self._unanswered = typed if typed and typed.startswith("/") else text
                chat.prompt(text, kind, typed)
                status.show(phase="preparing", message="", waiting=waiting)
                self.on_turn(True)
            case said.PromptQueued(waiting=waiting, when="turn") | said.PromptsUnqueued(waiting=waiting):
                status.show(waiting=waiting)
            case said.TurnStarted(input_tokens=tokens):
                self._started = event
                self._meter.begin(tokens)
                status.show(picked=effort_said(event))
                self._figures()
            case said.TextDelta(text=text):
                chat.text(text)
            case said.ReasoningDelta(text=text):
                chat.reasoning(text)
            case said.HunkOpened(hunk=hunk, path=path, action=action):
                chat.hunk(hunk, path, action, "typing")
            case said.HunkLanded():
                self._landed[event.turn] = self._landed.get(event.turn, 0) + 1
                size = HunkSize(event.added, event.removed, event.sample)
                chat.hunk(event.hunk, event.path, event.action, "landed", _where(event), size)
            case said.HunkRefused(turn="", hunk=hunk, path=path, message=message):
                buffer = self._shown_file.buffers.of(path)
                unsaved = buffer is not None and buffer.dirty
                hint = f"; {path} has unsaved text: save it and try again" if unsaved else ""
                status.say(f"{_refusal_line(hunk, path, message)}{hint}", "error")
            case said.HunkRefused(hunk=hunk, path=path, by="user", why=why):
                asked = known.fate.detail if (known := chat.hunk_named(hunk)) is not None else ""
                said_why = f": {why}" if why else f" ({asked})" if asked else ""
                chat.hunk(hunk, path, "update", "dropped", f"declined{said_why}")
            case said.HunkRefused(hunk=hunk, path=path, message=message):
                chat.hunk(hunk, path, "update", "refused", message)
            case said.HunkDropped(hunk=hunk, path=path):
                known, each = chat.hunk_named(hunk), self.book.named(hunk)
                waited = "stopped before its turn" if each is not None and each.whole else "not finished"
                held = known is not None and known.fate.state == "held"
                why = "stopped before your OK" if held else waited
                chat.hunk(hunk, path, "update", "dropped", f"{why}; nothing of it was written")
            case said.HunkUndone(hunk=hunk, place=path):
                self._change_state(hunk, path, "undone", "undone")
            case said.HunkRedone(hunk=hunk, place=path, start=start, end=end):
                self._change_state(hunk, path, "landed", f"{_lines(start, end)} · redone")
            case said.HunkChecked(hunk=hunk, check=check, status=state):
                chat.judged(hunk, check, state, checked_detail(event))
            case said.RaceEnded():
                chat.remark(ended_line(event), "info" if event.winner else "warning")
            case said.CheckStarted(check=check):
                status.say(f"{check} runs …", stays=True)
            case said.CheckEnded(check=check):
                if status.status.message == f"{check} runs …":
                    status.say("")
                chat.tested(check)
                chat.remark(check_line(event), "error" if event.status == "red" else "info")
            case said.CommandStarted(command=command):
                chat.action_to_end()
                chat.call(command, f"! {event.line}").lines = COMMAND_LINES
                status.say(command_runs(), stays=True)
            case said.CommandEnded(command=command):
                entry = chat.call(command, f"! {event.line}")
                entry.lines = COMMAND_LINES
                entry.become(event.status, *command_end(event))
                if status.status.message in (command_runs(), command_ends()):
                    status.say("")
            case said.WatchTold():
                chat.remark(watch_lines(event), "error" if event.red else "info")
            case said.ToolCalled(call=call, line=how):
                self._called.add(event.turn)
                self._meter.paused()
                chat.call(call, how)
            case said.ToolEnded(call=call, line=how, status=state, tail=tail):
                chat.call(call, how).become(state, how, tail)
            case said.Usage():
                self._usage.take(event)
                if event.turn == self._turn:
                    self._meter.counted(event)
                status.show(usage=compact(self._usage.total))
                self._figures()
            case said.TurnEnded(turn=turn, status=how, message=message):
                self._ended(turn, how, message)
            case said.DialogueCompacted():
                chat.folded(compaction_line(event), compaction_text(event))
            case said.LedgerProposed() | said.LineRemembered() | said.LineForgotten():
                chat.remark(dialogue_line(event))
            case _ if (line := context_line(event)) is not None:
                chat.remark(line, "quiet")
            case said.FileBroken(path=path, message=message, hunks=hunks):
                chat.remark(broken_line(path, message, hunks), "error")
            case said.Notice(level=level, text=text):
                chat.remark(text, level)
                if level != "info":
                    status.say(text, level)
            case _:
                pass

    def answer(self, session: TakesAnswers, verdict: Verdict, name: str = "") -> bool:
        """Answer the held item called ``name``, or the oldest; false when there is none."""
        answered = self.held.answer(session, verdict, name)
        for item in answered if verdict != "reject" else ():
            if not item.is_call:
                self.agreed(item.name)
            elif (entry := self._chat.call_named(item.name)) is not None:
                entry.go_on()
        self._ask()
        return bool(answered)

    def agreed(self, hunk: str) -> None:
        """The user agreed to a held hunk: nothing is asked about it, and it lands when its turn comes."""
        self.held.forget(hunk)
        self.book.agree(hunk)
        if (entry := self._chat.hunk_named(hunk)) is not None:
            self._chat.hunk(hunk, entry.path, entry.action, "agreed", AGREED)

    def _ask(self) -> None:
        """Ask about the oldest held item, above the composer and by showing it in the editor."""
        oldest = self.held.oldest
        question = question_about(oldest, len(self.held) - 1) if oldest else None
        if question == self._question:
            return
        if oldest is not None:
            self._flights.held(oldest.name)
        self._held_bar.ask(question)
        self._status.show(asked=question is not None)
        self.on_waiting(question.title if question is not None else "")
        self._question = question

    def _change_state(self, hunk: str, path: str, state: str, detail: str) -> None:
        entry = self._chat.hunk_named(hunk)
        self._chat.hunk(hunk, path, entry.action if entry else "update", state, detail)
        self._status.say(f"{hunk} {'undone' if state == 'undone' else 'redone'}: {path}")

    def _ended(self, turn: str, how: str, message: str | None) -> None:
        landed, called = self._landed.pop(turn, 0), turn in self._called
        self._called.discard(turn)
        self._chat.close_run()
        earlier = turn != self._asked  # a prompt has redirected it
        if how == "interrupted":
            self._chat.remark(stopped_line(landed, called=called), "quiet", earlier=earlier)
        elif how == "failed":
            self._chat.remark(
                f"The turn failed: {message}" if message else "The turn failed.", "error", earlier=earlier
            )
            self._status.say(message or "The turn failed.", "error")
        if (usage := self._usage.turns.get(turn)) is not None:
            started = self._started if self._started is not None and self._started.turn == turn else None
            self._chat.folded(turn_brief(usage), turn_said(usage, started), quiet=True, earlier=earlier)
        if landed and how != "interrupted":  # it also ends so when the session is closed
            self.on_landed_turn()
        if turn == self._turn:
            self._turn = ""
            self._rate = usage.tokens_per_second if usage is not None else None
            if self._status.status.level == "info":
                self._status.say("")
            self._status.show(phase="", reading="")
            self._figures()
            self.on_turn(False)

    def _count(self, chars: int) -> None:
        self._meter.took(chars, monotonic())

    def tick(self) -> bool:
        """Update the figures; called at a limited rate while events arrive. True while a speed is shown that
        changes even when nothing arrives."""
        self._figures()
        return bool(self._turn) and self._status.status.speed is not None

    def _figures(self) -> None:
        meter = self._meter
        speed = meter.speed(monotonic()) if self._turn else self._rate
        self._status.show(used=meter.used, estimated=meter.estimated, window=self._window, speed=speed)


_DRAWN = (
    said.TextDelta,
    said.ReasoningDelta,
    said.HunkOpened,
    said.HunkTyped,
    said.HunkAimed,
    said.ToolOutput,
    said.PhaseChanged,
)
"""The events of a stopped turn that are not shown any more. Those that tell what landed are."""

_ANSWERS = (
    said.TextDelta,
    said.ReasoningDelta,
    said.HunkOpened,
    said.HunkLanded,
    said.ToolCalled,
    said.AttemptStarted,
)
"""The events which show that an answer had begun."""


def question_about(item: HeldItem, more: int) -> Question:
    """The question about a held item; ``more`` items are held behind it."""
    behind = f" (1 of {more + 1})" if more else ""
    if not item.is_call:
        return Question(item.name, f"Apply {item.label}{behind}? {item.path}: {item.reason}")
    command = item.reason.removeprefix("run ") if item.label == "run" else item.reason
    lines = exact_lines(command)
    whole = len(lines) == 1 and len(lines[0]) <= _LONGEST_TITLE
    named = lines[0] if whole else f"{lines[0][:_LONGEST_TITLE]} …"
    title = f"{'Run' if item.label == 'run' else 'Call'} `{named}`{behind}?"
    # What comes from the model stands last, so that it cannot look like a line of spark's.
    text = "\n".join((*item.why, *(() if whole else (command,))))
    if item.label != "run":
        return Question(item.name, title, text, "allow", "decline", "allow all")
    every = f"always {item.always}" if item.always else "allow all"
    others: tuple[tuple[Verdict, str], ...] = (("session", "in this session"),)
    return Question(item.name, title, text, "allow", "decline", every, others)


_LONGEST_TITLE = 60
"""Characters of a command that its question begins with; all of a longer one stands below."""


def _lines(start: int, end: int) -> str:
    return f"{start}" if end - start <= 1 else f"{start}–{end - 1}"


def _where(event: said.HunkLanded) -> str:
    pieces = [_lines(event.start, event.end)] if event.start and event.action == "update" else []
    if event.moved_to:
        pieces.append(f"→ {event.moved_to}")
    if event.status == "already_applied":
        pieces.append("· was there already")
    elif event.status == "applied_fuzzy":
        pieces.append("· placed by likeness")
    return " ".join(pieces)


def _refusal_line(hunk: str, path: str, message: str) -> str:
    """Why a command for a hunk did nothing, with the hunk and file that ``message`` does not name."""
    named = [each for each in (hunk, path) if each and each not in message]
    return f"{' '.join(named)}: {message}" if named else message
