"""Makes a summary of the dialogue by plain rules (``rules.toml``), without a model.

A sentence is copied as it is, or not at all. What was edited comes from the record of edits, never from what
an answer claims.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from session.base.text.sanitize import clean_line
from session.turn.compaction.summary import Entry, Kind, Message, Section, Summary
from session.turn.past_turns import EditFact, PastTurn

LONGEST = 300
"""Most characters of a line of the summary; longer sentences are not copied."""
SHORTEST = 8
"""Fewest characters of a line of the summary."""
MOST = 40
"""Most lines of one kind; the newest are kept."""
MOST_FAILING = 12
"""Most lines about failing checks, and about failed commands."""
LAST_WORDS = 600
"""Most characters of the last answer's end that are kept if its turn is not shown whole."""

_REMEMBERED = 4_096
"""Number of texts whose sentences are cached."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6})\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_JOINT = re.compile(rf"{_SENTENCE.pattern}|\n+")
"""Matches between sentences: the end of an answer that is kept begins after one of these."""
_LANDED = ("applied", "applied_fuzzy", "already_applied", "landed again by the developer")


@dataclass(frozen=True, slots=True)
class _Rules:
    constraint: re.Pattern[str]
    decision: re.Pattern[str]
    next: re.Pattern[str]
    next_heading: re.Pattern[str]
    failing: re.Pattern[str]
    passing: re.Pattern[str]


@cache
def _rules() -> _Rules:
    table = tomllib.loads(
        resources.files("session.turn.compaction").joinpath("rules.toml").read_text("utf-8")
    )

    def any_of(name: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{each})" for each in table[name]), flags)

    return _Rules(
        constraint=any_of("constraint"),
        decision=any_of("decision"),
        next=any_of("next"),
        next_heading=re.compile(table["next_heading"], re.IGNORECASE),
        failing=any_of("failing", 0),
        passing=any_of("passing"),
    )


def without_code(text: str) -> str:
    """``text`` without its fenced blocks. A block that is never closed reaches to the end."""
    return "\n".join(line for line, code in _marked(text) if not code)


@lru_cache(maxsize=_REMEMBERED)
def code_blocks(text: str) -> int:
    """The number of fenced blocks in ``text``."""
    fences = 0
    inside = False
    for _, code in _marked(text):
        fences += code and not inside
        inside = code
    return fences


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of ``text``, each with whether it is part of a fenced block or one of its fences."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            yield line, True
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            fence = found[1]
            yield line, True
        else:
            yield line, False


def sentences(text: str) -> Iterator[str]:
    """The sentences of ``text`` outside code and quotations, on one line each, without list markers."""
    for line in without_code(text).split("\n"):
        if line.lstrip().startswith(">"):
            continue
        for sentence in _SENTENCE.split(_MARKER.sub("", line)):
            plain = clean_line(sentence)
            if SHORTEST <= len(plain) <= LONGEST:
                yield plain


def summarize(turns: Sequence[PastTurn], *, whole_last: bool) -> Summary:
    """The summary of ``turns``, of which there is at least one. With ``whole_last`` it leaves out how the
    last answer ended, since that answer is shown elsewhere."""
    last = turns[-1]
    sections = (
        Section(Kind.CONSTRAINTS, "Constraints, in the developer's words", _constraints(turns)),
        Section(Kind.FAILING, *_failing(turns)),
        Section(Kind.FAILING, "Commands that failed when they were last run", _failed_runs(turns)),
        Section(Kind.DONE, "Done (from the record of edits)", done(turns)),
        Section(Kind.NEXT, "Next (as your last answers put it; not checked)", _next(turns[-2:])),
        Section(Kind.DECISIONS, "Decisions (as your answers put it; not checked)", _decisions(turns)),
    )
    return Summary(
        first=turns[0].turn,
        through=last.turn,
        turns=len(turns),
        last=f"{last.turn}, {state(last)}",
        goal=_goal(turns),
        sections=tuple(section for section in sections if section.entries),
        messages=tuple(Message(each.turn, each.prompt, state(each)) for each in turns if each.prompt.strip()),
        last_words="" if whole_last else _last_words(last),
    )


def state(turn: PastTurn) -> str:
    """The state of what ``turn`` asked for, done or pending, judged by how the turn ended."""
    if turn.status == "interrupted":
        return "pending: the developer stopped the answer"
    if turn.status == "failed":
        return "pending: the answer failed"
    if not turn.status:
        return "pending: not ended"
    open_edits = sorted(edit.hunk for edit in _latest(turn.edits) if edit.status.startswith("rejected"))
    if open_edits:
        return f"answered; not landed: {', '.join(open_edits[:8])}"
    return "done"


def done(turns: Iterable[PastTurn]) -> tuple[Entry, ...]:
    """The edits of ``turns`` and how they ended: one line per file, in the order of the first edits."""
    files: dict[str, dict[str, list[str]]] = {}
    for edit in _latest([edit for turn in turns for edit in turn.edits]):
        kind = "landed" if edit.status in _LANDED else edit.status
        files.setdefault(edit.path, {}).setdefault(kind, []).append(edit.hunk)
    lines = []
    for path, kinds in files.items():
        told = "; ".join(f"{_shortened(hunks)} {kind}" for kind, hunks in kinds.items())
        lines.append(Entry(clean_line(f"{path}: {told}")))
    return tuple(lines[-MOST:])


def _latest(edits: Sequence[EditFact]) -> list[EditFact]:
    """The last fact about each hunk, in the order in which the hunks first occur."""
    fates: dict[str, EditFact] = {}
    for edit in edits:
        fates[edit.hunk] = edit
    return list(fates.values())


def _shortened(hunks: list[str]) -> str:
    return ", ".join(hunks) if len(hunks) <= 6 else f"{', '.join(hunks[:5])} and {len(hunks) - 5} more"


def _goal(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    """The first sentence of the first request, which usually names the session's subject."""
    for turn in turns:
        for sentence in sentences(turn.prompt):
            return (Entry(sentence, turn.turn),)
    return ()


def _constraints(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    return _newest((sentence, turn.turn) for turn in turns for sentence in _constraining(turn.prompt))


def _decisions(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    return _newest((sentence, turn.turn) for turn in turns for sentence in _deciding(turn.said))


def _newest(lines: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """The newest of ``lines`` (text and turn), without repetitions."""
    found = {line: Entry(line, turn) for line, turn in lines}
    return tuple(found.values())[-MOST:]


# Every compaction reads all turns again, and most of them have not changed: the results are cached.


@lru_cache(maxsize=_REMEMBERED)
def _constraining(prompt: str) -> tuple[str, ...]:
    rule = _rules().constraint
    return tuple(each for each in sentences(prompt) if not each.endswith("?") and rule.search(each))


@lru_cache(maxsize=_REMEMBERED)
def _deciding(said: str) -> tuple[str, ...]:
    rule = _rules().decision
    return tuple(each for each in sentences(said) if rule.search(each))


def _next(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    rules = _rules()
    found: dict[str, Entry] = {}
    for turn in turns:
        listed = False
        for line in without_code(turn.said).split("\n"):
            plain = clean_line(_MARKER.sub("", line)).strip("*_ ")
            if rules.next_heading.match(plain):
                listed = True
            elif listed and _MARKER.match(line) and plain and len(plain) <= LONGEST:
                found[plain] = Entry(plain, turn.turn)
            elif plain:
                listed = False
                for sentence in sentences(line):
                    if rules.next.search(sentence):
                        found[sentence] = Entry(sentence, turn.turn)
    return tuple(found.values())[-MOST:]


def _failing(turns: Sequence[PastTurn]) -> tuple[str, tuple[Entry, ...]]:
    """The title and lines of the failures that the last message with any quotes.

    There are none if a later message says that the checks pass.
    """
    rules = _rules()
    for at in range(len(turns) - 1, -1, -1):
        turn = turns[at]
        lines = [clean_line(line) for line in turn.prompt.split("\n") if rules.failing.search(line)]
        lines = [line[:LONGEST] for line in dict.fromkeys(lines)]
        if lines:
            landed = any(edit.status in _LANDED for later in turns[at:] for edit in later.edits)
            since = "edits have landed since, and whether they help was not said" if landed else "still open"
            title = f"Failing checks (as the developer quoted them; {since})"
            return title, tuple(Entry(line, turn.turn) for line in lines[-MOST_FAILING:])
        if any(rules.passing.search(sentence) for sentence in sentences(turn.prompt)):
            break
    return "", ()


def _failed_runs(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    """The commands whose last run failed, from the record of tool calls."""
    last: dict[str, Entry | None] = {}
    for turn in turns:
        for run in turn.runs:
            command = run.line.rsplit(" · ", 2)[0]
            last.pop(command, None)
            last[command] = Entry(clean_line(run.line)[:LONGEST], turn.turn) if run.failed else None
    return tuple(entry for entry in last.values() if entry is not None)[-MOST_FAILING:]


def _last_words(turn: PastTurn) -> str:
    """The end of the answer, in whole sentences, without code."""
    whole = without_code(turn.said).strip()
    starts = [0, *(joint.end() for joint in _JOINT.finditer(whole))]
    start = next((at for at in starts if len(whole) - at <= LAST_WORDS), None)
    if start is None:
        return ""
    return f"… (its beginning is left out)\n{whole[start:]}" if start else whole
