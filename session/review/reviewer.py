"""Asks a model to review a change, and gives its findings one by one as they stream."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from session.link.connection import Connection
from session.model_choice.choice import ModelChoice
from session.model_choice.connecting import open_connection
from session.model_choice.default_model import pick
from session.protocol import events as wire
from session.protocol.items import user_message
from session.protocol.request import RequestProfile
from session.review.change import ReviewedChange
from session.review.finding import ReviewFinding, UnusableError, read_finding
from session.review.request import ASK, instructions, requests
from session.setup.opening import Opening
from session.tools.toolbox import Toolbox
from session.transport.errors import LinkError
from session.transport.model_list import fetch_listed
from session.usage.tally import Tally

MOST_FINDINGS = 100
"""Findings of one review; a model that has more to say is stopped."""
_LONGEST_LINE = 100_000
_CHARACTERS_PER_TOKEN = 4
_ENDED = 8_000
"""Most tokens of an answer."""


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
    texts = await asyncio.to_thread(lambda: list(requests(change.files)))
    found: dict[tuple[str, str, int], ReviewFinding] = {}
    unusable = 0
    tally = Tally("review", choice.model.name, choice.price)
    profile = _profile(choice, security=security)
    if texts:
        connection = open_connection(opening, choice, profile)
        assert connection is not None, "callers tell what is missing"
        try:
            for text in texts:
                async for line in _lines(connection, profile, text, tally):
                    try:
                        finding = read_finding(line, change)
                    except UnusableError:
                        unusable += 1
                        continue
                    if finding.identity not in found:
                        found[finding.identity] = finding
                        yield finding
                    if len(found) == MOST_FINDINGS:
                        break
                if len(found) == MOST_FINDINGS:
                    break
        finally:
            await connection.close()
    used = tally.event()
    yield ReviewEnded(len(found), unusable, used.input_tokens + used.output_tokens, used.cost, used.estimated)


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
        max_output_tokens=min(profile.max_output_tokens or _ENDED, _ENDED),
    )


async def _lines(
    connection: Connection, profile: RequestProfile, text: str, tally: Tally
) -> AsyncIterator[str]:
    """The lines of an answer that look like findings, each as soon as it is whole."""
    items = (user_message(text), user_message(ASK))
    rest, said = "", 0
    counted: wire.TokenUsage | None = None
    events: AsyncGenerator[wire.WireEvent, None] = connection.ask_in_parallel(profile, items)
    try:
        async with contextlib.aclosing(events) as stream:
            async for event in stream:
                tally.saw(event)
                match event:
                    case wire.Created():
                        rest = ""
                    case wire.TextDelta(text=piece):
                        said += len(piece)
                        *whole, rest = (rest + piece).split("\n")
                        rest = rest[:_LONGEST_LINE]
                        for line in _findings(whole):
                            yield line
                    case wire.Finished(usage=counted):
                        pass
                    case _:
                        pass
        for line in _findings([rest]):
            yield line
    finally:
        if counted is not None:
            tally.count(counted)
        else:
            sent = len(text) + len(profile.instructions)
            tally.estimate(sent // _CHARACTERS_PER_TOKEN, said // _CHARACTERS_PER_TOKEN)


def _findings(lines: Sequence[str]) -> list[str]:
    return [line for line in map(str.strip, lines) if line.startswith("{")]
