"""What a redirect asks for, where the script has no answer of its own to it: to stop, to go on, a part of the
edits alone, another name. Pure, no I/O.

The partner has no language model. Words that it does not understand are answered with what it does
understand, and with nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from edits.hunk import Hunk, HunkLine, LineKind
from session.partner.script import Patch, Redirect, Rest, Say, Scenario, Step, Think, patches

_POLITE = r"(?:(?:ok|okay|yes|good|fine|please|and|no|wait) )*"
_STOP = re.compile(
    rf"{_POLITE}(?:stop|cancel|abort|halt|enough|that is enough|never mind|nevermind|forget it|leave it)"
    r"(?: (?:it|that|here|there|now|at once))?(?: please)?"
)
_GO_ON = re.compile(
    rf"{_POLITE}(?:go on|carry on|go ahead|continue|keep going|proceed|resume|finish(?: it)?)(?: please)?"
)
_ONLY = re.compile(rf"{_POLITE}(?:do )?(?:only|just|nothing but) (?:do )?(?P<part>.+)|(?P<first>.+) only")
_WITHOUT = re.compile(rf"{_POLITE}(?:without|not|skip|leave out|leave|drop) (?P<part>.+?)(?: out| alone)?")
_NAME = re.compile(
    r"(?:call|name|rename) (?:it|that|this|the \w+|\w+)(?: to| as)? (?P<called>[^\W\d]\w*)"
    r"(?: instead)?(?: please)?"
    r"|(?:use|take) (?:the name )?(?P<used>[^\W\d]\w*) instead(?: of \w+)?"
    r"|(?P<swapped>[^\W\d]\w*) instead of \w+",
    re.IGNORECASE,
)
_KINDS = {"py": "python", "js": "javascript", "css": "style", "md": "documentation"}
_FILLING = frozenset(("the", "a", "an", "and", "of", "for", "in", "part", "parts", "side", "files", "please"))
_WORD = re.compile(r"\w+")

STOPPED = "I stop here. What has landed stays as it is; “go on” brings the rest.\n"
CARRY_ON = Redirect(
    "",
    (
        Say("I take that in, and carry on from what has landed.\n"),
        Rest(),
        Say("\nThat is all of it: everything the first request asked for is in place.\n"),
    ),
)


@dataclass(frozen=True, slots=True)
class Understood:
    """How the answer goes on: the ``redirect``, and the ``scenario`` with the hunks that it needs. With
    ``waits`` the answer ends with it, and goes on where the user says so later. ``first`` are hunks that are
    sent before all others."""

    redirect: Redirect
    scenario: Scenario
    waits: bool = False
    first: tuple[str, ...] = ()


def understand(
    scenario: Scenario, words: str, settled: Iterable[str], before: Redirect | None
) -> Understood | None:
    """What ``words`` ask for in the middle of an answer of ``scenario``: its hunks ``settled`` are
    not sent again and which ``before`` redirected already; None where they are not understood."""
    plain = " ".join(_WORD.findall(words.lower()))
    if scenario.redirect is not None and scenario.redirect.fits(words):
        return Understood(scenario.redirect, scenario)
    if _STOP.fullmatch(plain):
        return Understood(Redirect("", (Say(STOPPED),)), scenario, waits=True)
    if _GO_ON.fullmatch(plain):
        return Understood(before or CARRY_ON, scenario)
    named = _NAME.fullmatch(words.strip().rstrip(".!"))
    if named is not None and scenario.name:
        name = named["called"] or named["used"] or named["swapped"]
        return _renamed(scenario, name, frozenset(settled))
    return _part(scenario, plain)


def not_understood(scenario: Scenario, words: str) -> Understood:
    """The answer to words that are not understood: what can be said instead."""
    known = [scenario.redirect.prompt] if scenario.redirect is not None and scenario.redirect.prompt else []
    known += ["stop", "go on"]
    parts = _parts(scenario)
    if parts:
        known += [f"only the {parts[len(parts) // 2]}", f"without the {parts[-1]}"]
    if scenario.name:
        known.append(f"call it NAME (in place of {scenario.name})")
    said = " ".join(words.split())[:60]
    text = (
        f"I am a scripted practice partner without a language model, and I do not understand “{said}”. "
        "So I wait: what has landed stays, and nothing else comes. Here I understand:\n\n"
    )
    text += "".join(f"- {each}\n" for each in known)
    return Understood(Redirect("", (Say(text),)), scenario, waits=True)


# A part of the edits alone.


def _own(scenario: Scenario) -> list[str]:
    """The hunks that the answer has without a redirect."""
    return [name for patch in patches(scenario.steps) for name in patch.hunks]


def _parts(scenario: Scenario) -> list[str]:
    """What the parts are called that can be had alone; none where all hunks are of one file, which would be
    left half done."""
    own = _own(scenario)
    if len({scenario.hunks[name].path for name in own}) < 2:
        return []
    return list(dict.fromkeys(name.split("-")[0] for name in own))


def _words_of(scenario: Scenario, name: str) -> set[str]:
    path = scenario.hunks[name].path
    found = {*_WORD.findall(path.lower()), name.split("-")[0]}
    return found | {_KINDS[each] for each in found & _KINDS.keys()}


def _part(scenario: Scenario, plain: str) -> Understood | None:
    if not _parts(scenario):
        return None
    only, without = _ONLY.fullmatch(plain), _WITHOUT.fullmatch(plain)
    found = only or without
    if found is None:
        return None
    wanted = (only["part"] or only["first"]) if only else found["part"]
    targets = {word for word in wanted.split() if word not in _FILLING}
    own = _own(scenario)
    common = set.intersection(*(_words_of(scenario, name) for name in own))
    matched = {name for name in own if targets & (_words_of(scenario, name) - common)}
    known = set().union(*(_words_of(scenario, name) for name in own)) - common
    if not matched or not targets <= known:
        return None
    drop = frozenset(own) - matched if only else frozenset(matched)
    kept = sorted({scenario.hunks[name].path for name in own if name not in drop})
    steps: tuple[Step, ...] = (
        Say(f"Then only what is for {_listed(kept)}, from where it stands.\n"),
        Rest(),
        Say("\nThat is all of it. What had landed of the rest before stays; F9 takes it out again.\n"),
    )
    return Understood(Redirect("", steps, drop), scenario)


def _listed(paths: list[str]) -> str:
    told = [f"`{path}`" for path in paths]
    return " and ".join([*([", ".join(told[:-1])] if len(told) > 1 else []), *told[-1:]]) or "nothing"


# Another name.


def _renamed(scenario: Scenario, name: str, settled: frozenset[str]) -> Understood:
    """The scenario with another name for what it adds: what landed is mended first, and the rest has it."""
    turn = _turned(scenario.name, name)
    own = _own(scenario)
    mended = {
        f"{each}-renamed": hunk
        for each in own
        if each in settled and (hunk := _mended(scenario.hunks[each], turn)) is not None
    }
    hunks = {
        each: replace(hunk, lines=tuple(HunkLine(line.kind, turn(line.text)) for line in hunk.lines))
        for each, hunk in scenario.hunks.items()
        if each not in settled
    }
    renamed = replace(
        scenario,
        name="",  # a second name would have to be looked for in what landed
        hunks={**scenario.hunks, **hunks, **mended},
        steps=tuple(
            replace(step, text=turn(step.text)) if isinstance(step, Say | Think) else step
            for step in scenario.steps
        ),
    )
    first: tuple[Step, ...] = (Say(f"`{name}`, then, in place of `{scenario.name}`.\n"),)
    if mended:
        first += (Say("What has landed is renamed first:\n"), Patch(tuple(mended)))
    steps = (*first, Rest(), Say(f"\nThat is all of it, and it is called `{name}` everywhere.\n"))
    return Understood(Redirect("", steps), renamed, first=tuple(mended))


def _turned(old: str, new: str) -> Callable[[str], str]:
    """Puts ``new`` in the place of the word ``old``, with a capital where that had one."""
    word = re.compile(rf"\b{re.escape(old)}\b", re.IGNORECASE)

    def capital(found: re.Match[str]) -> str:
        return new[:1].upper() + new[1:] if found[0][:1].isupper() else new

    return lambda text: word.sub(capital, text)


def _mended(hunk: Hunk, turn: Callable[[str], str]) -> Hunk | None:
    """The hunk that changes the name in what ``hunk`` wrote; None where it wrote no such name."""
    lines: list[HunkLine] = []
    for line in hunk.lines:
        if line.kind is LineKind.OLD:
            continue
        if line.kind is LineKind.NEW and turn(line.text) != line.text:
            lines += [HunkLine(LineKind.OLD, line.text), HunkLine(LineKind.NEW, turn(line.text))]
        else:
            lines.append(HunkLine(LineKind.CONTEXT, line.text))
    changed = any(line.kind is LineKind.NEW for line in lines)
    return replace(hunk, lines=tuple(lines)) if changed else None
