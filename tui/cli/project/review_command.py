"""``spark review``: findings on a change, for people, pre-commit hooks and CI."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tui.cli.options import asking_options, json_option, opening
from tui.front.exits import CONFIGURATION, FAILED, USAGE, leave
from tui.front.exits import exit_code as code_for
from tui.front.printing import say, say_json

if TYPE_CHECKING:
    from session.assist.review.change import ReviewedChange
    from session.assist.review.finding import ReviewFinding
    from session.assist.review.reviewer import ReviewEnded
    from session.setup.opening import Opening


@click.command("review")
@click.argument("range_", required=False, metavar="[RANGE]")
@click.option("--security", is_flag=True, help="Look for security holes alone.")
@click.option("--sarif", "as_sarif", is_flag=True, help="Print SARIF 2.1.0 when the review is over.")
@json_option
@asking_options
def command(
    range_: str | None, security: bool, as_sarif: bool, as_json: bool, folder: Path, **given: Any
) -> None:
    """Review the uncommitted change, or what the commits of RANGE changed.

    RANGE is A..B, A...B or one commit. Each finding is on changed lines; nothing is written. Leaves with 1
    where a finding is an error, with 3 or 4 where the review could not be made.
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
    raise SystemExit(_run(opened, change, security, as_json=as_json, as_sarif=as_sarif, began=began))


def _change(root: Path, range_: str | None) -> ReviewedChange:
    from session.assist.review.git_change import NoRepositoryError, RangeError, of_range, uncommitted

    try:
        return of_range(root, range_) if range_ else uncommitted(root)
    except RangeError as problem:
        leave(str(problem), USAGE)
    except NoRepositoryError as problem:
        leave(f"there is nothing to compare with: {problem}", CONFIGURATION)


def _run(
    opened: Opening,
    change: ReviewedChange,
    security: bool,
    *,
    as_json: bool,
    as_sarif: bool,
    began: float,
) -> int:
    import asyncio

    from session.assist.review.finding import Severity
    from session.wire.transport.errors import LinkError

    findings: list[ReviewFinding] = []

    async def follow() -> ReviewEnded:
        from session.assist.review.reviewer import ReviewEnded, review

        async for each in review(opened, change, security=security):
            if isinstance(each, ReviewEnded):
                return each
            findings.append(each)
            if as_json:
                say_json({**_record(each), "t": round(time.monotonic() - began, 3)})
            elif not as_sarif:
                say(_text(each))
        raise AssertionError("a review has an end")

    try:
        ended = asyncio.run(follow())
    except LinkError as problem:
        leave(problem.message, code_for("failed", problem.kind.value, refused=False))
    if as_sarif:
        from importlib.metadata import version

        from session.assist.review.sarif import sarif

        say_json(sarif(findings, version("spark")))
    elif as_json:
        told = {"findings": ended.findings, "tokens": ended.tokens, "cost": ended.cost}
        say_json({"type": "review.ended", **told, "t": round(time.monotonic() - began, 3)})
    _tell_end(change, ended)
    return FAILED if any(each.severity is Severity.ERROR for each in findings) else 0


def _tell_end(change: ReviewedChange, ended: ReviewEnded) -> None:
    """One line on standard error: how much was looked at, and what it took."""
    files = len(change.files)
    if not files:
        say("nothing to review: no text has changed", err=True)
        return
    found = f"{ended.findings} finding{'s' if ended.findings != 1 else ''}"
    left = f" · {ended.unusable} left out that did not fit the change" if ended.unusable else ""
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
