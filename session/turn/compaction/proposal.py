"""Writes the dialogue for a request to summarize it, and checks the model's reply.

The reply is untrusted. It has to be one JSON object of the form the instructions give. Lines that are too
long, contain code, or mention files, names or subjects that do not occur in the dialogue are dropped and
counted. Edits and failures are never taken from the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from context.text.safe import fenced, harmless
from session.base.events import LedgerProposed
from session.base.text.sanitize import clean_line
from session.turn.compaction.summary import Entry, Kind, Section, Summary
from session.turn.compaction.summary_by_rules import LONGEST, done, state, without_code
from session.turn.past_turns import PastTurn

MOST_LINES = 20
"""Most lines of one kind that are taken from a reply."""
LONGEST_REPLY = 40_000
"""Most characters of a reply; a longer one is refused."""
_GROUNDED = 0.5
"""Least share of a line's longer words that must occur in the dialogue."""

_LISTS = ("constraints", "decisions", "next")
_WORD = re.compile(r"[^\W\d_]{4,}")
_NAME = re.compile(r"`([^`]+)`|([\w.-]*/[\w./-]+|\b[\w-]+\.(?=[A-Za-z])[A-Za-z0-9]{1,8}\b)")
_CODE = re.compile(
    r"```|~~~|[{};]\s*$|^\s*(?:def|class|import|from|function|const|let|var|return|#include)\s+\S+.*[(:={]"
)
_STEM = 5
"""Number of first letters by which words are compared, so that "colours" is "colour"."""


class ProposalError(Exception):
    """A reply is not a summary; the message says why."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The words (as stems) and the text of the dialogue, which a line of the reply may mention."""

    stems: frozenset[str]
    text: str

    @classmethod
    def of(cls, turns: Iterable[PastTurn]) -> Grounds:
        """The words and text of ``turns``."""
        parts = [part for turn in turns for part in (turn.prompt, turn.said, *(e.path for e in turn.edits))]
        text = "\n".join(parts).lower()
        return cls(frozenset(_stems(text)), text)

    def support(self, line: str) -> bool:
        """Whether ``line`` mentions only names that occur in the dialogue, and mostly words that do."""
        names = (quoted or plain for quoted, plain in _NAME.findall(line))
        if not all(name.lower().strip("./ ") in self.text for name in names):
            return False
        stems = _stems(line.lower())
        return bool(stems) and sum(stem in self.stems for stem in stems) >= _GROUNDED * len(stems)


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in _WORD.findall(text)]


def dialogue_for_model(turns: Sequence[PastTurn], limit: int, count: Callable[[str], int]) -> str:
    """The dialogue for the request, in at most ``limit`` tokens: the newest turns that fit, without code.

    A fence separates each part from the instructions around it.
    """
    kept: list[str] = []
    for turn in reversed(turns):
        parts = [f"## {turn.turn} ({state(turn)})\nThe developer asked:\n", fenced("", harmless(turn.prompt))]
        said = without_code(turn.said).strip()
        if said:
            parts += ["The answer, without code:\n", fenced("", harmless(said))]
        parts += [entry.block() for entry in done([turn])]
        text = "".join(parts)
        limit -= count(text)
        if limit < 0:
            break
        kept.append(text)
    return "".join(reversed(kept))


def read_reply(text: str, turns: Sequence[PastTurn], tokens: tuple[int, int]) -> LedgerProposed:
    """The lines of a model's reply about ``turns`` that pass the checks.

    ``tokens`` are those of the request and of its answer. Raises ProposalError if the reply is not a summary.
    """
    table = _parsed(text)
    grounds = Grounds.of(turns)
    goal = table.get("goal", "")
    if not isinstance(goal, str):
        raise ProposalError("its goal is not a string")
    rejected = 0
    taken: dict[str, tuple[str, ...]] = {}
    for name in _LISTS:
        given = table.get(name, [])
        if not isinstance(given, list):
            raise ProposalError(f"its {name} are not a list")
        lines = [line for each in given[:MOST_LINES] if (line := _believed(each, grounds))]
        rejected += len(given) - len(lines)
        taken[name] = tuple(dict.fromkeys(lines))
    believed = _believed(goal, grounds) if goal.strip() else ""
    return LedgerProposed(
        through=turns[-1].turn,
        goal=believed,
        constraints=taken["constraints"],
        decisions=taken["decisions"],
        next=taken["next"],
        rejected=rejected + (bool(goal.strip()) and not believed),
        input_tokens=tokens[0],
        output_tokens=tokens[1],
    )


def _parsed(text: str) -> dict[str, object]:
    if len(text) > LONGEST_REPLY:
        raise ProposalError("it is too long")
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ProposalError("it holds no JSON object")
    try:
        table = json.loads(text[start : end + 1])
    except (ValueError, RecursionError) as problem:
        raise ProposalError("it is not valid JSON") from problem
    if not isinstance(table, dict):
        raise ProposalError("it holds no JSON object")
    return table


def _believed(line: object, grounds: Grounds) -> str:
    """``line`` as text for the summary; empty if it does not pass the checks."""
    if not isinstance(line, str) or len(line) > LONGEST or "\n" in line.strip() or _CODE.search(line):
        return ""
    plain = clean_line(line)
    return plain if plain and grounds.support(plain) else ""


def with_proposal(summary: Summary, proposed: LedgerProposed | None, turns: Sequence[PastTurn]) -> Summary:
    """``summary``, which was made by rules from ``turns``, with the model's account of them added.

    The user's own sentences stay. The model's decisions and next steps replace those of the rules for the
    turns that the model has seen.
    """
    names = [turn.turn for turn in turns]
    if proposed is None or not (proposed.goal or proposed.constraints or proposed.decisions or proposed.next):
        return summary
    at = names.index(proposed.through) if proposed.through in names else len(names)
    seen = set(names[: at + 1])
    # Next steps from more than a turn ago are done or dropped by now.
    upcoming = proposed.next if at >= len(names) - 2 else ()
    account = {
        Kind.CONSTRAINTS: ("Constraints (as you summed them up)", proposed.constraints),
        Kind.NEXT: ("Next (as you summed it up)", upcoming),
        Kind.DECISIONS: ("Decisions (as you summed them up)", proposed.decisions),
    }
    sections: list[Section] = []
    for kind in Kind:
        title, lines = account.get(kind, ("", ()))
        own = [section for section in summary.sections if section.kind is kind]
        if lines and kind is not Kind.CONSTRAINTS:
            own = [_later(section, seen) for section in own]
        known = {entry.text for section in own for entry in section.entries}
        own.append(Section(kind, title, tuple(Entry(line) for line in lines if line not in known)))
        sections += [section for section in own if section.entries]
    goal = (Entry(proposed.goal),) if proposed.goal else summary.goal
    return replace(summary, goal=goal, sections=tuple(sections), by="model")


def _later(section: Section, seen: set[str]) -> Section:
    return replace(section, entries=tuple(each for each in section.entries if each.turn not in seen))
