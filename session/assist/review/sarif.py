"""Findings as SARIF 2.1.0, the format that code hosts and editors read.

Source: https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from session.assist.review.finding import Fix, ReviewFinding

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[ReviewFinding], version: str, code: int, problem: str) -> dict[str, Any]:
    """One run with all ``findings``; ``version`` is spark's, ``code`` the exit code. ``problem`` says why the
    review is none, or not the whole; empty where it is."""
    kinds = sorted({finding.kind for finding in findings})
    invocation: dict[str, Any] = {"executionSuccessful": not problem, "exitCode": code}
    if problem:
        told = {"level": "error", "message": {"text": problem}}
        invocation |= {"exitCodeDescription": problem, "toolExecutionNotifications": [told]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "spark", "version": version, "rules": [{"id": kind} for kind in kinds]}
                },
                "invocations": [invocation],
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, kinds.index(finding.kind)) for finding in findings],
            }
        ],
    }


def _result(finding: ReviewFinding, rule: int) -> dict[str, Any]:
    text = f"{finding.message} {finding.why}".strip()
    place = {
        "artifactLocation": {"uri": quote(finding.path)},
        "region": {"startLine": finding.start, "endLine": finding.end},
    }
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
    if finding.fix is not None:
        result["fixes"] = [_fix(finding.path, finding.fix)]
    return result


def _fix(path: str, fix: Fix) -> dict[str, Any]:
    after = fix.start + len(fix.old)
    region = {"startLine": fix.start, "startColumn": 1, "endLine": after, "endColumn": 1}
    new = "".join(f"{line}\n" for line in fix.new)
    replaced = {"deletedRegion": region, "insertedContent": {"text": new}}
    return {"artifactChanges": [{"artifactLocation": {"uri": quote(path)}, "replacements": [replaced]}]}
