"""The parsers with mutated text: from the corpus, and from random combinations of every format's pieces.

Whatever comes: nothing raises, any chunking says the same, every hunk that was opened is told of once, and
what completes on a prefix is what completes first of every continuation.
"""

from __future__ import annotations

import json
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, ParserEvent
from edits.hunk import Format, Hunk
from tests.edits.helpers import corpus, merged, parse
from tests.thorough import share

MARKERS = [
    '*** Begin Patch', '*** End Patch', ' *** End Patch', '*** Update File: a.py', '*** Add File: b',
    '*** Delete File: c', '*** Move to: d', '*** End of File', '@@', '@@ def f', '@@ ... @@',
    '@@ -1,2 +1,2 @@ def g', '@@ -3 +3 @@', '+x', '-y', ' z', '', '-- ', '```', '```python', '```diff',
    '```json', '```a.py', '````', 'a.py', 'src/b c.py', '<<<<<<< SEARCH', '=======', '>>>>>>> REPLACE',
    '------- SEARCH', '+++++++ REPLACE', 'cat <<EOF', "git apply <<'EOF'", 'EOF', 'Some prose here.',
    '- a bullet', '-no bullet', '<source>py', '</source>', ':start_line:3', '-------', '---', '--- a/a.py',
    '+++ b/a.py', '--- a.py', '+++ a.py', '--- /dev/null', '+++ /dev/null', 'diff --git a/a.py b/a.py',
    'new file mode 100644', 'new file mode 100755', 'deleted file mode 100644', 'rename from a.py',
    'rename to d.py', 'copy from a', 'old mode 100644', 'new mode 100755', 'index 1..2 100644',
    '\\ No newline at end of file', 'Binary files a and b differ', 'Index: a.py', '{', '}', '[', ']', '},',
    '],', '[1, 2]', '{}',
]  # fmt: skip
JSON_PARTS = [
    '{"path": "a.py", ', '"file_path": "b.py"', '"old_string": "x", ', '"new_string": "y"',
    '"new_string": "\\ud83d\\ude00"', '"old_str": "a\\nb", ', '"replace_all": true', '"edits": [',
    '{"old_string": "q", "new_string": "r"}', '}', ']', ', ', '"other": 12', '"path": 7', '"\\u00', '"x\\',
    ': ', 'null', '"explanation": "why", ', '"arguments": {', "\ud800", '"description": [1, {"a": []}], ',
]  # fmt: skip
WHOLE_LINES = [f"{line}\n" for line in MARKERS]
PARTS = ["word\r\n", "\r", "**", "<", "`", "+", "-", "@", "{", "é→\U0001f600", " ", "\t", "\n", *JSON_PARTS]
PIECES = st.lists(st.sampled_from([*WHOLE_LINES, *PARTS]), max_size=16)
FORMATS = st.sampled_from([None, None, *Format])


@cache
def texts() -> tuple[str, ...]:
    """The short texts of the corpus: the long ones are of the same shapes."""
    return tuple(sorted({case["patch"] for case in corpus() if len(case["patch"]) < 1200}))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A text of the corpus, damaged: parts cut out, doubled, swapped in from another, or marked anew."""
    text = draw(st.sampled_from(texts()))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 60)))
        match draw(st.integers(0, 4)):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:end] + text[start:]
            case 2:
                text = text[:start] + draw(st.sampled_from([*WHOLE_LINES, *PARTS])) + text[start:]
            case 3:
                other = draw(st.sampled_from(texts()))
                text = text[:start] + other[start : start + 200] + text[end:]
            case _:
                text = text[:start] + json.dumps({"path": "a", "old_string": text[start:end]}) + text[end:]
    return text


ANSWERS = st.one_of(PIECES.map("".join), mutated())


def completed(events: list[ParserEvent]) -> list[Hunk]:
    return [event.hunk for event in events if isinstance(event, Completed)]


@settings(deadline=None, max_examples=share(500, 60))
@given(ANSWERS, FORMATS, st.booleans(), st.data())
def test_any_text_is_parsed_the_same_in_any_pieces(
    text: str, format: Format | None, clean: bool, data: st.DataObject
) -> None:
    whole = merged(parse([text], clean=clean, format=format))
    assert merged(parse(list(text), clean=clean, format=format)) == whole
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert merged(parse(pieces, clean=clean, format=format)) == whole


@settings(deadline=None, max_examples=share(300, 50))
@given(ANSWERS, FORMATS, st.booleans())
def test_every_opened_hunk_ends_exactly_once(text: str, format: Format | None, clean: bool) -> None:
    events = parse([text], clean=clean, format=format)
    told = [event.number for event in events if isinstance(event, Completed | Broken)]
    opened = [event.number for event in events if isinstance(event, Opened)]
    assert len(told) == len(set(told)) and len(opened) == len(set(opened))
    assert set(opened) <= set(told)
    assert sorted(told) == list(range(1, len(told) + 1))
    if format is not None:
        assert {hunk.format for hunk in completed(events)} <= {format}


@settings(deadline=None, max_examples=share(400, 50))
@given(ANSWERS, ANSWERS, FORMATS, st.data())
def test_hunks_completed_on_a_prefix_are_the_first_of_any_continuation(
    text: str, other: str, format: Format | None, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(text)))
    parser = AutoParser(format)
    before = completed(parser.feed(text[:cut]))
    for continuation in (text[cut:], other, "", "\n" + other):
        for clean in (True, False):
            whole = completed(parse([text[:cut] + continuation], clean=clean, format=format))
            assert whole[: len(before)] == before
