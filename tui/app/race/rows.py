"""A race as rows of styled text, folded from its events. No widgets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from session.base.events import (
    AttemptAgain,
    AttemptAnswered,
    AttemptChecked,
    AttemptEnded,
    AttemptProgress,
    AttemptStarted,
    BaselineChecked,
    Event,
    RaceEnded,
    RaceStarted,
)
from session.race.kept_race import KeptRace
from tui.front.words.check_lines import WALLS, ended_line, race_estimate
from tui.front.words.figures import thousands
from tui.screen.drawing.plain import clipped, drawn, visible
from tui.screen.drawing.rows import Row, Span

MOST_LINES = 2_000
"""Lines of a diff that are drawn."""
_SIGNS: dict[str, Span] = {
    "starting": ("◌", "muted"),
    "streaming": ("●", "accent"),
    "judging": ("◐", "warning"),
    "won": ("✓", "success"),
    "green": ("✓", "success"),
    "red": ("✗", "error"),
    "cut": ("–", "muted"),
    "failed": ("✗", "error"),
}
_VERDICTS: dict[str, Span] = {
    "green": ("✓", "success"),
    "as_before": ("≈", "warning"),
    "red": ("✗", "error"),
    "unclear": ("?", "warning"),
}
_LONGEST_NAME = 14


@dataclass(slots=True)
class AttemptRow:
    """What is shown of one attempt."""

    number: int
    state: str = "starting"
    asked: str = ""
    """The model and effort."""
    tokens: int = 0
    rate: float = 0.0
    hunks: int = 0
    refused: int = 0
    lines: int = 0
    verdicts: dict[str, str] = field(default_factory=dict)
    """What each check said, by its name."""
    where: dict[str, str] = field(default_factory=dict)
    """The worker on which each check ran, where that was not this machine."""
    answer: int = 1
    """The number of its answer."""
    why: str = ""


class RaceView:
    """A race as far as its events tell it."""

    def __init__(self) -> None:
        self.attempts: dict[int, AttemptRow] = {}
        self.checks: tuple[str, ...] = ()
        self.turn = ""
        self.winner = 0
        self._before: dict[str, str] = {}
        self._head = ""
        self._walls = ""
        """The walls in which the checks run, where they are not the usual ones."""
        self._told_before = True
        """Whether it is known what the checks said before any change."""
        self.ended: RaceEnded | None = None

    @classmethod
    def of_kept(cls, race: KeptRace) -> RaceView:
        """A race of an earlier session, as it is kept on disk."""
        view = cls()
        view._head, view._told_before = f"the last race: {race.prompt}", False
        view.winner = race.taken
        for each in race.attempts:
            view.attempts[each.number] = AttemptRow(
                each.number,
                state=each.status,
                tokens=each.tokens,
                lines=each.lines,
                verdicts=each.standings,
                why=each.why,
            )
        view.checks = tuple(dict.fromkeys(name for each in race.attempts for name in each.standings))
        return view

    def take(self, event: Event) -> bool:
        """Fold an event in; returns whether it is one of a race."""
        match event:
            case RaceStarted(turn=turn, attempts=attempts, checks=checks):
                self.turn, self.checks, self.ended, self.winner = turn, checks, None, 0
                self._before, self._told_before, self._walls = {}, True, ""
                self.attempts = {number: AttemptRow(number) for number in range(1, attempts + 1)}
                self._head = f"race of {attempts} · {race_estimate(event)}"
            case BaselineChecked(check=check, status=status):
                self._before.setdefault(check, status)
                self._walls = WALLS.get(event.walls, "").replace(" · ", ", ")
            case RaceEnded(winner=winner):
                self.ended, self.winner = event, winner or 0
            case (
                AttemptStarted()
                | AttemptProgress()
                | AttemptAnswered()
                | AttemptChecked()
                | AttemptAgain()
                | AttemptEnded()
            ) if event.attempt in self.attempts:
                self._attempt(self.attempts[event.attempt], event)
            case _:
                return False
        return True

    def _attempt(self, row: AttemptRow, event: Event) -> None:
        match event:
            case AttemptStarted(model=model, effort=effort):
                row.state = "streaming"
                row.asked = f"{model} {effort}".strip()
            case AttemptProgress():
                row.tokens, row.rate = event.tokens, event.rate
                row.hunks, row.refused = event.hunks, event.refused
            case AttemptAnswered(hunks=hunks, lines=lines):
                row.state, row.hunks, row.lines = "judging", hunks, lines
            case AttemptChecked(check=check, status=status):
                row.verdicts[check] = "as_before" if event.as_before else status
                if event.where not in ("", "here"):
                    row.where[check] = event.where
            case AttemptAgain(answer=answer):
                row.state, row.answer, row.verdicts = "streaming", answer, {}
            case AttemptEnded(status=status, why=why):
                row.state, row.why, row.answer = status, why, event.answer
                row.tokens = max(row.tokens, event.tokens)  # with those that were sent
            case _:
                pass

    def rows(self, width: int, most: int, fill: str = "panel") -> list[Row]:
        """The head and a row for each attempt, at most ``most`` rows of ``width`` cells."""
        shown = list(self.attempts.values())
        if len(shown) > most - 1:
            live = [row for row in shown if row.state in ("streaming", "judging", "won", "green")]
            shown = (live + [row for row in shown if row not in live])[: most - 1]
            shown.sort(key=lambda row: row.number)
        return [self.head(width, fill), *(self.row(each, width, fill=fill) for each in shown)]

    def head(self, width: int, fill: str = "panel") -> Row:
        """What the race is and takes, or how it ended."""
        if self.ended is not None:
            role = "success" if self.ended.winner else "warning"
            return Row(_clipped([(" " + visible(ended_line(self.ended, width - 1)), role)], width), fill)
        if not self._told_before:
            return Row(_clipped([(f" {visible(self._head)}", "strong")], width), fill)
        before = [_verdict(check, self._before.get(check, "")) for check in self.checks]
        spans: list[Span] = [
            (f" {visible(self._head)}", "strong"),
            (f" · before, here{self._walls}:", "muted"),
        ]
        return Row(_clipped([*spans, *(span for pair in before for span in pair)], width), fill)

    def row(self, attempt: AttemptRow, width: int, *, fill: str = "panel", mark: str = " ") -> Row:
        """One attempt: its state, speed, hunks, checks and reason."""
        sign, role = _SIGNS.get(attempt.state, (" ", "text"))
        hunks = f"{attempt.hunks} hunk{'' if attempt.hunks == 1 else 's'}"
        refused = f", {attempt.refused} refused" if attempt.refused else ""
        lines = f" {attempt.lines} line{'' if attempt.lines == 1 else 's'}" if attempt.lines else ""
        rate = f" {attempt.rate:,.0f}/s" if attempt.state == "streaming" and attempt.rate else ""
        spans: list[Span] = [
            (f"{mark}{attempt.number:>3} ", "muted"),
            (f"{sign} {attempt.state:<9}", role),
            (f" answer {attempt.answer}" if attempt.answer > 1 else "", "accent"),
            (f" {thousands(attempt.tokens):>6}{rate} ", "text"),
            (f" {hunks if self._told_before else ''}{refused}{lines} ", "muted"),
        ]
        for check in self.checks:
            spans += _verdict(check, attempt.verdicts.get(check, ""))
            if check in attempt.where:
                spans.append((f" on {visible(attempt.where[check])}", "faint"))
        if attempt.why:
            spans.append((f"  {visible(attempt.why)}", "faint"))
        return Row(_clipped(spans, width), fill)


def diff_rows(diff: str, width: int) -> list[Row]:
    """The first lines of a unified diff as coloured rows."""
    rows = []
    lines = diff.splitlines()
    for line in lines[:MOST_LINES]:
        if line.startswith(("+++", "---")):
            role = "strong"
        elif line.startswith("@@"):
            role = "accent"
        elif line.startswith("+"):
            role = "added"
        else:
            role = "removed" if line.startswith("-") else "muted"
        rows.append(Row([(drawn(line, width), role)], "panel"))
    if len(lines) > MOST_LINES:
        left = f"… {len(lines) - MOST_LINES:,} lines more: spark race prints all of them"
        rows.append(Row([(clipped(left, width), "muted")], "panel"))
    return rows


def _verdict(check: str, status: str) -> list[Span]:
    sign, role = _VERDICTS.get(status, ("·", "faint"))
    return [(f" {sign}", role), (clipped(visible(check), _LONGEST_NAME), "muted")]


def _clipped(spans: Sequence[Span], width: int) -> list[Span]:
    left = width
    kept: list[Span] = []
    for text, role in spans:
        if left <= 0:
            break
        piece = clipped(text, left)
        kept.append((piece, role))
        left -= len(piece)
    return kept
