"""Token counts, costs, times, speeds and the ends of turns, measured and worded for every front end."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from session.base.events import TurnStarted, Usage
    from session.record.usage import Accounts, Spent

CHARS_PER_TOKEN = 4
"""The average number of characters of a token, used only for the live estimate."""
WINDOW = 1.0
"""The live speed is measured over this many seconds."""
LEAST = 0.2
"""A first burst counts as at least this long, in seconds, so that its speed is not overstated."""


def thousands(count: int) -> str:
    """A token count in short form: ``980``, ``12.3k``, ``1.2M``."""
    if count < 1000:
        return str(count)
    if count < 100_000:
        return f"{count / 1000:.1f}k"
    return f"{count / 1000:.0f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


def dollars(amount: float) -> str:
    """A number in short form. A number above zero is never shown as zero."""
    if 0 < amount < 0.01:
        return f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"
    return f"${amount:,.2f}"


def duration(seconds: float) -> str:
    """A duration in short form: ``54 ms``, ``1.2 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def cached_share(taken: Spent) -> str:
    """The cached share of the input, as ``71%``; empty when nothing was cached."""
    return f"{100 * taken.cached / taken.input:.0f}%" if taken.cached and taken.input else ""


def cost(taken: Spent) -> str:
    """The cost in dollars, that it is unknown, or that a plan paid; and how many turns each leaves out."""
    known = taken.known_cost
    plan = f"on the {taken.plan} plan"
    if known is None and not taken.unpriced and taken.planned:
        return plan
    return " + ".join(
        text
        for text, told in (
            ("price unknown" if known is None else dollars(known), True),
            (
                f"{taken.unpriced} of {taken.turns} turns of unknown price",
                taken.unpriced and known is not None,
            ),
            (f"{taken.planned} of {taken.turns} turns {plan}", taken.planned),
        )
        if told
    )


def said(taken: Spent) -> str:
    """All figures in one line: ``12.3k in (71% cached) · 840 out (120 reasoning) · $0.02``."""
    share = cached_share(taken)
    parts = [
        thousands(taken.input) + " in" + (f" ({share} cached)" if share else ""),
        thousands(taken.output)
        + " out"
        + (f" ({thousands(taken.reasoning)} reasoning)" if taken.reasoning else ""),
        cost(taken),
    ]
    if taken.estimated:
        guessed = 100 * taken.estimated / (taken.input + taken.output)
        parts.append("estimated" if guessed >= 100 else f"{guessed:.0f}% estimated")
    return " · ".join(parts)


def compact(taken: Spent) -> tuple[str, ...]:
    """The figures for the status line in several lengths, the longest first; the line shows the longest that
    fits."""
    if not taken.turns:
        return ()
    mark = "~" if taken.estimated else ""
    money = dollars(taken.cost) if taken.known_cost is not None else ""
    share = cached_share(taken)
    tokens = f"{mark}{thousands(taken.input)} in", f"{thousands(taken.output)} out"
    full = [tokens[0] + (f" ({share} cached)" if share else ""), tokens[1], money]
    return tuple(dict.fromkeys(" · ".join(filter(None, each)) for each in (full, [*tokens, money], [money])))


def speeds(usage: Usage) -> str:
    """The speed of a turn: ``first token 54 ms · 1,043 tok/s · round trip 12 ms``; empty if unknown."""
    first, rate, trip = usage.first_token_seconds, usage.tokens_per_second, usage.round_trip_seconds
    return " · ".join(
        text
        for text in (
            "" if first is None else f"first token {duration(first)}",
            "" if rate is None else f"{rate:,.0f} tok/s",
            "" if trip is None else f"round trip {duration(trip)}",
        )
        if text
    )


def effort_said(started: TurnStarted) -> str:
    """The effort that ``auto`` chose: ``auto: low (short request)``; empty where the user chose it."""
    if started.effort_why is None:
        return ""
    return f"auto: {started.effort or 'none'} ({started.effort_why})"


def turn_said(usage: Usage, started: TurnStarted | None = None) -> str:
    """The figures of a turn in one line, shown when it ends."""
    from session.record.usage import spent

    effort = effort_said(started) if started is not None else ""
    return " · ".join(text for text in (effort, said(spent(usage)), speeds(usage)) if text)


def turn_brief(usage: Usage) -> str:
    """What a turn cost and how fast it was, for its footer: ``840 out · $0.02 · 1,043 tok/s``."""
    from session.record.usage import spent

    taken, rate = spent(usage), usage.tokens_per_second
    price = dollars(taken.known_cost) if taken.known_cost is not None else ""
    speed = "" if rate is None else f"{rate:,.0f} tok/s"
    return " · ".join(filter(None, (f"{thousands(taken.output)} out", price, speed)))


def stopped_line(landed: int, *, called: bool) -> str:
    """How a stopped turn ended, in which so many hunks landed; ``called``: it called a tool."""
    if not landed:
        return "Stopped." if called else "Stopped. No files changed."
    return f"Stopped. {landed} landed hunk{'s stay' if landed > 1 else ' stays'}."


async def report(accounts: Accounts, prices: str) -> str:
    """The figures of the session and of the day, one line each, then ``prices``, the line that names the
    prices used. Raises StoreError where the figures of the day cannot be read."""
    total, (today, aside) = accounts.total, await accounts.today()
    lines = ["this session: nothing yet"]
    if total.turns:
        last = accounts.turns[-1]
        lines = [
            f"this session, {_turns(total.turns)}: {said(total)}",
            f"its last turn, {last.model or 'unknown model'}: {turn_said(last)}",
        ]
    whole_day = f", all projects, {_turns(today.turns)}: {said(today)}" if today.turns else ": nothing yet"
    lines.append("today" + whole_day)
    if aside.turns:
        requests = "1 request" if aside.turns == 1 else f"{aside.turns:,} requests"
        lines.append(f"suggestions and reviews today, {requests}: {said(aside)}")
    return "\n".join([*lines, prices])


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


class Meter:
    """Tokens of the running turn."""

    def __init__(self) -> None:
        self.used = 0
        """Tokens in the model's window as of the last count."""
        self.estimated = False
        self._input = self._base = 0
        self._chars = 0
        self._first: float | None = None
        self._recent: deque[tuple[float, int]] = deque()

    def begin(self, input_tokens: int) -> None:
        """A request of ``input_tokens`` is sent."""
        self._input = self._base = self.used = input_tokens
        self.estimated = False
        self._chars = 0
        self._first = None
        self._recent.clear()

    def took(self, chars: int, now: float) -> None:
        """Characters of the answer arrived."""
        while self._recent and self._recent[0][0] < now - WINDOW:
            self._recent.popleft()
        if self._first is None or not self._recent:
            self._first = now
        self._chars += chars
        self._recent.append((now, chars))
        self.used = self._base + self._chars // CHARS_PER_TOKEN
        self.estimated = True

    def counted(self, usage: Usage) -> None:
        """The server reported the tokens of the turn so far. It counts input tokens once per request of the
        turn, so they do not tell how full the window is; the count before sending does."""
        kept = usage.output_tokens if usage.kept_tokens is None else usage.kept_tokens
        self.used = self._input + kept
        self.estimated = usage.estimated
        self._base, self._chars = self.used, 0

    def paused(self) -> None:
        """The stream pauses while a tool call runs or the user is asked."""
        self._first = None
        self._recent.clear()

    def speed(self, now: float) -> float | None:
        """Tokens per second over the last second; None when none arrived."""
        chars = sum(chars for at, chars in self._recent if at >= now - WINDOW)
        if self._first is None or not chars:
            return None
        return chars / CHARS_PER_TOKEN / min(WINDOW, max(now - self._first, LEAST))
