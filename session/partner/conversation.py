"""Decides what to answer: reads the conversation so far and returns the next steps. Pure, no I/O.

The partner remembers nothing between requests. It reads the conversation from the start: which scenario a
user message began, which of its hunks the reports settle, and whether a message redirects an answer that was
cut off. Then it continues from there.

A report names hunks by the front end's ids. Since a file's hunks are sent in the script's order, a new id
stands for the first hunk of that file that is wanted and not settled yet. A hunk is settled when it landed,
was refused or was undone; ``not_received`` settles nothing, so that hunk is sent again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from edits.report import HEADING
from session.partner.redirects import CARRY_ON, Understood, not_understood, understand
from session.partner.script import (
    Calls,
    Close,
    Fail,
    Patch,
    Redirect,
    Rest,
    Say,
    Scenario,
    Script,
    Step,
    Think,
    patches,
)
from session.wire.instructions import HEADS, TAKE_UP
from session.wire.protocol.items import text_of

_LINE = re.compile(
    r"^- (?P<id>\S+) "
    r"(?P<status>applied_fuzzy|applied|already_applied|rejected|not_received|undone_by_user)"
    r"(?: \((?P<code>\w+)\))? "
    r"(?P<path>.+?)(?: lines \d+-\d+)?(?:: .*)?$"
)


@dataclass(frozen=True, slots=True)
class Reported:
    """One line of a report: the front end's id of a hunk, its file and its status."""

    id: str
    status: str
    path: str

    @property
    def settled(self) -> bool:
        """Whether the hunk is not sent again: it landed, was refused, or the user undid it."""
        return self.status != "not_received"


def read_report(text: str) -> list[Reported]:
    """The lines of every report in ``text``, after its heading, without the indented lines of refusals."""
    start = text.find(HEADING)
    if start < 0:  # most items are not reports, and some are long
        return []
    reported = []
    inside = False
    for line in text[start:].splitlines():
        if line.strip() == HEADING:
            inside = True
        elif inside and not line.startswith(("- ", " ", "\t")):
            inside = False
        elif inside and (found := _LINE.match(line)):
            reported.append(Reported(found["id"], found["status"], found["path"]))
    return reported


_REQUEST = "## Request"
"""Stands before the user's own words in what spark sends."""
_TAIL = 48
_ELEMENT = re.compile(r"<([a-z_]+)>.*</\1>", re.DOTALL)
_LONGEST_PROMPT = 2_000
"""The most characters of a prompt that are compared."""
_ALL_THERE = Say(
    "All of that has landed already in this session, so there is nothing left to send. "
    "If you took one of its hunks back, `redo` brings it in again.\n"
)
_NO_OTHER = Say(
    "I have only the one version of that edit, and it does not fit the file as it is now. "
    "What landed stays as it is.\n"
)


@dataclass(frozen=True, slots=True)
class Reply:
    """The next response: its steps, the scenario they belong to, and whether they begin it."""

    scenario: Scenario
    steps: tuple[Step, ...]
    begins: bool


def reply(
    script: Script,
    items: Iterable[Mapping[str, Any]],
    *,
    rounds: bool,
    tools: bool = False,
    exhausted: frozenset[str] = frozenset(),
) -> Reply | None:
    """The reply to a conversation of Responses items; None if no scenario fits its last request.

    ``rounds`` is true if patches are sent as tool calls: a patch then ends the response, and its result
    begins the next. ``tools`` is true if functions can be called, which works the same way; otherwise calls
    are left out. ``exhausted`` names scenarios that may not begin again.
    """
    conversation = _Conversation(script, exhausted, rounds, tools)
    for item in items:
        conversation.read(item)
    return conversation.next()


@dataclass
class _Conversation:
    """The conversation as read so far."""

    script: Script
    exhausted: frozenset[str]
    rounds: bool
    tools: bool
    scenario: Scenario | None = None
    steps: tuple[Step, ...] = ()
    redirected: bool = False
    redirect: Redirect | None = None
    """The last redirect that the current answer took, of those that ask for edits."""
    waits: bool = False
    """Whether the current answer has ended before its end, until the user says how it goes on."""
    rounds_done: int = 0
    results: int = 0
    """How many calls of the current round have their result."""
    awaited: bool = False
    """Whether the last item was a call's result, so that more of the answer is expected."""
    unreported: Patch | None = None
    """A patch whose result reported no hunks; it counts as landed unless a report follows."""
    prompt: str = ""
    """The prompt that is being answered."""
    said: str = ""
    plan: list[str] = field(default_factory=list)
    settled: set[str] = field(default_factory=set)
    """The hunks of the current scenario that are not sent again."""
    earlier: dict[str, set[str]] = field(default_factory=dict)
    """The same for every scenario so far, by its id."""
    hunk_of: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Scenario and hunk for each id that the front end uses."""

    def read(self, item: Mapping[str, Any]) -> None:
        """Read the next item of the conversation."""
        kind = item.get("type", "message")
        text = text_of(item)
        if kind in ("custom_tool_call_output", "function_call_output"):
            self._assume_landed()
            reported = read_report(text)
            self._settle(reported)
            self._result(told=bool(reported))
        elif kind == "message" and item.get("role") == "assistant":
            if not self.said:
                self._answered_with(text)
            self.said += text
            self.awaited = False
        elif kind == "message":
            told = item.get("role") == "user" or self.scenario is not None  # else they are instructions
            reported = read_report(text) if told else []
            self._settle(reported)
            if TAKE_UP in text and self.scenario is not None:
                self._take_up(self.scenario)
            elif item.get("role") == "user" and not _is_report(text, reported):
                self._prompt(text.removeprefix(_REQUEST).strip()[:_LONGEST_PROMPT])

    def next(self) -> Reply | None:
        """The reply that comes next."""
        if self.scenario is None:
            return None
        steps = self._round()
        if not self.rounds and self.said and not self.awaited:
            steps = (_NO_OTHER,)  # a second request about an answer that is complete
        begins = not self.redirected and self.rounds_done == 0
        return Reply(self.scenario, steps, begins)

    def _prompt(self, words: str) -> None:
        self._assume_landed()
        self.prompt = words
        fitting = self.script.choose(words, self.exhausted)
        current = self.scenario
        if current is not None and (current.is_redirect(words) or (fitting and fitting.id == current.id)):
            fitting = current
        owing = current is not None and bool(current.hunks or current.redirect)
        if (
            current is not None
            and owing
            and fitting in (None, current)
            and (how := self._how(current, words))
        ):
            self._redirect(how)
        else:
            self._begin(fitting)
        self._start()

    def _answered_with(self, text: str) -> None:
        """Find the scenario whose first words ``text`` is: among those for the same prompt, ``times`` and
        ``chance`` may have chosen another one than they would now."""
        begun = _squeeze(text)[:_TAIL]
        for scenario in self.script.scenarios:
            first = next((step for step in scenario.steps if isinstance(step, Say)), None)
            if first is None or not begun or scenario.score(self.prompt) == 0:
                continue
            if _squeeze(first.text)[:_TAIL] == begun and scenario is not self.scenario:
                if self.scenario is None or not _says(self.scenario, begun):
                    self._begin(scenario)
                    self._start()
                return

    def _begin(self, scenario: Scenario | None) -> None:
        self.scenario = scenario
        self.redirected = self.waits = False
        self.redirect = None
        self.steps, self.plan = (), []
        if scenario is None:
            return
        self.settled = self.earlier.setdefault(scenario.id, set())
        self.steps = _without(scenario.steps, self.settled)
        self.plan = _hunks(self.steps)
        if not self.plan and _hunks(scenario.steps):
            self.steps = (_ALL_THERE,)

    def _how(self, scenario: Scenario, words: str) -> Understood | None:
        """How the answer goes on that ``words`` interrupt; None where they begin another one."""
        running = not self._finished()
        if not self.script.reads_redirects:
            return Understood(scenario.redirect or CARRY_ON, scenario) if running else None
        if not running and not self.waits:
            return None
        found = understand(scenario, words, self.settled, self.redirect)
        return found or (not_understood(scenario, words) if running else None)

    def _redirect(self, how: Understood) -> None:
        scenario = self.scenario = how.scenario
        redirect = how.redirect
        self.redirected, self.waits = True, how.waits
        self.redirect = self.redirect if how.waits else redirect
        wanted = [name for name in _hunks(scenario.steps) if name not in redirect.drop]
        own_hunks = [name for name in _hunks(redirect.steps) if name not in how.first]
        self.plan = [*how.first, *wanted, *own_hunks]
        owed = _without(scenario.steps, self.settled | redirect.drop)
        own = _without(redirect.steps, self.settled)
        self.steps = tuple(_expand(own, owed))

    def _take_up(self, scenario: Scenario) -> None:
        """Resume an answer that was lost: send only what is still missing of it."""
        self.redirected = True
        self._start()
        self.steps = _without(_passed(self.steps), self.settled)
        self.plan = _hunks(scenario.steps)

    def _start(self) -> None:
        """Start the current steps from the beginning."""
        self.rounds_done = self.results = 0
        self.awaited, self.said = False, ""

    def _finished(self) -> bool:
        """Whether the conversation shows the current answer to its end."""
        last = next((step for step in reversed(self.steps) if isinstance(step, Say)), None)
        if last is None:
            return self.rounds_done >= len(self._ends())
        return _squeeze(last.text)[-_TAIL:] in _squeeze(self.said)

    def _settle(self, reported: Sequence[Reported]) -> None:
        if reported:
            self.unreported = None
        for line in reported:
            if line.id in self.hunk_of:
                self._report_again(line)
            elif line.settled and self.scenario is not None:
                name = self._next_of(self.scenario, line.path)
                if name is not None:
                    self.settled.add(name)
                    self.hunk_of[line.id] = (self.scenario.id, name)

    def _next_of(self, scenario: Scenario, path: str) -> str | None:
        """The first hunk of ``path`` that is wanted and not settled."""
        open_hunks = (name for name in self.plan if name not in self.settled)
        return next((name for name in open_hunks if scenario.hunks[name].path == path), None)

    def _report_again(self, line: Reported) -> None:
        """Handle a report on a known hunk. An undone hunk is sent again only for a new request."""
        owner, name = self.hunk_of[line.id]
        if line.status == "undone_by_user" and (self.scenario is None or self.scenario.id != owner):
            self.earlier[owner].discard(name)

    def _result(self, *, told: bool) -> None:
        """Note the result of a call in the current round; the last one ends the round."""
        self.awaited = True
        ends = self._ends()
        end = ends[self.rounds_done] if self.rounds_done < len(ends) else None
        if isinstance(end, Patch) and not told:
            self.unreported = end
        self.results += 1
        if not isinstance(end, Calls) or self.results >= len(end.calls):
            self.rounds_done += 1
            self.results = 0

    def _ends(self) -> list[Patch | Calls]:
        """The steps that end a round: tool calls, whose results begin the next one.

        A step with a limit ends no round, since it has no result.
        """
        return [
            step
            for step in self.steps
            if ((isinstance(step, Patch) and self.rounds) or (isinstance(step, Calls) and self.tools))
            and step.limit is None
        ]

    def _round(self) -> tuple[Step, ...]:
        """The steps of the current round, up to and including its end."""
        ends, number = self._ends(), self.rounds_done
        current: list[Step] = []
        for step in self.steps:
            if number == 0 and (self.tools or not isinstance(step, Calls)):
                current.append(step)
            if any(step is end for end in ends):
                if number == 0:
                    break
                number -= 1
        return tuple(current)

    def _assume_landed(self) -> None:
        if self.unreported is not None:
            self.settled.update(self.unreported.hunks)
            self.unreported = None


def _hunks(steps: tuple[Step, ...]) -> list[str]:
    return [name for patch in patches(steps) for name in patch.hunks]


def _without(steps: tuple[Step, ...], gone: set[str] | frozenset[str]) -> tuple[Step, ...]:
    """``steps`` without these hunks; a patch that loses any also loses the text before it."""
    left: list[Step] = []
    for step in steps:
        if isinstance(step, Patch) and gone.intersection(step.hunks):
            while left and isinstance(left[-1], Say | Think):
                left.pop()
            names = tuple(name for name in step.hunks if name not in gone)
            step = Patch(names, step.limit)
            if not names:
                continue
        left.append(step)
    return tuple(left)


def _passed(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """``steps`` without faults that happen only once, and without the steps that they cut."""
    left: list[Step] = []
    for step in steps:
        if not (isinstance(step, Fail | Close) and step.once):
            left.append(step)
        elif left and isinstance(left[-1], Say | Think | Patch) and left[-1].limit is not None:
            left.pop()
    return tuple(left)


def _expand(steps: tuple[Step, ...], owed: tuple[Step, ...]) -> Iterable[Step]:
    """``steps`` with :class:`Rest` replaced by the ``owed`` steps, up to the last patch."""
    last = max((n for n, step in enumerate(owed) if isinstance(step, Patch)), default=-1)
    for step in steps:
        if isinstance(step, Rest):
            yield from owed[: last + 1]
        else:
            yield step


def _is_report(text: str, reported: Sequence[Reported]) -> bool:
    """Whether a user message is none of the user's words, but only a report or the project's data. Codex puts
    what it tells of its surroundings into one element, as ``<environment_context>``."""
    told = bool(reported) and text.lstrip().startswith("What became of your edits")
    return told or text.startswith(HEADS) or _ELEMENT.fullmatch(text.strip()) is not None


def _says(scenario: Scenario, begun: str) -> bool:
    """Whether one of the scenario's texts begins like ``begun``."""
    texts = (step.text for step in scenario.steps if isinstance(step, Say))
    return any(_squeeze(text)[:_TAIL] == begun for text in texts)


def _squeeze(text: str) -> str:
    return "".join(text.split())
