"""Asks about what is held, above the composer: what it is, why, and the keys that answer.

An answer must never be given by accident, so the bar takes keys only while it has the focus, only about
what it shows, and only once that has stood for :data:`ARMED_AFTER` and no key has come for
:data:`KEYS_UP_AFTER`: a key that was on its way when the question came cannot answer it. What does not fit
has to be scrolled to before it can be applied.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.front.keys.key_order import own_actions, run_key_in_order
from tui.front.keys.keymap import bindings, shown
from tui.front.words.check_lines import exact_lines
from tui.screen.drawing.palette import Palette
from tui.screen.drawing.plain import cell_len, clipped, fitting
from tui.screen.drawing.rows import breaks

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.front.words.held_items import Verdict

ARMED_AFTER = 0.4
"""Seconds that a question must have stood before a key can answer it."""
KEYS_UP_AFTER = 0.15
"""Seconds without any key before one can answer."""
UNDO_TURN = "undo-turn"
"""The name of the question whether a turn is to be undone; hunks and calls are never called so."""
DROP = "drop"
"""The name of the question whether a hunk is dropped with those that depend on it."""
TRUST = "trust"
"""The name of the question about the project's own instructions."""
READ_ALL = "read-all"
"""The name of the question whether a folder is read that is not one project."""
_PANES = ("composer", "editor", "chat")
MOST_LINES = 8
"""Lines of what is asked about that are shown at once."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. ``name`` is what is held, by the session's name of it; ``text`` is what would be done,
    exactly, and empty where the reason says enough."""

    name: str
    title: str
    text: str = ""
    apply: str = "apply"
    reject: str = "reject"
    all: str = "apply all"
    """Empty where there is no rest to answer for."""
    others: tuple[tuple[Verdict, str], ...] = ()
    """Further answers, and what they are called."""
    back: str = ""
    """The pane that has the focus once this is answered; empty for the one that had it before."""


class HeldBar(Widget, can_focus=True):
    """One question, or nothing."""

    BINDINGS = bindings("held")

    class Answered(Message):
        """The user's verdict on what is held by that name."""

        def __init__(self, name: str, verdict: Verdict) -> None:
            super().__init__()
            self.name, self.verdict = name, verdict

    class Left(Message):
        """The user goes back to the pane ``to``."""

        def __init__(self, to: str) -> None:
            super().__init__()
            self.to = to

    def __init__(self, palette: Palette, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._held: Question | None = None
        self._confirmed: Question | None = None
        self._proposed: Question | None = None
        self._standing: Question | None = None
        self._lines: list[str] = []
        self._top = 0
        self._seen = 0
        self._asked_at = 0.0
        self._came_from = "composer"
        """The pane that had the last key before the user came here."""
        self._early = False
        """Whether an answer to what is asked came too early, and was not taken."""
        self._by_itself = self._coming = False
        """Whether the bar took the focus by itself, and whether it is about to."""
        self._typed_early = ""
        """The keys since then that came too early to be answers: they may be the beginning of a prompt."""
        self.may_come: Callable[[], bool] = lambda: False
        """Says whether the bar may take the focus by itself: the prompt is empty, and keys would go to it."""
        self.type_on: Callable[[str], None] = lambda text: None
        """Takes what is typed into the prompt while the bar has the focus."""
        self._key_at = self._key_before = 0.0
        """When the last key came, and the one before it."""
        self.display = False

    @property
    def question(self) -> Question | None:
        """What is asked now: to confirm what the user began comes first, what can wait comes last."""
        return self._confirmed or self._held or self._proposed or self._standing

    def ask(self, question: Question | None) -> None:
        """Ask about what is held, or nothing any more."""
        before, self._held = self.question, question
        self._changed(before)
        if question is not None and question is self.question and question != before:
            self.call_after_refresh(self._come)

    def _come(self) -> None:
        """Take the focus for a question, unless the user is at something else."""
        if not self.has_focus and self.question is self._held is not None and self.may_come():
            self._coming = True
            self.focus()

    def confirm(self, question: Question | None) -> None:
        """Have the user confirm what a key began, or nothing any more."""
        before, self._confirmed = self.question, question
        self._changed(before)
        held = self._held
        if question is None and before is not None and held not in (None, before) and self.has_focus:
            self.post_message(self.Left(self._back(before)))

    @property
    def confirms(self) -> bool:
        """Whether it asks about what a key began."""
        return self._confirmed is not None

    def propose(self, question: Question | None) -> None:
        """Ask what nothing waits for, or nothing any more."""
        before, self._proposed = self.question, question
        self._changed(before)

    def standing(self, name: str) -> bool:
        """Whether the question ``name`` stands, though others may come before it."""
        return self._standing is not None and self._standing.name == name

    def stand(self, question: Question | None) -> None:
        """Ask what nothing waits for, or nothing any more: the title alone is shown until the user comes."""
        before, self._standing = self.question, question
        self._changed(before)

    def _changed(self, before: Question | None) -> None:
        question = self.question
        if question == before:
            return
        self._top = self._seen = 0
        self._asked_at = monotonic()
        self._early = False
        self.display = question is not None
        waits = question is not None and question in (self._held, self._confirmed)
        if self.has_focus and not waits:
            # What can wait must not get the keys that follow an answer.
            self.post_message(self.Left(self._back(before)))
        self._lay_out()

    def _back(self, question: Question | None) -> str:
        return (question.back if question is not None else "") or self._came_from

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        self.refresh()

    def key_pressed(self) -> None:
        """A key was pressed somewhere; called before it acts."""
        self._key_before, self._key_at = self._key_at, monotonic()
        focused = self.screen.focused
        if focused is not self:
            self._came_from = focused.id if focused is not None and focused.id in _PANES else "composer"

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        self._lay_out()

    def on_focus(self) -> None:
        """The user comes to the bar."""
        self._by_itself, self._coming, self._typed_early = self._coming, False, ""
        self.looked_at()

    def come(self) -> None:
        """The user wants to answer, also where the bar has come by itself."""
        self._by_itself = False
        self.focus()

    def looked_at(self) -> None:
        """The user comes to the bar, or to the terminal: count from here how long the question has stood."""
        self._asked_at = monotonic()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Draw the keys that answer, or the key that leads here."""
        super().watch_has_focus(has_focus)
        self._lay_out()

    async def on_key(self, event: events.Key) -> None:
        """Act on the keys of the bar. Where it came by itself, other characters go on into the prompt; else
        they do nothing here."""
        event.stop()
        event.prevent_default()
        if self._by_itself and event.is_printable and not self._is_answer(event.key):
            self.type_on(self._typed_early + (event.character or ""))
        else:
            await run_key_in_order(self, event)

    def _is_answer(self, key: str) -> bool:
        """Whether a key is bound here, and if to an answer, to one that the question offers."""
        action = own_actions(type(self)).get(key)
        question = self.question
        if action is None or question is None or not action.startswith("answer"):
            return action is not None
        return any(f"{verdict!r}" in action for verdict, _ in _answers(question))

    def action_answer(self, verdict: Verdict) -> None:
        """Answer, unless the question or the key before this one is too young, which is told then."""
        question = self.question
        if question is None or not _offers(question, verdict):
            return
        now = monotonic()
        rested = self._key_at - self._key_before >= KEYS_UP_AFTER
        armed = now - self._asked_at >= ARMED_AFTER and rested
        self._early = not armed
        if not armed:
            self._typed_early += _key(verdict)
        if armed and (verdict in ("reject", "later") or self._all_seen):
            self.post_message(self.Answered(question.name, verdict))
        self.refresh()

    def action_scroll(self, by: int) -> None:
        """Scroll what is asked about."""
        self._scroll(by)

    def action_leave(self) -> None:
        """Go back to where the user came from. What a key began is given up; what is held stays asked
        about."""
        to = self._back(self.question)
        self.confirm(None)
        self.post_message(self.Left(to))

    # Drawing.

    @property
    def _held_back(self) -> bool:
        """Whether only the first row is shown, because nothing waits for the answer."""
        return not self.has_focus and self.question is self._standing

    @property
    def _room(self) -> int:
        if self._held_back:
            return 0
        return max(1, min(len(self._lines), MOST_LINES, self.app.size.height // 3))

    @property
    def _all_seen(self) -> bool:
        return self._seen >= len(self._lines)

    def _lay_out(self) -> None:
        question, width = self.question, max(10, self.app.size.width - 4)
        exact = exact_lines(question.text) if question is not None and question.text else []
        self._lines = [line[start:end] for line in exact for start, end in breaks(line, width)]
        self._scroll(0)
        titles = len(self._title_rows(question)) if question is not None else 1
        self.styles.height = 1 + titles + (self._room if self._lines else 0)
        self.refresh(layout=True)

    def _scroll(self, by: int) -> None:
        self._top = max(0, min(self._top + by, len(self._lines) - self._room))
        self._seen = max(self._seen, self._top + self._room)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The title, the text, and the keys."""
        width, style = self.size.width, self._palette.style
        question = self.question
        if question is None:
            return Strip.blank(width)
        titles = self._title_rows(question)
        if y < len(titles):
            line, role = f" {'?' if y == 0 else ' '} {titles[y]}", "warning"
        elif y <= self.size.height - 2:
            at = self._top + y - len(titles)
            line, role = f"   {self._lines[at]}" if at < len(self._lines) else "", "text"
        else:
            line, role = f"   {self._keys(question, width - 3)}", "status_key"
        segment = Segment(clipped(line, width), style(role))
        return Strip([segment]).adjust_cell_length(width, style("text"))

    def _title_rows(self, question: Question) -> list[str]:
        """What is asked, with why: in one row, or in two where one is too narrow and nothing stands below."""
        width = max(10, self.app.size.width - 3)
        rows = breaks(question.title, width)
        if len(rows) == 1 or self._held_back or self._lines:
            return [question.title]
        start, end = rows[0]
        return [question.title[start:end], question.title[end:].strip()]

    def _keys(self, question: Question, width: int) -> str:
        below = len(self._lines) - self._top - self._room
        more = [f"↑ {self._top} more lines above"] if self._top else []
        more += [f"↓ {below} MORE LINES BELOW"] if below > 0 else []
        more[:0] = ["this was asked just now: press it again"] if self._early else []
        here = shown("answer_held")
        if self._held_back:
            return f"{here} to read and answer"
        answers = [f"{_key(verdict)} {label}" for verdict, label in _answers(question)]
        if question.apply and not self._all_seen:
            answers[0] = f"read to the end, then {_key('apply')}"
        if self.has_focus:
            leave = f"{shown('leave', 'held')} back"
            # How to say no is worth more than words about the lines below.
            leads = [" · ".join([*more, answers[0]])]
            if below > 0:
                yes = f", then {_key('apply')} {question.apply}"
                leads += [f"↓ {below} MORE LINES BELOW{yes}", f"↓ {below}{yes}"]
            wholes = [fitting(" · ".join([lead, *answers[1:], leave]), width) for lead in leads]
            return next((whole for whole in wholes if answers[:2][-1] in whole), wholes[-1])
        whole = " · ".join([*more, f"{here} to answer: {answers[0]}", *answers[1:]])
        # Where the line is narrow, the answers are worth more than the words before them.
        short = whole.replace(f"{here} to answer: ", f"{here}: ")
        return whole if cell_len(whole) <= width else fitting(short, width)


def _key(verdict: Verdict) -> str:
    return shown(f"answer({verdict!r})", "held")


def _answers(question: Question) -> list[tuple[Verdict, str]]:
    """The verdicts that a question can be answered with, and what they are called."""
    named: list[tuple[Verdict, str]] = [
        ("apply", question.apply),
        ("reject", question.reject),
        ("apply all", question.all),
        *question.others,
    ]
    return [(verdict, label) for verdict, label in named if label]


def _offers(question: Question, verdict: Verdict) -> bool:
    """Whether a question can be answered so."""
    return any(verdict == each for each, _ in _answers(question))
