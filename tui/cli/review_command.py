"""``spark review``: findings on a change, for people, pre-commit hooks and CI."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, json_option, opening
from tui.front.exits import CONFIGURATION, DONE, FAILED, NO_REVIEW, UNREACHABLE, USAGE, leave
from tui.front.exits import exit_code as code_for
from tui.front.printing import say, say_json

if TYPE_CHECKING:
    from session.assist.review.change import ReviewedChange
    from session.assist.review.finding import ReviewFinding
    from session.assist.review.reviewer import Estimate, ReviewEnded
    from session.setup.opening import Opening


_MOST_TOLD = 10
"""Findings that were left out."""
MOST_TOKENS = 100_000
"""What is sent without a question, about."""


@click.command("review")
@click.argument("range_", required=False, metavar="[RANGE]")
@click.option("--security", is_flag=True, help="Look for security holes alone.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0 when the review is over.")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=MOST_TOKENS,
    metavar="TOKENS",
    help=f"Send at most about so many tokens unasked ({MOST_TOKENS:,}).",
)
@json_option
@asking_options
def review_command(
    range_: str | None, security: bool, as_sarif: bool, most: int, as_json: bool, folder: Path, **given: Any
) -> None:
    """Review the uncommitted change, or what the commits of RANGE changed.

    RANGE is A..B, A...B or one commit. Each finding is on changed lines; nothing is written. Leaves with 1
    where a finding is an error, with 3 or 4 where the review could not be made, and with 5 where the model's
    answer is no review, or the change is larger than was agreed to.
    """
    began = time.monotonic()
    if as_json and as_sarif:
        raise click.UsageError("--json and --sarif exclude each other")
    opened = opening(folder, **given)
    if opened.endpoint is None:
        import asyncio

        from session.setup.model_offers import with_hint

        leave(asyncio.run(with_hint(opened)).missing, CONFIGURATION)
    change = _change(opened.workspace.root, range_)
    for each in change.left_out:
        say(f"not reviewed: {each.path}: {each.why}", err=True)
    out = _Output(as_json=as_json, as_sarif=as_sarif, began=began)
    ended = _run(opened, change, security, partial(_agreed, most), out)
    code = _code(ended, out.findings)
    out.end(ended, code)
    _tell_end(change, ended)
    raise SystemExit(code)


def _change(root: Path, range_: str | None) -> ReviewedChange:
    from session.assist.review.git_change import NoRepositoryError, RangeError, of_range, uncommitted

    try:
        return of_range(root, range_) if range_ else uncommitted(root)
    except RangeError as problem:
        leave(str(problem), USAGE)
    except NoRepositoryError as problem:
        leave(f"there is nothing to compare with: {problem}", CONFIGURATION)


@dataclass
class _Output:
    """What is printed on standard output, as it comes."""

    as_json: bool
    as_sarif: bool
    began: float
    findings: list[ReviewFinding] = field(default_factory=list)

    def found(self, finding: ReviewFinding) -> None:
        self.findings.append(finding)
        if self.as_json:
            say_json({**_record(finding), "t": self._seconds()})
        elif not self.as_sarif:
            say(_text(finding))

    def end(self, ended: ReviewEnded, code: int) -> None:
        problem = _problem(ended)
        if self.as_sarif:
            from importlib.metadata import version

            from session.assist.review.finding import sarif

            say_json(sarif(self.findings, version("spark"), code, problem))
        elif self.as_json:
            say_json(
                {
                    "type": "review.ended",
                    "status": "failed" if ended.failed else "unclear" if problem else "completed",
                    "findings": ended.findings,
                    "left_out": len(ended.left_out),
                    "tokens": ended.tokens,
                    "cost": ended.cost,
                    **({"message": problem} if problem else {}),
                    "t": self._seconds(),
                }
            )

    def _seconds(self) -> float:
        return round(time.monotonic() - self.began, 3)


def _run(
    opened: Opening,
    change: ReviewedChange,
    security: bool,
    agreed: Callable[[Estimate], bool],
    out: _Output,
) -> ReviewEnded:
    import asyncio

    async def follow() -> ReviewEnded:
        from session.assist.review.reviewer import ReviewEnded, review

        async for each in review(opened, change, security=security, agreed=agreed):
            if isinstance(each, ReviewEnded):
                return each
            out.found(each)
        raise AssertionError("a review has an end")

    return asyncio.run(follow())


def _agreed(most: int, estimate: Estimate) -> bool:
    """Whether so much may be sent: above ``most`` tokens the user is asked, who may not be there."""
    if estimate.tokens <= most:
        return True
    cost = f", about ${estimate.cost:.2f}" if estimate.cost is not None else ""
    size = f"this review would send about {estimate.tokens:,} tokens in {estimate.requests} requests{cost}"
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"spark: {size}: --most {estimate.tokens} agrees to that", err=True)
        return False
    return click.confirm(f"{size[0].upper()}{size[1:]}. Send it?", default=False, err=True)


def _code(ended: ReviewEnded, findings: Sequence[ReviewFinding]) -> int:
    """The exit code. A lost connection is never FAILED, which says that an error was found."""
    from session.assist.review.finding import Severity

    if ended.failed is not None:
        code = code_for("failed", ended.failed.kind.value, refused=False)
        return UNREACHABLE if code == FAILED else code
    if any(each.severity is Severity.ERROR for each in findings):
        return FAILED
    return NO_REVIEW if ended.unclear else DONE


def _problem(ended: ReviewEnded) -> str:
    """Why the review is none, or not the whole; empty where it is."""
    return ended.failed.message if ended.failed is not None else ended.unclear


def _tell_end(change: ReviewedChange, ended: ReviewEnded) -> None:
    """Lines on standard error: what is wrong with the review, how much was looked at, and what it took."""
    for why in ended.left_out[:_MOST_TOLD]:
        say(f"left out: {why}", err=True)
    if problem := _problem(ended):
        say(f"spark: {'' if ended.failed else 'this is not a whole review: '}{problem}", err=True)
    files = len(change.files)
    if not files:
        say("nothing to review: no text has changed", err=True)
        return
    found = f"{ended.findings} finding{'s' if ended.findings != 1 else ''}"
    left = f" · {len(ended.left_out)} left out that did not fit the change" if ended.left_out else ""
    cost = f" · ${ended.cost:.4f}" if ended.cost is not None else ""
    about = "about " if ended.estimated else ""
    say(
        f"{found} in {files} file{'s' if files != 1 else ''}{left} · {about}{ended.tokens:,} tokens{cost}",
        err=True,
    )


def _text(finding: ReviewFinding) -> str:
    lines = [f"{finding.path}:{finding.start}: {finding.severity}: {finding.message} [{finding.kind}]"]
    if finding.why:
        lines.append(f"    {finding.why}")
    if finding.fix is not None:
        lines += [f"    - {line}" for line in finding.fix.old]
        lines += [f"    + {line}" for line in finding.fix.new]
    return "\n".join(lines)


def _record(finding: ReviewFinding) -> dict[str, Any]:
    record: dict[str, Any] = {
        "type": "finding",
        "path": finding.path,
        "start": finding.start,
        "end": finding.end,
        "severity": str(finding.severity),
        "kind": finding.kind,
        "message": finding.message,
        "why": finding.why,
    }
    if finding.fix is not None:
        old, new = "\n".join(finding.fix.old), "\n".join(finding.fix.new)
        record["fix"] = {"start": finding.fix.start, "old": old, "new": new}
    return record
