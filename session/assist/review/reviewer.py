"""Asks a model to review a change, and gives its findings one by one as they stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from session.assist.review.answer import Answer
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.assist.review.finding import ReviewFinding, UnchangedError, UnusableError, read_finding
from session.assist.review.request import ASK, instructions, requests
from session.base.text.sanitize import clean_line
from session.models.catalogue import Price
from session.record.turn_cost import Tally
from session.setup.model_choice import ModelChoice
from session.setup.opening import Opening
from session.setup.served_models import open_connection, pick
from session.tools.toolbox import Toolbox
from session.wire.protocol import events as wire
from session.wire.protocol.items import Item, user_message
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError
from session.wire.transport.model_list import fetch_listed

MOST_FINDINGS = 100
"""Findings of one review; a model that has more to say is stopped."""
CHARACTERS_PER_TOKEN = 3
"""Of code with numbers before its lines; an estimate is rather too high."""
NO_END = "the answer has no end"
_FULL = f"it ended after {MOST_FINDINGS} findings"
LONGEST_ANSWER = 8_000
"""Most tokens of an answer."""
_MOST_PER_TOKEN = 32
"""Characters; the rest of an answer that has more for each of its tokens is not read."""

Ask = Callable[[RequestProfile, tuple[Item, ...]], AsyncGenerator[wire.WireEvent, None]]
"""Asks a model for the answer to the items, which are the whole input."""


@dataclass(frozen=True, slots=True)
class ReviewEnded:
    """The end of a review: tokens of all requests, and their cost in US dollars (None if unknown).

    ``left_out`` says of each finding that was left out why. ``unclear`` says why the review is none, or not
    the whole; without it, everything that the model said was understood. ``failed`` is the failure that ended
    it."""

    findings: int
    tokens: int
    cost: float | None
    estimated: bool
    left_out: tuple[str, ...] = ()
    unclear: str = ""
    failed: LinkError | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a review would send: about so many tokens, at what cost in US dollars (None if unknown)."""

    requests: int
    tokens: int
    cost: float | None


async def review(
    opening: Opening, change: ReviewedChange, *, security: bool, agreed: Callable[[Estimate], bool]
) -> AsyncIterator[ReviewFinding | ReviewEnded]:
    """Review ``change``, once it is ``agreed`` to what that would send; the last item is the end."""
    choice = await _choice(opening)
    profile = _profile(choice, security=security)
    asked = Asked(change, Tally("review", choice.model.name, choice.price, plan=choice.plan_title))
    failed: LinkError | None = None
    unclear = ""
    if change.files:
        estimate = await asyncio.to_thread(_estimate, change, profile, choice.price)
        if agreed(estimate):
            connection = open_connection(opening, choice, profile)
            assert connection is not None, "callers tell what is missing"
            try:
                findings = asked.findings(connection.ask_in_parallel, profile)
                async with contextlib.aclosing(findings) as found:
                    async for finding in found:
                        yield finding
            except LinkError as problem:
                failed = problem
            finally:
                await connection.close()
        else:
            unclear = f"nothing was sent: it would be about {estimate.tokens:,} tokens"
    used = asked.tally.event()
    yield ReviewEnded(
        asked.found,
        used.input_tokens + used.output_tokens,
        used.cost,
        used.estimated,
        tuple(asked.left_out),
        unclear or asked.unclear or asked.misread or (_FULL if asked.full else ""),
        failed,
    )


def tokens_of(files: Sequence[ReviewedFile]) -> int:
    """About how many tokens a review of these files sends, without its instructions."""
    return sum(map(len, requests(files))) // CHARACTERS_PER_TOKEN


def _estimate(change: ReviewedChange, profile: RequestProfile, price: Price | None) -> Estimate:
    count = sum(1 for _ in requests(change.files))
    tokens = tokens_of(change.files) + count * len(profile.instructions) // CHARACTERS_PER_TOKEN
    return Estimate(count, tokens, price.cost(tokens, 0, 0) if price is not None else None)


class Asked:
    """One review of ``change``: its requests, and what came of them so far."""

    def __init__(
        self, change: ReviewedChange, tally: Tally, *, known: str = "", most: int = MOST_FINDINGS
    ) -> None:
        """``known`` tells the model what it need not report; at most ``most`` findings are taken."""
        self.tally = tally
        self.found = 0
        self.left_out: list[str] = []
        """Why findings were left out, each."""
        self.misread = ""
        """Why one of them could not be placed, and may be one of the change all the same."""
        self.unclear = ""
        """Why the answers so far are no whole review; empty where they are."""
        self.full = False
        """Whether the rest was not looked at, since enough was found."""
        self._change = change
        self._known = known
        self._most = most

    async def findings(self, ask: Ask, profile: RequestProfile) -> AsyncGenerator[ReviewFinding, None]:
        """Ask, and give each finding once. Raises LinkError."""
        seen: set[ReviewFinding] = set()
        for text in await asyncio.to_thread(lambda: list(requests(self._change.files))):
            answer, placed, before = Answer(), 0, len(self.left_out)
            async with contextlib.aclosing(self._records(ask, profile, text, answer)) as records:
                async for record in records:
                    finding = self._read(record)
                    placed += finding is not None
                    if isinstance(finding, ReviewFinding) and finding not in seen:
                        seen.add(finding)  # others on the same line may be worse
                        self.found += 1
                        yield finding
                    if self.found == self._most:
                        self.unclear, self.full = "", True  # all that is taken has come
                        return
            if not self.unclear and not placed and len(self.left_out) > before:
                self.unclear = self.misread
            if self.unclear:
                return

    def _read(self, record: dict[str, Any]) -> ReviewFinding | UnchangedError | None:
        """The finding, or why it is none of the change; None where that cannot be said."""
        try:
            return read_finding(record, self._change)
        except UnusableError as problem:
            self.left_out.append(str(problem))
            if isinstance(problem, UnchangedError):
                return problem
            self.misread = f"a finding cannot be placed: {problem}"
            return None

    async def _records(
        self, ask: Ask, profile: RequestProfile, text: str, answer: Answer
    ) -> AsyncGenerator[dict[str, Any], None]:
        """What may be findings in the answer to one request, each as soon as it is whole."""
        request = f"{ASK}\n{self._known}" if self._known else ASK
        said = 0
        counted: wire.TokenUsage | None = None
        self.unclear = NO_END
        try:
            async with contextlib.aclosing(
                ask(profile, (user_message(text), user_message(request)))
            ) as events:
                async for event in events:
                    self.tally.saw(event)
                    match event:
                        case wire.Created():
                            answer.begin()
                        case wire.TextDelta(text=piece):
                            said += len(piece)
                            if said > LONGEST_ANSWER * _MOST_PER_TOKEN:
                                self.unclear = "the answer is longer than was asked for"
                                return
                            for record in answer.feed(piece):
                                yield record
                        case wire.Finished(status=status, reason=reason, usage=counted):
                            why = clean_line(reason or status)
                            self.unclear = "" if status == "completed" else f"the answer was cut ({why})"
                        case _:
                            pass
            for record in answer.end():
                yield record
            self.unclear = self.unclear or answer.unclear
        finally:
            if counted is not None:
                self.tally.count(counted)
            else:
                sent = len(text) + len(profile.instructions)
                self.tally.estimate(sent // CHARACTERS_PER_TOKEN, said // CHARACTERS_PER_TOKEN)


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
