"""What happens about a project's files that would instruct the model or set something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class TrustAsked(Event):
    """The user has not agreed to what these files say, so nothing of them is used; ``changed``: not to what
    at least one of them says now. Empty: nothing is asked any more."""

    type: ClassVar[str] = "trust.asked"
    paths: tuple[str, ...]
    changed: bool = False


@dataclass(frozen=True, slots=True)
class InstructionsUnused(Event):
    """A request goes out without these instructions of the project, to which the user has not agreed."""

    type: ClassVar[str] = "trust.unused"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrustAnswered(Event):
    """The user agreed, or not, to what these files say."""

    type: ClassVar[str] = "trust.answered"
    paths: tuple[str, ...]
    agreed: bool
