"""Effort ``auto``: the table that the rules were set by, and what the turn before changes."""

from __future__ import annotations

import pytest

from session.models.effort import LEVELS, Before, nearest, pick

LOG = "\n".join(f"  File x.py, line {number}, in call" for number in range(15))
PARAGRAPH = "and so that it all fits together with the rest of the house and its many rooms " * 5

TABLE = [
    # small changes and questions
    ("rename foo to bar in utils.py", "low", "small change"),
    ("fix the typo in the README", "low", "small change"),
    ("What does parse() return?", "low", "question"),
    ("where is the port read", "low", "question"),
    ("make the greeting polite", "low", "short request"),
    ("just make it work", "low", "asks for speed"),
    ("hm", "low", "short request"),
    ("", "low", "short request"),
    # the usual
    ("add a --json flag to the command and write it down in the help", "medium", "new code"),
    ("explain the architecture of this project", "medium", "design"),
    ("change @a.py, @b.py and src/c.py to take the new argument", "medium", "names several files"),
    ("quickly debug this", "medium", "debugging"),
    (f"make it so that {PARAGRAPH}", "medium", "long request"),
    (f"see to this: the list should be sorted by name and then by age\n{LOG}", "medium", "pasted text"),
    ("use a dict here in place of the list of pairs, since the order is what the caller wants", "medium",
     "ordinary request"),
    # what wants thought
    ("fix the race in server.py", "high", "debugging"),
    ("why does the second request hang? It is flaky", "medium", "debugging"),
    ("refactor the loader across all modules", "high", "design, many places"),
    ("rewrite the cache so that it is thread-safe", "high", "design"),
    (f"fix this crash\n{LOG}", "high", "debugging, pasted text"),
    ("Think hard: is the order of these locks right", "high", "asks for care"),
    # the hardest
    ("design a plugin protocol, think carefully about edge cases, and build it across the project", "xhigh",
     "design, asks for care"),
    (f"find the root cause of this deadlock and restructure the locks\n{LOG}", "xhigh", "debugging, design"),
]  # fmt: skip


@pytest.mark.parametrize(("request_", "effort", "why"), TABLE, ids=[row[0][:40] for row in TABLE])
def test_size_and_kind_decide(request_: str, effort: str, why: str) -> None:
    picked = pick(request_, LEVELS)
    assert picked.effort == effort
    assert picked.why.startswith(why)


def test_words_within_words_are_not_found() -> None:
    assert pick("trace the embrace of grace with the commentary", LEVELS).why == "short request"


LONG = 9_000
"""Tokens of a conversation that is worth keeping."""


@pytest.mark.parametrize(
    ("request_", "before", "effort", "why"),
    [
        # another try is a level above the last, however short
        ("try again", Before("low", tokens=LONG), "medium", "another try"),
        ("still wrong", Before("high", tokens=LONG), "xhigh", "another try"),
        ("try again", Before("xhigh", tokens=LONG), "xhigh", "another try"),
        # so is what follows an answer that did not help, unless it is plainly something small
        ("go on with the other places that you have not yet come to, one after the other, and see to it",
         Before("medium", "after refused hunks", tokens=LONG), "high", "after refused hunks"),
        ("try again", Before("medium", "after refused hunks"), "high", "after refused hunks"),
        ("rename x to y", Before("medium", "after refused hunks"), "low", "small change"),
        # a redirect is about the same task: never below it
        ("use two colours", Before("high", redirect=True), "high", "redirect of the same task"),
        ("use two colours", Before("low", redirect=True), "low", "short request"),
        ("no: redesign the loader", Before("low", redirect=True), "high", "design"),
        # a long conversation is not sent anew for little
        ("where is the port read, in which of the files and by whom, and is it read again later on",
         Before("medium", tokens=LONG), "medium", "as before; question"),
        ("where is the port read, in which of the files and by whom, and is it read again later on",
         Before("medium", tokens=100), "low", "question"),
        ("fix the typo in the README", Before("medium", tokens=LONG), "low", "small change"),
        ("design the protocol carefully, in all modules", Before("medium", tokens=LONG), "xhigh", "design"),
        ("fix the race in server.py", Before("medium", tokens=LONG), "medium", "as before; debugging"),
        ("fix the race in server.py", Before("low", tokens=LONG), "high", "debugging"),
    ],
)  # fmt: skip
def test_the_turn_before_has_its_say(request_: str, before: Before, effort: str, why: str) -> None:
    picked = pick(request_, LEVELS, before)
    assert (picked.effort, picked.why.split(",")[0]) == (effort, why)


@pytest.mark.parametrize(
    ("effort", "known", "given"),
    [
        ("xhigh", ("low", "medium", "high"), "high"),
        ("medium", ("low", "high"), "low"),
        ("low", ("high", "xhigh"), "high"),
        ("medium", ("none", "max"), "none"),
        ("low", (), ""),
        ("medium", LEVELS, "medium"),
    ],
)
def test_only_what_the_model_has_is_asked_for(effort: str, known: tuple[str, ...], given: str) -> None:
    assert nearest(effort, known) == given


def test_a_model_without_efforts_is_asked_without() -> None:
    picked = pick("design everything anew", ())
    assert (picked.effort, picked.why) == ("", "this model has no efforts")
