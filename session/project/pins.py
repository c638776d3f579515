"""Pins and removals: files that are in every window, or in none. Commands become events.

Targets are in the grammar of mentions (``context/find/mentions.py``). The last command counts: a pin ends the
removal of its target, and a removal ends its pin.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import ClassVar

from context.find.mentions import Mention, resolve_target
from context.project.snapshot import Snapshot
from context.window.packing import removed_by
from session.base.events import ContextPinned, ContextRemoved, ContextRestored, ContextUnpinned, Event
from session.base.text.sanitize import clean_line

ALL = "all"


class PinError(Exception):
    """A target cannot be pinned, unpinned, removed or restored; the message says why."""


class Pins:
    """The pins and removals of a session, built from its events, live or read from the journal."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        ContextPinned,
        ContextUnpinned,
        ContextRemoved,
        ContextRestored,
    )
    """The events that :meth:`take` looks at."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.pinned: tuple[str, ...] = ()
        self.removed: tuple[str, ...] = ()
        self.changing = asyncio.Lock()
        """Held while a command changes the pins."""
        for event in events:
            self.take(event)

    async def settled(self) -> None:
        """Wait until the commands that were given have taken effect."""
        async with self.changing:
            pass

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case ContextPinned(target=target):
                self.pinned = (*_without(self.pinned, target), target)
            case ContextUnpinned(target=target):
                self.pinned = _without(self.pinned, target)
            case ContextRemoved(target=target):
                self.removed = (*_without(self.removed, target), target)
            case ContextRestored(target=target):
                self.removed = _without(self.removed, target)
            case _:
                pass


def pinning(target: str, pins: Pins, snapshot: Snapshot) -> list[Event]:
    """The events that show ``target`` in every window from the next turn on, as long as it fits.

    Raises PinError if it names nothing that can be shown.
    """
    name, found = resolved(target, snapshot)
    if name in pins.pinned:
        raise PinError(f"{name} is pinned already")
    if all(mention.path in snapshot.unread for mention in found):
        raise PinError(f"{name} cannot be shown: {snapshot.unread[found[0].path]}")
    back = [ContextRestored(target=name)] if name in pins.removed else []
    return [*back, ContextPinned(target=name)]


def unpinning(target: str, pins: Pins, snapshot: Snapshot) -> list[Event]:
    """The events that end the pin of ``target``, or of ``all``. Raises PinError if it is not pinned."""
    held = _held(target, pins.pinned, "pinned", snapshot)
    return [ContextUnpinned(target=name) for name in held]


def removing(target: str, pins: Pins, snapshot: Snapshot) -> list[Event]:
    """The events after which only the names of ``target`` are shown, from the next turn on.

    Raises PinError if it names no file, folder or pattern of the project.
    """
    name, found = resolved(target, snapshot)
    if any(mention.lines is not None or mention.symbol is not None for mention in found):
        raise PinError(f"{name}: files, folders and patterns can be taken out, not lines or symbols")
    if name in pins.removed:
        raise PinError(f"{name} is taken out already")
    out = removed_by((name,), snapshot)
    over = [pin for pin in pins.pinned if pin == name or ((paths := _paths(pin, snapshot)) and paths <= out)]
    return [*(ContextUnpinned(target=pin) for pin in over), ContextRemoved(target=name)]


def restoring(target: str, pins: Pins, snapshot: Snapshot) -> list[Event]:
    """The events that show ``target``, or ``all``, again. Raises PinError if it was not removed."""
    held = _held(target, pins.removed, "taken out", snapshot)
    return [ContextRestored(target=name) for name in held]


def _held(target: str, held: tuple[str, ...], state: str, snapshot: Snapshot) -> tuple[str, ...]:
    if target == ALL:
        if not held:
            raise PinError(f"nothing is {state}")
        return held
    if target in held:
        return (target,)
    mentions = resolve_target(target, snapshot)
    name = _name(target, mentions)
    if name in held:
        return (name,)
    around = [each for each in held if {found.path for found in mentions} & _paths(each, snapshot)]
    by = f"; {', '.join(around)} is" if around else ""
    raise PinError(f"{clean_line(target)} is not {state}{by}")


def resolved(target: str, snapshot: Snapshot) -> tuple[str, tuple[Mention, ...]]:
    """``target`` in the form that is stored, and what it names. Raises PinError if it names nothing."""
    target = target.strip()
    if not target.isprintable():
        raise PinError(f"{clean_line(target)} holds control characters")
    found = resolve_target(target, snapshot) if target else ()
    if not found:
        reading = "" if snapshot.complete else " (which is still being read)"
        raise PinError(
            f"{clean_line(target) or 'an empty word'} names nothing in this project{reading}; give a path, "
            "path:10-20, a symbol, a folder or a pattern"
        )
    return _name(target, found), found


def first_target_by_file(targets: Iterable[str], snapshot: Snapshot) -> dict[str, str]:
    """Each file that the targets name, whole or in part, with the first target that names it."""
    found: dict[str, str] = {}
    for target in targets:
        for path in sorted(_paths(target, snapshot)):
            found.setdefault(path, target)
    return found


def _name(target: str, found: tuple[Mention, ...]) -> str:
    """A target in the form that is stored: a file by its path from the root, a folder with a slash."""
    word = target.strip().removeprefix("@").replace('"', "").removeprefix("./")
    if not found or found[0].symbol is not None or any(mark in word for mark in "*?["):
        return word
    folder = f"{word.rstrip('/')}/"
    if found[0].path.startswith(folder):
        return folder
    path, lines = found[0].path, found[0].lines
    return path if lines is None else f"{path}:{lines.start + 1}-{lines.stop}"


def _paths(target: str, snapshot: Snapshot) -> set[str]:
    return {mention.path for mention in resolve_target(target, snapshot)}


def _without(targets: tuple[str, ...], target: str) -> tuple[str, ...]:
    return tuple(each for each in targets if each != target)
