"""What the parsers read in a text, as a table in ``readings.toml``: answers before, edits and prose after."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import EllipsisType
from typing import Any

import pytest

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, ParserEvent, Prose, Typed
from edits.hunk import Format, Hunk, HunkLine, RefusalCode
from tests.edits.helpers import merged, parse

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("readings.toml").read_text("utf-8"))[
    "case"
]


def given(event: ParserEvent) -> str | None:
    """A finished edit, a refusal or prose as the table writes it; None for what is only shown."""
    match event:
        case Prose(text):
            return f"prose {text!r}"
        case Broken(number, path, code, message):
            return f"{number} {code.value} {path}: {message}"
        case Completed(number, hunk):
            said = (f"{number} {hunk.action.value} {hunk.path} {marked(hunk.lines)}", *known(hunk))
            return " ".join(said)
        case _:
            return None


def marked(lines: tuple[HunkLine, ...]) -> str:
    return "|".join(f"{line.kind.value}{line.text}" for line in lines)


def known(hunk: Hunk) -> list[str]:
    """What is known of an edit besides its lines."""
    text = hunk.replacement
    said = {
        f"to {hunk.move_to}": hunk.move_to,
        f"under {' / '.join(hunk.anchors)}": hunk.anchors,
        f"at {hunk.line_hint}": hunk.line_hint is not None,
        "at the end": hunk.at_end_of_file,
        "everywhere": hunk.replace_all,
        f"text {text.old!r} {text.new!r}" if text else "": text,
        f"final newline {hunk.final_newline}": hunk.final_newline is not None,
        "crlf": hunk.newline == "\r\n",
        f"or {' or '.join(hunk.names)}": set(hunk.names) - {hunk.path},
        f"though {hunk.flaw}": hunk.flaw,
    }
    return [
        *(words for words, true in said.items() if true),
        *(f"or {marked(one)}" for one in hunk.alternatives),
    ]


def shown(event: ParserEvent) -> str:
    """What is shown while an edit is typed."""
    match event:
        case Opened(number, path, action, format):
            return f"[{number} {action.value} {path} {format.value}]"
        case Typed(_, kind, text):
            ended = text.endswith("\n")
            lines = text.removesuffix("\n").split("\n") if ended else [text]
            return "".join(f"{kind.value}{line}{'|' if ended else ''}" for line in lines)
        case _:
            return ""


@pytest.mark.parametrize("case", CASES, ids=[str(number) for number in range(len(CASES))])
def test_a_text_is_read_as_the_table_says(case: dict[str, Any]) -> None:
    text = case["text"]
    events = read(case, [text])
    assert [said for event in events if (said := given(event)) is not None] == case["gives"]
    assert "".join(map(shown, events)) == case.get("shows", "")
    assert read(case, list(text)) == events


def read(case: dict[str, Any], pieces: list[str]) -> list[ParserEvent]:
    format = Format(case["format"]) if "format" in case else None
    parser = AutoParser(format, whole=case.get("whole", False), lenient=case.get("lenient", False))
    events = [event for piece in pieces for event in parser.feed(piece)]
    return merged([*events, *parser.close(clean=not case.get("cut", False))])


BLOCK = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"


@pytest.mark.parametrize(("length", "named"), [(250, True), (251, False)])
def test_a_path_has_at_most_250_characters(length: int, named: bool) -> None:
    path = "a" * (length - 3) + ".py"
    (result,) = [event for event in parse([f"{path}\n{BLOCK}"]) if isinstance(event, Completed | Broken)]
    assert isinstance(result, Completed) == named


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (f'"id": {"1" * 60}', None),
        (f'"id": {"1" * 61}', "'11111111111111111111'… is not a JSON value"),
        (f'"{"k" * 200}": 1', None),
        (f'"{"k" * 201}": 1', "a key is too long"),
    ],
)
def test_numbers_and_keys_of_json_have_an_end(extra: str, said: str | None) -> None:
    """A key of a certain edit may have any name, but not any length."""
    text = f'{{"path": "f", "old_string": "x", "new_string": "y", {extra}}}'
    results = [event for event in parse([text]) if isinstance(event, Completed | Broken)]
    (result,) = results
    if said is None:
        assert isinstance(result, Completed)
    else:
        assert isinstance(result, Broken) and result.code is RefusalCode.MALFORMED
        assert result.message == f"the JSON is malformed: {said}"


@pytest.mark.parametrize(
    ("pieces", "prose"),
    [
        (["plain te", "xt"], ["plain te", "xt"]),
        (["some text\r", "\n"], ["some text", "\r\n"]),
        (["some text\r", "b"], ["some text", "\rb"]),
        (["``", "`\ncode\n"], [None, "```\ncode\n"]),
        (["<", "b>\n"], [None, "<b>\n"]),
        (["*", "*bold**\n"], [None, "**bold**\n"]),
        (["*** ", "a note\n"], [None, "*** a note\n"]),
        (["diff", "erent\n"], [None, "different\n"]),
        (["git ", "is a program\n"], [None, "git is a program\n"]),
        (["cat <<", "EOF\n", "plain\n"], [None, None, "cat <<EOF\nplain\n"]),
        (["--", "-\n"], [None, "---\n"]),
        (["src/a.py\n", "\n", "text\n"], [None, None, "src/a.py\n\ntext\n"]),
        (["src/a.py\n", "\n", "\n", "\n", "\n"], [None, None, None, None, "src/a.py\n"]),
        ([f"a.py\n{BLOCK}".replace("y\n", "y"), "So it", " is"], [..., "So it", " is"]),
    ],
)
def test_prose_is_passed_on_as_soon_as_it_can_be_nothing_else(
    pieces: list[str], prose: list[str | EllipsisType | None]
) -> None:
    parser = AutoParser()
    for piece, wanted in zip(pieces, prose, strict=True):
        events = merged(parser.feed(piece))
        assert wanted is ... or events == ([] if wanted is None else [Prose(wanted)]), piece
