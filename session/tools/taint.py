"""Which parts of a text the user never typed, and where they come from: files, tools and servers that the
model was shown.

A model repeats what it reads. So a command, an address or a guarded edit with a longer piece of such text,
which none of the user's prompts has, is told at the question with its source: a page or a file may have put
it there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from session.base.events import Event, PromptSubmitted
from session.base.text.sanitize import clean_line
from session.wire.input_items import item_text
from session.wire.protocol.items import Item

LEAST = 12
"""Characters from which on a piece tells something."""
MOST_TOLD = 3
_LONGEST_TOLD = 60
_HEADING = re.compile(r"^## File: (.+?)(?: \(.*\))?$", re.MULTILINE)


@dataclass(slots=True)
class Typed:
    """What the user typed in this session, with the past of a resumed one."""

    texts: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Take note of a prompt; what a command added to it was not typed."""
        if isinstance(event, PromptSubmitted):
            self.texts.append(event.text if event.typed is None else event.typed)


async def no_sources(text: str) -> Sequence[str]:
    """The sources of a text where nothing is known of any."""
    del text
    return ()


@dataclass(frozen=True, slots=True)
class _Shown:
    """A text that the model was shown, and where it comes from."""

    source: str
    text: str
    file: bool = False


def sources_of(
    text: str, items: Sequence[Item], typed: Sequence[str], file_text: Callable[[str], str | None]
) -> tuple[str, ...]:
    """A line for each piece of ``text`` that the model was shown in ``items`` and that the user never typed,
    as in "`curl http://…` is from README.md:40". ``file_text`` gives a file as it is now."""
    windows = list(_windows(text))
    fresh = set(windows).difference(*map(_windows, typed))
    if not fresh:
        return ()
    shown = list(_shown(items))
    known = {window for each in shown for window in _windows(each.text) if window in fresh}
    runs = _runs([window in known for window in windows])
    pieces = {text[start:end]: start for start, end in runs if len(text[start:end].strip()) >= LEAST}
    longest = sorted(pieces, key=len, reverse=True)[:MOST_TOLD]
    return tuple(_told(piece, shown, file_text) for piece in sorted(longest, key=pieces.__getitem__))


def _windows(text: str) -> Iterator[str]:
    return (text[at : at + LEAST] for at in range(len(text) - LEAST + 1))


def _runs(tainted: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Where each piece begins and ends."""
    start: int | None = None
    for at, each in enumerate([*tainted, False]):
        if each and start is None:
            start = at
        elif not each and start is not None:
            yield start, at + LEAST - 1
            start = None


def _shown(items: Sequence[Item]) -> Iterator[_Shown]:
    calls: dict[str, str] = {}
    for item in items:
        match item:
            case {"type": "function_call", "call_id": call, "name": name, "arguments": arguments}:
                calls[str(call)] = _call(str(name), str(arguments))
            case {"type": "function_call_output", "call_id": call, "output": output}:
                yield from _files(str(output), calls.get(str(call), "a tool"))
            case {"type": "message", "role": "user"}:
                yield from _files(item_text(item), "what the model was shown")
            case _:
                pass


def _files(text: str, source: str) -> Iterator[_Shown]:
    """The files in a text by their headings, and what stands before the first of them."""
    found = list(_HEADING.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)]
    yield _Shown(source, text[: found[0].start() if found else len(text)])
    for heading, end in zip(found, ends, strict=False):
        yield _Shown(heading[1], text[heading.end() : end], file=True)


def _call(name: str, arguments: str) -> str:
    """A call in a few words."""
    try:
        values = json.loads(arguments)
    except ValueError:
        values = None
    said = next((str(each) for each in values.values()), "") if isinstance(values, dict) else ""
    return f"{name} {_short(said)}".strip()


def _told(piece: str, shown: Sequence[_Shown], file_text: Callable[[str], str | None]) -> str:
    with_it = [each for each in shown if piece in each.text] or [
        each for each in shown if piece[:LEAST] in each.text
    ]
    file = next((each for each in with_it if each.file), None)
    source = (file or with_it[0]).source
    if file is not None and (now := file_text(file.source)) is not None:
        at = now.find(piece if piece in now else piece[:LEAST])
        source = f"{source}:{now.count(chr(10), 0, at) + 1}" if at >= 0 else source
    return f"`{_short(piece.strip())}` is from {clean_line(source)}, not from you"


def _short(text: str) -> str:
    line = clean_line(text)
    return line if len(line) <= _LONGEST_TOLD else f"{line[:_LONGEST_TOLD]}…"
