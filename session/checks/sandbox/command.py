"""A command for a sandbox: what to run, with which environment, and how much it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from session.checks.sandbox.plan import Limits


@dataclass(frozen=True, slots=True)
class Command:
    """One command. It is ended after ``seconds``, and where it passes one of its ``limits``."""

    line: Sequence[str]
    """The program and its arguments."""
    seconds: float
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = field(default_factory=Limits)
    network: bool = False
