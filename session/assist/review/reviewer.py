"""Asks a model to review a change, and gives its findings one by one as they stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from session.assist.review.change import ReviewedChange
from session.assist.review.finding import ReviewFinding, UnusableError, read_finding
from session.assist.review.request import ASK, instructions, requests
from session.record.turn_cost import Tally
from session.setup.model_choice import ModelChoice
from session.setup.model_connecting import open_connection
from session.setup.opening import Opening
from session.setup.served_default import pick
from session.tools.toolbox import Toolbox
from session.wire.protocol import events as wire
from session.wire.protocol.items import Item, user_message
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError
from session.wire.transport.model_list import fetch_listed

MOST_FINDINGS = 100
"""Findings of one review; a model that has more to say is stopped."""
_LONGEST_LINE = 100_000
_CHARACTERS_PER_TOKEN = 4
LONGEST_ANSWER = 8_000
"""Most tokens of an answer."""
_MOST_PER_TOKEN = 32
"""Characters; the rest of an answer that has more for each of its tokens is not read."""

Ask = Callable[[RequestProfile, tuple[Item, ...]], AsyncGenerator[wire.WireEvent, None]]
"""Asks a model for the answer to the items, which are the whole input."""


@dataclass(frozen=True, slots=True)
class ReviewEnded:
    """The end of a review: tokens of all requests, their cost in US dollars (None if unknown), and how many
    findings did not fit the change and were left out."""

    findings: int
    unusable: int
    tokens: int
    cost: float | None
    estimated: bool


async def review(
    opening: Opening, change: ReviewedChange, *, security: bool
) -> AsyncIterator[ReviewFinding | ReviewEnded]:
    """Review ``change``; the last item is the end. Raises LinkError."""
    choice = await _choice(opening)
    profile = _profile(choice, security=security)
    asked = Asked(change, Tally("review", choice.model.name, choice.price))
    if change.files:
        connection = open_connection(opening, choice, profile)
        assert connection is not None, "callers tell what is missing"
        try:
            async with contextlib.aclosing(asked.findings(connection.ask_in_parallel, profile)) as findings:
                async for finding in findings:
                    yield finding
        finally:
            await connection.close()
    used = asked.tally.event()
    tokens = used.input_tokens + used.output_tokens
    yield ReviewEnded(asked.found, asked.unusable, tokens, used.cost, used.estimated)


class Asked:
    """One review of ``change``: its requests, and what came of them so far."""

    def __init__(
        self, change: ReviewedChange, tally: Tally, *, known: str = "", most: int = MOST_FINDINGS
    ) -> None:
        """``known`` tells the model what it need not report; at most ``most`` findings are taken."""
        self.tally = tally
        self.found = 0
        self.unusable = 0
        """Findings that did not fit the change, and were left out."""
        self.whole = True
        """Whether every answer so far has come to its end."""
        self._change = change
        self._known = known
        self._most = most

    async def findings(self, ask: Ask, profile: RequestProfile) -> AsyncGenerator[ReviewFinding, None]:
        """Ask, and give each finding once. Raises LinkError."""
        seen: set[tuple[str, str, int]] = set()
        for text in await asyncio.to_thread(lambda: list(requests(self._change.files))):
            async with contextlib.aclosing(self._lines(ask, profile, text)) as lines:
                async for line in lines:
                    try:
                        finding = read_finding(line, self._change)
                    except UnusableError:
                        self.unusable += 1
                        continue
                    if finding.identity not in seen:
                        seen.add(finding.identity)
                        self.found += 1
                        yield finding
                    if self.found == self._most:
                        self.whole = True  # all that is taken has come
                        return
            if not self.whole:
                return

    async def _lines(self, ask: Ask, profile: RequestProfile, text: str) -> AsyncGenerator[str, None]:
        """The lines of an answer that look like findings, each as soon as it is whole."""
        request = f"{ASK}\n{self._known}" if self._known else ASK
        rest, said = "", 0
        counted: wire.TokenUsage | None = None
        self.whole = False
        try:
            async with contextlib.aclosing(
                ask(profile, (user_message(text), user_message(request)))
            ) as events:
                async for event in events:
                    self.tally.saw(event)
                    match event:
                        case wire.Created():
                            rest = ""
                        case wire.TextDelta(text=piece):
                            said += len(piece)
                            if said > LONGEST_ANSWER * _MOST_PER_TOKEN:
                                return
                            *whole, rest = (rest + piece).split("\n")
                            rest = rest[:_LONGEST_LINE]
                            for line in _findings(whole):
                                yield line
                        case wire.Finished(usage=counted):
                            self.whole = True
                        case _:
                            pass
            for line in _findings([rest]):
                yield line
        finally:
            if counted is not None:
                self.tally.count(counted)
            else:
                sent = len(text) + len(profile.instructions)
                self.tally.estimate(sent // _CHARACTERS_PER_TOKEN, said // _CHARACTERS_PER_TOKEN)


async def _choice(opening: Opening) -> ModelChoice:
    """The configured model, or the default that the key can use."""
    choice = ModelChoice(opening, "review", Toolbox())
    if opening.default_unsettled and opening.endpoint is not None:
        with contextlib.suppress(LinkError):  # the review itself tells what is wrong
            today = date.today()
            listed = [row.name for row in await fetch_listed(opening.endpoint) if row.usable(today)]
            order = opening.catalogue.provider(opening.settings.provider).coding
            if (name := pick(order, listed)) is not None:
                choice.choose(model=opening.catalogue.model(name, opening.settings.provider))
    return choice


def _profile(choice: ModelChoice, *, security: bool) -> RequestProfile:
    profile = choice.profile()
    return replace(
        profile,
        instructions=instructions(security=security),
        tools=(),
        prompt_cache_key=None,
        include=(),
        max_output_tokens=min(profile.max_output_tokens or LONGEST_ANSWER, LONGEST_ANSWER),
    )


def _findings(lines: Sequence[str]) -> list[str]:
    return [line for line in map(str.strip, lines) if line.startswith("{")]
