"""JSON edits with keys in any order, cut anywhere, in a fence or bare; other JSON stays prose."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, ParserEvent, Typed
from edits.formats.json_scan import JsonScanner, Mark
from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode, Replacement
from tests.edits.helpers import merged, parse, prose
from tests.thorough import share

ONE = '{"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}'


def hunks(text: str, *, clean: bool = True, format: Format | None = None) -> list[Hunk]:
    events = parse([text], clean=clean, format=format)
    return [event.hunk for event in events if isinstance(event, Completed)]


def broken(text: str, *, clean: bool = True, format: Format | None = None) -> list[Broken]:
    return [event for event in parse([text], clean=clean, format=format) if isinstance(event, Broken)]


@pytest.mark.parametrize(
    "text",
    [
        ONE,
        '{"new_str":"x = 2","old_str":"x = 1","file_path":"a.py"}',
        '{\n  "replace_all": false,\n  "oldText": "x = 1",\n  "newText": "x = 2",\n  "filePath": "a.py"\n}',
        '{"edits": [{"old_string": "x = 1", "new_string": "x = 2"}], "path": "a.py"}',
        '{"path": "a.py", "edits": [{"old_string": "x = 1", "new_string": "x = 2",},]}',
        f"[{ONE}]",
        f"```json\n{ONE}\n```\n",
        '{"name": "edit_file", "arguments": ' + ONE + "}",
        '{"explanation": "why", "path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "odd": [1]}',
        '{"path": "a\\u002epy", "old_string": "\\u0078 = 1", "new_string": "x = 2"}',
    ],
)
def test_the_accepted_shapes_of_an_edit(text: str) -> None:
    (hunk,) = hunks(text)
    assert (hunk.path, hunk.action, hunk.format) == ("a.py", Action.UPDATE, Format.JSON)
    assert hunk.replacement == Replacement("x = 1", "x = 2") and not hunk.replace_all
    assert prose(parse(list(text))) == ""


def test_an_edit_completes_at_its_own_brace_once_its_path_is_known() -> None:
    parser = AutoParser()
    edits = '{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}'
    before = parser.feed(f'{{"edits": [{edits}], "path": "p')
    assert not any(isinstance(event, Completed | Opened) for event in before)
    both = [event.hunk.replacement for event in parser.feed('"') if isinstance(event, Completed)]
    assert both == [Replacement("a", "b"), Replacement("c", "d")]
    assert parser.feed("}") == [] and parser.close(clean=True) == []


def test_a_late_replace_all_counts_and_so_nothing_completes_before_the_brace() -> None:
    parser = AutoParser()
    events = parser.feed(ONE[:-1] + ', "replace_all": true')
    assert not any(isinstance(event, Completed) for event in events)
    (event,) = parser.feed("}")
    assert isinstance(event, Completed) and event.hunk.replace_all


def test_texts_are_shown_as_they_are_typed() -> None:
    parser = AutoParser()
    events = parser.feed('{"path": "a.py", "old_string": "x\\')
    assert events == [Opened(1, "a.py", Action.UPDATE, Format.JSON), Typed(1, LineKind.OLD, "x")]
    assert parser.feed("n") == [Typed(1, LineKind.OLD, "\n")]
    assert parser.feed('y", "new_string": "z') == [
        Typed(1, LineKind.OLD, "y"),
        Typed(1, LineKind.OLD, "\n"),
        Typed(1, LineKind.NEW, "z"),
    ]


def test_several_values_in_a_row_with_prose_around() -> None:
    text = f"First.\n{ONE}\n{ONE}, {ONE}\nLast.\n"
    events = parse(list(text))
    assert prose(events) == "First.\nLast.\n"
    assert sum(isinstance(event, Completed) for event in events) == 3


def test_an_empty_old_string_makes_a_file() -> None:
    (hunk,) = hunks('{"path": "n", "old_string": "", "new_string": "a\\nb"}')
    assert (hunk.action, hunk.replacement, hunk.new) == (Action.ADD, Replacement("", "a\nb"), ("a", "b"))


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "pkg", "version": "1.0"}\n',
        '{\n  "path": "a.py",\n  "lines": 12\n}\n',
        "[link](https://example.org) and [1, 2]\n",
        "[1, 2, 3]\n[\n  [1],\n  {}\n]\n",
        "int main()\n{\n    return 0;\n}\n",
        '{"path": "a.py", "old_string": "never ends',
        'see {"path": "a.py", "old_string": "x", "new_string": "y"}\n',
        '```json\n{"path": "a.py"}\n```\n',
    ],
)
def test_other_json_and_other_brackets_are_prose(text: str) -> None:
    clean_end = '"new_string"' in text or text.endswith("\n")
    shown = prose(parse(list(text)))
    assert shown == text if clean_end else not hunks(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"path": "a", "old_string": "x", "new_string": "x"}', "the same"),
        ('{"path": "a", "old_string": "x"}', "no new_string"),
        ('{"old_string": "x", "new_string": "y"}', "no path"),
        ('{"path": "a", "old_string": 12, "new_string": "y"}', "“old_string” cannot be 12"),
        ('{"path": "a", "old_string": ["x"], "new_string": "y"}', "cannot be an array"),
        ('{"path": "a", "path": "b", "old_string": "x", "new_string": "y"}', "“path” more than once"),
        ('{"path": "a", "old_string": "x", "new_string": "y", "replace_all": "yes"}', "cannot be a string"),
        ('{"path": "a", "old_string": "x\ny"}\n', "a line end"),
        ('{"path": "a", "old_string": "\\x"}\n', "not an escape"),
        ('{"path": "a", "old_string": "\\ud83d"}\n', "surrogate"),
        ('{"path": "a", "old_string": "x" "new_string": "y"}', "“,”"),
    ],
)
def test_an_edit_that_is_wrong_is_malformed(text: str, said: str) -> None:
    (event,) = broken(text)
    assert event.code is RefusalCode.MALFORMED and said in event.message


def test_after_a_malformed_edit_the_next_line_is_read() -> None:
    text = f'{{"path": "a", "old_string": oops}}\n{ONE}\n'
    assert len(broken(text)) == 1 and len(hunks(text)) == 1


def test_one_wrong_edit_in_a_list_does_not_affect_the_others() -> None:
    text = f'[{ONE}, {{"path": "b", "old_string": "x"}}, {ONE}]'
    assert len(broken(text)) == 1 and len(hunks(text)) == 2


@pytest.mark.parametrize("clean", [True, False])
def test_a_cut_edit_is_incomplete_and_the_ones_before_it_stay(clean: bool) -> None:
    text = f"[{ONE}, {ONE[:-1]}"
    assert [event.code for event in broken(text, clean=clean)] == [RefusalCode.INCOMPLETE]
    assert len(hunks(text, clean=clean)) == 1


def test_with_json_as_given_format_looser_names_are_accepted_and_other_objects_refused() -> None:
    text = '{"file": "a.py", "search": "x", "replace": "y"}\n'
    assert hunks(text) == [] and len(hunks(text, format=Format.JSON)) == 1
    assert [event.code for event in broken('{"a": 1}', format=Format.JSON)] == [RefusalCode.MALFORMED]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def scanned(pieces: list[str]) -> list[tuple[Mark, str]]:
    """The tokens of one value, the pieces of a string joined."""
    scanner = JsonScanner()
    tokens: list[tuple[Mark, str]] = []
    for piece in pieces:
        at = 0
        while at < len(piece):
            token, at = scanner.next(piece, at)
            if token is None:
                continue
            if token.mark is Mark.TEXT and tokens and tokens[-1][0] is Mark.TEXT:
                tokens[-1] = (Mark.TEXT, tokens[-1][1] + token.text)
            else:
                tokens.append((token.mark, token.text))
            if scanner.done:
                return tokens
    raise AssertionError("the value did not end")


@settings(deadline=None, max_examples=share(200, 40))
@given(st.lists(VALUES, max_size=3), st.booleans(), st.integers(0, 60))
def test_the_scanner_reads_any_json(value: object, ascii_only: bool, cut: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    whole = scanned([text])
    assert scanned(list(text)) == whole == scanned([text[:cut], text[cut:]])
    strings = [said for mark, said in whole if mark is Mark.TEXT]
    assert strings == [said for said in leaves(value) if said]


def leaves(value: object) -> list[str]:
    """The strings in a value, in order, keys left out."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [said for inner in value.values() for said in leaves(inner)]
    return [said for inner in value for said in leaves(inner)] if isinstance(value, list) else []


@settings(deadline=None, max_examples=share(150, 30))
@given(st.text(max_size=40), st.text(max_size=40), st.booleans(), st.integers(0, 200))
def test_any_two_texts_are_decoded_unchanged(old: str, new: str, ascii_only: bool, cut: int) -> None:
    text = json.dumps({"path": "a.py", "old_string": old, "new_string": new}, ensure_ascii=ascii_only)
    events: list[ParserEvent] = parse([text[:cut], text[cut:]])
    assert merged(events) == merged(parse(list(text)))
    if old != new:
        (hunk,) = [event.hunk for event in events if isinstance(event, Completed)]
        assert hunk.replacement == Replacement(old, new)
