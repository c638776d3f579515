"""Reading a summary out of the dialogue by plain rules (``rules.toml``), without a model.

Modest on purpose: a line is taken over as it was said, or not at all. What the edits came to is told by the
record of edits, never by what an answer claims.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from session.compaction.summary import Entry, Kind, Message, Section, Summary
from session.memory.past_turns import EditFact, PastTurn
from session.text.sanitize import clean_line

LONGEST = 300
"""Characters of a line of the summary; a longer sentence is left to the message it stands in."""
SHORTEST = 8
MOST = 40
"""Lines of one kind; the newest are kept."""
MOST_FAILING = 12
LAST_WORDS = 600
"""Characters of the last answer's end that are kept where its turn is not."""

_REMEMBERED = 4_096
"""Texts whose lines are remembered."""

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKER = re.compile(r"^\s*(?:[-*+•]|\d+[.)]|#{1,6})\s+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(])")
_JOINT = re.compile(rf"{_SENTENCE.pattern}|\n+")
"""Where the end of an answer may begin."""
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
    table = tomllib.loads(resources.files("session.compaction").joinpath("rules.toml").read_text("utf-8"))

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
    """``text`` without its fenced blocks; one that is never closed goes to the end."""
    return "\n".join(line for line, code in _marked(text) if not code)


@lru_cache(maxsize=_REMEMBERED)
def code_blocks(text: str) -> int:
    """How many fenced blocks ``text`` holds."""
    fences = 0
    inside = False
    for _, code in _marked(text):
        fences += code and not inside
        inside = code
    return fences


def _marked(text: str) -> Iterator[tuple[str, bool]]:
    """The lines of ``text``, and whether each belongs to a fenced block (its fences do)."""
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
    """The summary of ``turns``, of which there is at least one. ``whole_last`` says that the last answer is
    shown in its own words elsewhere, or that nothing of it is wanted."""
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
    """Whether what ``turn`` asked for is done or pending, by how it ended."""
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
    """What the edits came to, one line a file, in the order of the files' first edits."""
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
    """Each hunk's last fate, in the order of the hunks' first mention."""
    fates: dict[str, EditFact] = {}
    for edit in edits:
        fates[edit.hunk] = edit
    return list(fates.values())


def _shortened(hunks: list[str]) -> str:
    return ", ".join(hunks) if len(hunks) <= 6 else f"{', '.join(hunks[:5])} and {len(hunks) - 5} more"


def _goal(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    """The first request's first sentence, which names what the session is about more often than not."""
    for turn in turns:
        for sentence in sentences(turn.prompt):
            return (Entry(sentence, turn.turn),)
    return ()


def _constraints(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    return _newest((sentence, turn.turn) for turn in turns for sentence in _constraining(turn.prompt))


def _decisions(turns: Sequence[PastTurn]) -> tuple[Entry, ...]:
    return _newest((sentence, turn.turn) for turn in turns for sentence in _deciding(turn.said))


def _newest(lines: Iterable[tuple[str, str]]) -> tuple[Entry, ...]:
    """The newest of these lines, each once, with its turn."""
    found = {line: Entry(line, turn) for line, turn in lines}
    return tuple(found.values())[-MOST:]


# The turns of a dialogue are read again with each compaction, and most of them have not changed.


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
    """What failed, in the last message that quotes any, unless a later one says that it passes."""
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
    """The commands whose last run failed, as the record has it."""
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
