"""Which signatures a change made different, and what a call needs for that. Pure: texts in, edits out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from context.code.uses import Argument, Call, Parameter, Signature
from session.assist.next_edit.rename import SHORTEST


@dataclass(frozen=True, slots=True)
class SignatureChange:
    """A function whose signature was ``old`` and is ``new``."""

    old: Signature
    new: Signature

    @property
    def name(self) -> str:
        """The name by which it is called."""
        return self.new.called

    def __str__(self) -> str:
        return f"{self.name}({_names(self.old)}) → ({_names(self.new)})"


@dataclass(frozen=True, slots=True)
class CallEdit:
    """What a call needs: pieces of bytes and their new text. ``open`` says that a value is missing which only
    a model can give."""

    pieces: tuple[tuple[int, int, str], ...] = ()
    open: bool = False


def signature_changes(before: Sequence[Signature], after: Sequence[Signature]) -> tuple[SignatureChange, ...]:
    """The functions that have other parameters in ``after``. A name that stands for several is none of them,
    since nobody knows which one a call means."""
    old, new = _lone(before), _lone(after)
    return tuple(
        SignatureChange(old[name], new[name])
        for name in sorted(old.keys() & new.keys())
        if len(name) >= SHORTEST and old[name].parameters != new[name].parameters
    )


def edit_of(call: Call, change: SignatureChange, source: bytes) -> CallEdit | None:
    """What a call in ``source`` needs after the change; None where it needs nothing, or where it did not fit
    the signature before: then it may be a call of something else."""
    named = [each.keyword for each in call.arguments]
    given = None if call.spread else _bound(named, change.old.parameters)
    if given is None:
        return None
    following = _renamed(change)
    values: dict[int, str] = {}
    loose: list[Argument] = []
    for argument, number in zip(call.arguments, given, strict=True):
        if change.old.parameters[number].rest:
            loose.append(argument)
        elif (now := following[number]) is not None:
            values[now] = source[argument.value : argument.end].decode()
    keywords = _keywords(call, given, following, change)
    wanted = _arguments(change.new.parameters, values, keywords=keywords)
    if wanted is None:
        return CallEdit(open=True)
    named_now = [""] * (len(wanted) - len(keywords))
    named_now += [change.new.parameters[number].name for number in keywords]
    named_now += [each.keyword for each in loose]
    if _bound(named_now, change.new.parameters) is None:
        return CallEdit(open=True)
    wanted += [source[each.start : each.end].decode() for each in loose]
    texts = [source[each.start : each.end].decode() for each in call.arguments]
    return None if wanted == texts else _edit(call, texts, wanted)


def fits(call: Call, parameters: Sequence[Parameter]) -> bool:
    """Whether the arguments of a call are what these parameters take."""
    named = [each.keyword for each in call.arguments]
    return not call.spread and _bound(named, parameters) is not None


def _names(signature: Signature) -> str:
    return ", ".join(f"{each.rest}{each.name}" for each in signature.parameters)


def _lone(found: Sequence[Signature]) -> dict[str, Signature]:
    many = Counter(each.called for each in found)
    return {each.called: each for each in found if many[each.called] == 1}


def _bound(named: Sequence[str], parameters: Sequence[Parameter]) -> list[int] | None:
    """The number of the parameter that each argument is for; None where they do not fit. ``named`` are the
    names that the arguments are given by, empty for those that are given by their place."""
    placed = [number for number, each in enumerate(parameters) if not each.rest and not each.by_name]
    rests = {each.rest: number for number, each in enumerate(parameters) if each.rest}
    names = {each.name: number for number, each in enumerate(parameters) if not each.rest}
    found: list[int] = []
    for at, name in enumerate(named):
        if name:
            number = names.get(name, rests.get("**"))
        elif any(named[:at]):
            return None
        else:
            number = placed[at] if at < len(placed) else rests.get("*")
        if number is None or (number in found and not parameters[number].rest):
            return None
        found.append(number)
    by_name = [name for name in named if name]
    if len(set(by_name)) < len(by_name):
        return None
    for number, each in enumerate(parameters):
        if not (each.optional or each.rest or number in found):
            return None
    return found


def _renamed(change: SignatureChange) -> list[int | None]:
    """The number that each old parameter has now; None for one that is gone. One that is gone, and one in its
    place that says the same but for the name, are the same one renamed."""
    old, new = change.old.parameters, change.new.parameters
    at = {each.name: number for number, each in enumerate(new)}
    found = [at.get(each.name) for each in old]
    for number, each in enumerate(old):
        if found[number] is not None or number >= len(new):
            continue
        if number not in found and (new[number].form, new[number].rest) == (each.form, each.rest):
            found[number] = number
    return found


def renamed_parameters(change: SignatureChange) -> tuple[tuple[str, str | None], ...]:
    """The old parameters that have another name now, each with that; None for one that is gone."""
    following = _renamed(change)
    pairs = zip(change.old.parameters, following, strict=True)
    now = [(old.name, change.new.parameters[at].name if at is not None else None) for old, at in pairs]
    return tuple((old, new) for old, new in now if old != new)


def _keywords(
    call: Call, given: Sequence[int], following: Sequence[int | None], change: SignatureChange
) -> list[int]:
    """The new parameters that the call gives by name, in its order."""
    found = [
        following[number] for argument, number in zip(call.arguments, given, strict=True) if argument.keyword
    ]
    return [number for number in found if number is not None and not change.new.parameters[number].rest]


def _arguments(
    parameters: Sequence[Parameter], values: dict[int, str], *, keywords: Sequence[int]
) -> list[str] | None:
    """The arguments that give ``values``; None where a parameter has no value and needs one, or where one
    must be left out in the middle of others that have no name in the call."""
    made: list[str] = []
    gap = False
    for number, each in enumerate(parameters):
        if each.rest:
            continue
        if number in keywords:
            gap = True
            continue
        if number not in values:
            if not each.optional:
                return None
            gap = True
        elif gap or each.by_name:
            return None
        else:
            made.append(values[number])
    return [*made, *(f"{parameters[number].name}={values[number]}" for number in keywords)]


def _edit(call: Call, texts: Sequence[str], wanted: Sequence[str]) -> CallEdit:
    """The pieces that make the arguments ``wanted`` of ``texts``: nothing else of the call is touched."""
    if len(wanted) == len(texts):
        spans = zip(call.arguments, texts, wanted, strict=True)
        return CallEdit(tuple((each.start, each.end, now) for each, was, now in spans if was != now))
    if len(wanted) > len(texts):
        return CallEdit(open=True)
    kept = _kept(texts, wanted)
    if kept is None:
        return CallEdit(open=True)
    if not wanted:
        return CallEdit(((call.start + 1, call.end - 1, ""),))
    pieces: list[tuple[int, int, str]] = []
    arguments = call.arguments
    for at, argument in enumerate(arguments):
        if at in kept:
            continue
        if at < max(kept):
            pieces.append((argument.start, arguments[at + 1].start, ""))
        else:
            pieces.append((arguments[at - 1].end, argument.end, ""))
    return CallEdit(tuple(pieces))


def _kept(texts: Sequence[str], wanted: Sequence[str]) -> list[int] | None:
    """The numbers of ``texts`` that are ``wanted``, in order; None where others are wanted too."""
    found: list[int] = []
    for at, text in enumerate(texts):
        if len(found) < len(wanted) and text == wanted[len(found)]:
            found.append(at)
    return found if len(found) == len(wanted) else None
