"""Makes the events that tell of a race."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from session.base.events import (
    AttemptAgain,
    AttemptAnswered,
    AttemptChecked,
    AttemptProgress,
    BaselineChecked,
    RaceEnded,
    RaceStarted,
    Usage,
)
from session.base.text.sanitize import clean_line
from session.checks.finding import Finding, Verdict
from session.checks.mentions import mentions
from session.checks.red import Printed, Red, red_request
from session.race.attempt import Attempt
from session.race.attempt_life import Judgement, Result, Standing
from session.race.kept_race import KeptAttempt, KeptRace
from session.race.plan import Estimate, RacePlan
from session.race.race_rules import Decided, Race


def race_started(
    turn: str, plan: RacePlan, input_tokens: int, likely: Estimate, later: Estimate
) -> RaceStarted:
    """The attempts begin. ``later`` is what another answer of one is likely to take."""
    return RaceStarted(
        turn=turn,
        attempts=len(plan.variations),
        checks=tuple(check.name for check in plan.checks),
        input_tokens=input_tokens,
        estimate=str(likely),
        limits=str(plan.limits),
        rounds=plan.rounds,
        round_estimate=str(later) if plan.rounds else "",
    )


def baseline_checked(turn: str, verdict: Verdict) -> BaselineChecked:
    """What a check said of the project as it was."""
    return BaselineChecked(
        turn=turn,
        check=verdict.check.name,
        status=str(verdict.status),
        seconds=round(verdict.seconds, 3),
        findings=tuple(map(str, verdict.findings)),
        why=verdict.why,
        where=verdict.where,
        walls=verdict.walls,
    )


def attempt_answered(turn: str, attempt: Attempt, result: Result) -> AttemptAnswered:
    """An attempt's answer is whole."""
    change = attempt.answers[-1].change
    return AttemptAnswered(
        turn=turn,
        attempt=attempt.number,
        hunks=len(change.edits),
        lines=result.lines,
        paths=tuple(clean_line(path) for path in change.files),
        answer=len(attempt.answers),
    )


def attempt_checked(turn: str, attempt: int, answer: int, judgement: Judgement) -> AttemptChecked:
    """What a check said of an answer of an attempt."""
    verdict = judgement.verdict
    unclear = judgement.standing is Standing.UNCLEAR
    return AttemptChecked(
        turn=turn,
        attempt=attempt,
        check=verdict.check.name,
        status="unclear" if unclear else str(verdict.status),
        seconds=round(verdict.seconds, 3),
        findings=tuple(map(str, verdict.findings)),
        why=judgement.why,
        as_before=judgement.standing is Standing.AS_BEFORE,
        answer=answer,
        where=verdict.where,
        walls=verdict.walls,
    )


def attempt_again(turn: str, attempt: Attempt, answer: int, told: Judgement) -> AttemptAgain:
    """A red attempt is asked for another answer."""
    return AttemptAgain(
        turn=turn,
        attempt=attempt.number,
        answer=answer,
        check=told.verdict.check.name,
        tokens=attempt.meter.tokens,
        why=told.why,
    )


def request_of(judgements: Sequence[Judgement]) -> str:
    """What an attempt is told to answer again: what the checks found against it, and what they printed, as
    ``/fix`` sends it."""
    found, printed = [], []
    for each in judgements:
        verdict, name = each.verdict, each.verdict.check.name
        told = verdict.findings or (Finding("", 0, verdict.why),)
        found += [
            Red(f"{at.path}:{at.line}" if at.line else at.path, clean_line(at.message), name) for at in told
        ]
        if output := verdict.excerpt or verdict.last:
            named = mentions((place.path, place.line) for place in verdict.places)
            printed.append(Printed(name, output, named))
    return red_request(found, printed)


def attempt_progress(turn: str, attempt: Attempt) -> AttemptProgress:
    """How far an attempt is."""
    meter = attempt.meter
    return AttemptProgress(
        turn=turn,
        attempt=attempt.number,
        tokens=meter.output_tokens,
        rate=round(meter.rate, 1),
        hunks=meter.hunks,
        refused=meter.refused,
    )


def race_ended(
    turn: str, race: Race, decided: Decided, attempts: Collection[Attempt], seconds: float
) -> RaceEnded:
    """A race is decided."""
    lives = race.lives.values()
    priced = bool(attempts) and all(each.variation.chosen.price is not None for each in attempts)
    return RaceEnded(
        turn=turn,
        winner=decided.winner or None,
        best=decided.best or None,
        attempts=len(lives),
        green=sum(map(race.all_green, lives)),
        tokens=sum(each.meter.tokens for each in attempts),
        seconds=round(seconds, 3),
        cost=round(sum(each.cost() for each in attempts), 6) if priced else None,
        why=decided.why,
        again=sum(life.asked - 1 for life in lives),
    )


def kept_race(
    prompt: str, session: str, turn: str, taken: int, race: Race, attempts: Mapping[int, Attempt]
) -> KeptRace:
    """A race as it is kept on disk; the hunks of ``turn`` are those of attempt ``taken``."""
    kept = []
    for number, attempt in attempts.items():
        life = race.lives[number]
        verdicts = tuple(
            f"{each.verdict.check.name} {each.standing}{f': {each.why}' if each.why else ''}"
            for each in life.judgements
        )
        kept.append(
            KeptAttempt(
                number,
                str(life.state),
                life.why,
                attempt.meter.tokens,
                life.result.lines,
                verdicts,
                attempt.change.diff(),
                attempt.said,
            )
        )
    return KeptRace(prompt, session, turn, taken, tuple(kept))


def race_usage(turn: str, counted: Sequence[Usage], kept: int) -> Usage:
    """The sum of what the answers of the attempts took, as far as that was counted. ``kept`` are the output
    tokens of what landed."""
    costs = [part.cost for part in counted]
    first = [part.first_token_seconds for part in counted if part.first_token_seconds is not None]
    rates = [part.tokens_per_second for part in counted if part.tokens_per_second is not None]
    return Usage(
        turn=turn,
        input_tokens=sum(part.input_tokens for part in counted),
        cached_tokens=sum(part.cached_tokens for part in counted),
        output_tokens=sum(part.output_tokens for part in counted),
        reasoning_tokens=sum(part.reasoning_tokens for part in counted),
        estimated=any(part.estimated for part in counted),
        model=counted[0].model if counted else "",
        cost=None if not costs or None in costs else sum(cost for cost in costs if cost is not None),
        first_token_seconds=min(first, default=None),
        tokens_per_second=sum(rates) if rates else None,
        kept_tokens=kept,
        plan=counted[0].plan if counted else "",
    )
