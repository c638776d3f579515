"""The streaming parsers: when a hunk is complete, what is shown before, and which variants are accepted."""

from __future__ import annotations

import pytest

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, ParserEvent, Prose, Typed
from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode
from tests.edits.helpers import merged, parse, prose

V4A = "*** Begin Patch\n*** Update File: a.py\n@@ def f():\n x\n-y\n+z\n"
BLOCK = "a.py\n```python\n<<<<<<< SEARCH\nx\ny\n=======\nx\nz\n>>>>>>> REPLACE\n```\n"


def hunks(text: str, *, clean: bool = True) -> list[Hunk]:
    """The hunks that are well formed."""
    events = parse([text], clean=clean)
    return [event.hunk for event in events if isinstance(event, Completed) and not event.hunk.flaw]


def broken(text: str, *, clean: bool = True) -> list[RefusalCode]:
    """The codes of refusals; a hunk with a flaw is malformed, unless a file has its lines as read."""
    flawed = RefusalCode.MALFORMED
    return [
        event.code if isinstance(event, Broken) else flawed
        for event in parse([text], clean=clean)
        if isinstance(event, Broken) or (isinstance(event, Completed) and event.hunk.flaw)
    ]


def completes_at(text: str) -> int | None:
    """After how many characters the first hunk is complete, before the stream ends."""
    parser = AutoParser()
    for index, character in enumerate(text, 1):
        if any(isinstance(event, Completed) for event in parser.feed(character)):
            return index
    return None


@pytest.mark.parametrize(
    ("before", "last"),
    [
        (V4A, "@@"),
        (V4A, "*** U"),
        (V4A, "*** En"),
        (V4A + "*** End of File", "\n"),
        ("*** Begin Patch\n*** Add File: n\n+x\n*** End Patch", "\n"),
        ("*** Begin Patch\n*** Delete File: n\n*** Delete File: m", "\n"),
        (BLOCK.partition(">>>>>>>")[0] + ">>>>>>> REPLACE", "\n"),
    ],
)
def test_a_hunk_is_complete_when_nothing_can_change_it_and_not_before(before: str, last: str) -> None:
    at = completes_at(before + last + " and more text\n")
    assert at is not None and at > len(before)
    assert completes_at(before) is None


def test_end_of_file_does_not_end_the_patch() -> None:
    (hunk,) = hunks(V4A + "*** End of File\n*** End Patch\n")
    assert hunk.at_end_of_file


@pytest.mark.parametrize("text", [V4A, BLOCK[:-20], "*** Begin Patch\n*** Add File: n\n+x\n"])
def test_a_cut_stream_does_not_complete_a_hunk(text: str) -> None:
    assert hunks(text, clean=False) == []
    assert broken(text, clean=False) == [RefusalCode.INCOMPLETE]


@pytest.mark.parametrize(
    "text", [V4A, "*** Begin Patch\n*** Add File: n\n+x", "*** Begin Patch\n*** Delete File: n"]
)
def test_a_missing_last_marker_is_accepted_at_a_clean_end(text: str) -> None:
    assert len(hunks(text)) == 1 and broken(text) == []


def test_a_line_is_shown_as_it_is_typed() -> None:
    parser = AutoParser()
    parser.feed("*** Begin Patch\n*** Update File: a.py\n")
    typed: list[ParserEvent] = []
    for character in "@@\n keep\n+new":
        typed += parser.feed(character)
    assert Typed(1, LineKind.NEW, "n") in typed and Typed(1, LineKind.CONTEXT, "k") in typed
    assert parser.feed("x") == [Typed(1, LineKind.NEW, "x")]


def test_a_search_line_is_shown_once_it_cannot_be_a_marker() -> None:
    parser = AutoParser()
    events = parser.feed("a.py\n<<<<<<< SEARCH\n== 1")
    assert events == [Opened(1, "a.py", Action.UPDATE, Format.SEARCH_REPLACE), Typed(1, LineKind.OLD, "== 1")]
    assert parser.feed("\n=======\n") == [Typed(1, LineKind.OLD, "\n")]
    assert parser.feed("== 2") == [Typed(1, LineKind.NEW, "== 2")]


def test_typed_text_is_the_hunks_lines() -> None:
    events = merged(parse(list(BLOCK + V4A.replace("a.py", "b.py") + "*** End Patch\n")))
    typed = [(event.kind.value, event.text) for event in events if isinstance(event, Typed)]
    assert typed == [("-", "x\ny\n"), ("+", "x\nz\n"), (" ", "x\n"), ("-", "y\n"), ("+", "z\n")]


def test_the_file_is_reported_as_soon_as_its_line_ends() -> None:
    parser = AutoParser()
    opened = parser.feed("Text.\n\n*** Begin Patch\n*** Update File: src/a.py\n")
    assert Opened(1, "src/a.py", Action.UPDATE, Format.V4A) in opened


def test_ordinary_prose_is_passed_on_at_once() -> None:
    parser = AutoParser()
    assert merged(parser.feed("I will ")) == [Prose("I will ")]
    assert merged(parser.feed("ch")) == [Prose("ch")]
    assert merged(parser.feed("ange it.\nThe f")) == [Prose("ange it.\nThe f")]


def test_a_code_fence_without_an_edit_is_prose() -> None:
    text = "Look:\n\n```python\nimport x\n```\n\nsrc/a.py\nis the file.\n***\n- - -\n<b>html</b>\n"
    assert prose(parse(list(text))) == text


def test_prose_around_and_between_edits_of_both_formats() -> None:
    patch = f"```\n{V4A}*** End Patch\n```\n"
    events = parse([f"First.\n\n{BLOCK}Then:\n\n{patch}Done.\n\n{BLOCK}"])
    assert prose(events) == "First.\n\nThen:\n\nDone.\n\n"
    formats = [event.hunk.format for event in events if isinstance(event, Completed)]
    assert formats == [Format.SEARCH_REPLACE, Format.V4A, Format.SEARCH_REPLACE]


@pytest.mark.parametrize(
    "above",
    [
        "**src/a.py**",
        "`src/a.py`:",
        "### `src/a.py`",
        "# src/a.py",
        "File: src/a.py",
        "1. src/a.py",
        "src/a.py\n",
        "src/a.py:",
        "src\\a.py",
        "Makefile",
        ".gitignore",
    ],
)
def test_the_styles_of_a_path_line(above: str) -> None:
    events = parse([f"{above}\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n"])
    (hunk,) = [event.hunk for event in events if isinstance(event, Completed)]
    assert hunk.path.strip("\n") in above and prose(events) == ""


@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [
        ("<<<<< SEARCH", "=====", ">>>>> REPLACE"),
        ("<<<<<<<<< SEARCH", "=========", ">>>>>>>>> REPLACE"),
        ("<<<<<<< SEARCH>", "=======", ">>>>>>> REPLACE"),
        ("<<<<<<< SEARCH  ", "=======  ", ">>>>>>> REPLACE  "),
        ("------- SEARCH", "=======", "+++++++ REPLACE"),
        ("  <<<<<<< SEARCH", "  =======", "  >>>>>>> REPLACE"),
    ],
)
def test_marker_styles(opening: str, middle: str, closing: str) -> None:
    (hunk,) = hunks(f"a.py\n{opening}\nx\n{middle}\ny\n{closing}\n")
    assert (hunk.old, hunk.new) == (("x",), ("y",))


def test_line_hints() -> None:
    (hinted,) = hunks("a.py\n<<<<<<< SEARCH\n:start_line:12\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n")
    assert (hinted.line_hint, hinted.old) == (12, ("x",))


@pytest.mark.parametrize(
    ("above", "path", "names"),
    [
        ("`src/a b.py`", "src/a b.py", ()),
        ("**my notes.md**:", "my notes.md", ()),
        ("Copy of a.py", "Copy of a.py", ("Copy of a.py",)),
        ("Now edit a.py.", None, ()),
        (f"{BLOCK}And my b.py", "a.py", ("And my b.py",)),
        ("change log.md", "log.md", ("change log.md",)),
        ("**new log.md**", "log.md", ("new log.md",)),
        ("`new log.md`:", "new log.md", ()),
        ("New file: log.md", "log.md", ()),
    ],
)
def test_names_with_blanks_above_a_block(above: str, path: str | None, names: tuple[str, ...]) -> None:
    text = f"{above}\n```\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n```\n"
    found = hunks(text)
    assert [(hunk.path, hunk.names) for hunk in found[-1:]] == ([(path, names)] if path else [])
    assert merged(parse(list(text))) == merged(parse([text]))
    assert hunks(text.replace("x\n=", "=")) == [] or path != "Copy of a.py"


def test_a_block_without_a_path_uses_the_last_one_or_is_malformed() -> None:
    nameless = BLOCK.removeprefix("a.py\n")
    assert broken(nameless) == [RefusalCode.MALFORMED]
    assert [hunk.path for hunk in hunks(BLOCK + "And:\n" + nameless)] == ["a.py", "a.py"]


@pytest.mark.parametrize(
    "text",
    [
        "a.py\n<<<<<<< SEARCH\nx\n>>>>>>> REPLACE\n",
        "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n<<<<<<< SEARCH\nx\n=======\nz\n>>>>>>> REPLACE\n",
        "a.py\n<<-- SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n",
        "*** Begin Patch\nbad\n",
        "*** Begin Patch\n*** Update File: a.py\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: a.py\nno plus\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: a.py\n@@\nno mark\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: a.py\n@@ anchor only\n*** End Patch\n",
        "*** Begin Patch\n*** Move to: b.py\n*** End Patch\n",
    ],
)
def test_edits_that_can_never_land_are_malformed(text: str) -> None:
    assert broken(text) == [RefusalCode.MALFORMED]


def test_after_a_malformed_chunk_the_next_one_is_read() -> None:
    text = "*** Begin Patch\n*** Update File: a.py\n@@\noops\n-x\n@@\n-y\n+z\n*** End Patch\n"
    assert [hunk.old for hunk in hunks(text)] == [("y",)] and broken(text) == [RefusalCode.MALFORMED]


def test_a_padded_end_marker_ends_unless_the_patch_goes_on() -> None:
    head = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n *** End Patch\n"
    assert [hunk.old for hunk in hunks(head + "Bye.\n")] == [("x",)]
    assert [hunk.old for hunk in hunks(head + " z\n*** End Patch\n")] == [("x", "*** End Patch", "z")]
    assert prose(parse([head + "Bye.\n"])) == "Bye.\n"


def test_a_move_carries_its_first_chunk_and_later_chunks_edit_the_new_path() -> None:
    text = "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n@@\n-z\n*** End Patch\n"
    first, second = hunks(text)
    assert (first.action, first.path, first.move_to) == (Action.MOVE, "a", "b")
    assert (second.action, second.path) == (Action.UPDATE, "b")


def test_stacked_anchors_and_ranges() -> None:
    text = (
        "*** Update File: a\n@@ class A\n@@     def f():\n-x\n@@ -12,3 +12,4 @@ def g():\n-y\n*** End Patch\n"
    )
    first, second = hunks(text)
    assert first.anchors == ("class A", "def f():")
    assert (second.line_hint, second.anchors) == (12, ("def g():",))


def test_a_forced_format_leaves_the_other_as_prose() -> None:
    assert prose(parse([BLOCK], format=Format.V4A)) == BLOCK
    text = V4A + "*** End Patch\n"
    assert prose(parse([text], format=Format.SEARCH_REPLACE)) == text


def test_after_a_patch_without_an_end_prose_and_other_edits_are_read() -> None:
    text = f"{V4A}\nThat does it:\n- a point\n\n{BLOCK}Bye.\n"
    events = parse(list(text))
    assert prose(events) == "That does it:\n- a point\n\nBye.\n"
    assert [event.hunk.format for event in events if isinstance(event, Completed)] == [
        Format.V4A,
        Format.SEARCH_REPLACE,
    ]
    assert broken(text) == []


@pytest.mark.parametrize("patch", ["*** Delete File: n\nDone.\n", "*** Add File: n\n+x\n\nDone.\n"])
def test_prose_after_other_actions_without_an_end(patch: str) -> None:
    assert len(hunks(f"*** Begin Patch\n{patch}")) == 1 and prose(parse([patch])) == "Done.\n"
    assert hunks(patch, clean=False) == [] and broken(patch, clean=False) == [RefusalCode.INCOMPLETE]


@pytest.mark.parametrize(
    "later", ["-v\n+u\n", "*** End Patch\n", "@@\n-q\n+r\n", "*** Update File: b\n@@\n-q\n+r\n"]
)
def test_a_patch_line_without_its_mark_refuses_its_chunk(later: str) -> None:
    text = f"{V4A}\ndef g():\n{later}"
    assert broken(text) == [RefusalCode.MALFORMED]
    assert [hunk.old for hunk in hunks(text)] == ([("q",)] if "q" in later else [])
    assert merged(parse(list(text))) == merged(parse([text]))


def test_a_chunk_with_a_line_without_its_mark_is_complete_at_its_end() -> None:
    assert broken(f"{V4A}def g():\n", clean=False) == [RefusalCode.INCOMPLETE]
    assert broken(f"{V4A}def g():\n@@\n", clean=False) == [RefusalCode.MALFORMED]


def test_a_block_in_a_list_may_be_indented_with_its_markers() -> None:
    text = "  def f():\n  =======\n  def g():\n      x\n"
    block = f"- a.py\n  ```\n  <<<<<<< SEARCH\n{text}  >>>>>>> REPLACE\n  ```\n"
    (hunk,) = hunks(block)
    assert hunk.old == ("  def f():",)
    assert [line.text for line in hunk.alternatives[0]] == ["def f():", "def g():", "    x"]
    (added,) = hunks(block.replace("  def f():\n", ""))
    assert added.action is Action.ADD and added.new == ("def g():", "    x")


def test_edits_of_every_format_in_one_answer() -> None:
    diff = "--- a/d.py\n+++ b/d.py\n@@ -1 +1 @@\n-x\n+y\n"
    value = '{"path": "e.py", "old_string": "x", "new_string": "y"}\n'
    text = (
        f"One.\n\n{BLOCK}Two.\n```diff\n{diff}```\nThree.\n{V4A}*** End Patch\n```json\n{value}```\nFour.\n"
    )
    events = merged(parse(list(text)))
    assert events == merged(parse([text]))
    assert prose(events) == "One.\n\nTwo.\nThree.\nFour.\n"
    assert [event.hunk.format for event in events if isinstance(event, Completed)] == [
        Format.SEARCH_REPLACE,
        Format.UNIFIED,
        Format.V4A,
        Format.JSON,
    ]


@pytest.mark.parametrize("format", Format)
def test_with_a_given_format_the_others_are_prose(format: Format) -> None:
    texts = {
        Format.V4A: V4A + "*** End Patch\n",
        Format.SEARCH_REPLACE: BLOCK,
        Format.UNIFIED: "--- a/d.py\n+++ b/d.py\n@@ -1 +1 @@\n-x\n+y\n",
        Format.JSON: '{"path": "e.py", "old_string": "x", "new_string": "y"}\n',
    }
    for other, text in texts.items():
        events = parse([text], format=format)
        found = {event.hunk.format for event in events if isinstance(event, Completed)}
        if other is format:
            assert found == {format}
        elif (other, format) != (Format.SEARCH_REPLACE, Format.WHOLE):
            assert found == set() and prose(events) == text
