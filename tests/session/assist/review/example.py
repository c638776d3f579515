"""A finding that tests have the partner tell."""

from __future__ import annotations

ERROR = {
    "path": "a.py",
    "start": 2,
    "end": 2,
    "severity": "error",
    "kind": "division-by-zero",
    "message": "An empty list divides by zero.",
    "why": "mean([]) raises.",
    "fix": {"old": "    return sum(all) / len(all)", "new": "    return sum(all) / len(all) if all else 0"},
}
