"""Which lines of new text are none: placeholders, markup, entities; and how deep lines may stand."""

from __future__ import annotations

import pytest

from edits.hunk import Format, HunkLine, LineKind
from edits.newtext.markup import are_numbered, are_signed, escaped_line, marker_in, unescaped
from edits.newtext.placeholders import are_code, is_dots, is_placeholder
from edits.newtext.soundness import placeholders_in, stray_separator, unsound, unsound_file
from edits.placing.indent import breaks

LEFT_OUT = """\
# ... existing code ...
# ... (existing code) ...
// rest of the file unchanged
(rest of methods ...)
/* ... existing styles ... */
<!-- ... existing content ... -->
{/* ... rest of the component ... */}
... existing code ...
[... rest of the file ...]
-- rest of the query unchanged
# … existing code …
// unchanged
// (other handlers remain unchanged)
# ... same as before ...
# code omitted for brevity
// keep existing imports
rest of code unchanged
; ... remaining lines unchanged
// ... keep the rest ...
{/* Rest of the JSX unchanged */}
# === rest of code unchanged ===
# keep everything else the same
// code continues as before
# no changes below
""".splitlines()
TEXT = """\
# Wait for the remaining workers...
...rest,
# Other imports
# copy the rest of the file
# keep the existing connection alive
print("loading ... more")
x = [...other]
# the rest of the arguments
// TODO: other methods
and more...
… more
The rest of the arguments are passed on.
- existing entries
# existing code is kept because it is fast and small
""".splitlines()


@pytest.mark.parametrize("text", LEFT_OUT)
def test_lines_that_stand_for_others(text: str) -> None:
    assert is_placeholder(text) and is_placeholder(f"    {text}")
    assert placeholders_in("a.py", ["x"], ["x", text]) == [1]
    assert placeholders_in("a.py", [f"\t{text}"], ["x", text]) == []


@pytest.mark.parametrize(
    ("above", "text", "found"),
    [
        ("x", "// total remains unchanged", [1]),
        ("x", "    # (ports as before)", [1]),
        ("x", "[helpers omitted for brevity]", [1]),
        ("x", "/* the cart is left as is */", [1]),
        ("# Where it is full,", "# the list is left unchanged.", []),
        ("x", "the list is left unchanged", []),
        ("x", "# returned unchanged to whoever asked", []),
    ],
)
def test_comments_of_a_whole_file_that_stand_for_what_they_name(
    above: str, text: str, found: list[int]
) -> None:
    assert placeholders_in("a.py", ["x"], [above, text, "y"]) == found


@pytest.mark.parametrize("text", TEXT)
def test_lines_that_only_speak_of_the_rest(text: str) -> None:
    assert not is_placeholder(text)


@pytest.mark.parametrize(
    ("text", "above", "path", "code"),
    [
        ("    ...", "def f(): # x:", "a.py", True),
        ("    ...", '    """Say it."""', "a.pyi", True),
        ("    ...", "    x = 1", "a.py", False),
        ("  ...", "f() {", "a.js", False),
        ("# ...", "def f():", "a.py", False),
        ("...", "text", "a.md", True),
        ("...", "key: 1", "a.yaml", True),
    ],
)
def test_where_dots_are_text(text: str, above: str, path: str, code: bool) -> None:
    assert is_dots(text) and are_code(text, above, path) == code


@pytest.mark.parametrize(
    ("new", "file", "path", "kind"),
    [
        (["<<<<<<< HEAD"], ["a"], "a.py", "a conflict marker"),
        ([">>>>>>> main"], ["<<<<<<< HEAD"], "a.py", None),
        (["*** End Patch"], ["a"], "a.py", "a line of a V4A patch"),
        (["*** End Patch"], ["a"], "a.patch", None),
        (["@@ -1 +1 @@"], ["a"], "a.py", "a line of a diff"),
        (["@@count = 0"], ["a"], "a.rb", None),
        (["--- a/x"], [], "a.py", "a line of a diff"),
        (["+++++++ REPLACE"], [], "a.py", "a SEARCH/REPLACE marker"),
        (["x>>>>>>> REPLACE"], [], "a.py", "a marker at the end of a line"),
        (["</new_string>"], [], "a.py", "the end of a tool call's tag"),
        (["<content>", "</content>"], [], "a.xml", None),
        (["</content>"], ["<content>"], "a.xml", None),
        (["```"], ["x"], "a.md", "a code fence without its other half"),
        (["```", "x", "```"], ["x"], "a.md", None),
        (["~~~~~~~"], ["x"], "a.rst", None),
        (["a >> b", "i++", "--- x"], [], "a.c", None),
    ],
)
def test_markers(new: list[str], file: list[str], path: str, kind: str | None) -> None:
    found = marker_in(new, [], file, path)
    assert (found and found[1]) == kind


def test_a_fence_that_replaces_another_is_text() -> None:
    assert marker_in(["```python"], ["```"], ["```", "x", "```"], "a.md") is None


@pytest.mark.parametrize(
    ("new", "file", "bullets", "signed"),
    [
        (["+a", "+b"], ["a"], False, True),
        (["+a", "b"], ["a"], False, False),
        (["+a"], ["+x"], False, False),
        (["+ a", "+ b"], ["a"], True, False),
        (["+    a"], ["a"], True, True),
        (["++i;"], ["a"], True, False),
        ([""], ["a"], False, False),
    ],
)
def test_signs_before_every_line(new: list[str], file: list[str], bullets: bool, signed: bool) -> None:
    assert are_signed(new, file, bullets=bullets) == signed


def test_numbers_before_every_line() -> None:
    assert are_numbered(["3 | a", "4 | b"], ["a"]) and are_numbered(["7\ta", "8\tb"], ["a"])
    assert not are_numbered(["3 | a", "9 | b"], []) and not are_numbered(["1 | a"], [])
    assert not are_numbered(["3 | a", "4 | b"], ["2 | x"]) and not are_numbered(["3 x", "4 y"], [])


@pytest.mark.parametrize(
    ("new", "file", "path", "at"),
    [
        (["a -&gt; b"], [], "a.py", 0),
        (["x", "if (a &lt; b && c)"], ["x"], "a.js", 1),
        (["a &lt; b"], ["&amp;"], "a.py", None),
        (["a &lt; b"], [], "a.html", None),
        (["<b>a &lt; b</b>"], [], "a.js", None),
        (['s = "&lt;"', "if a < b:"], [], "a.py", None),
        (['s = "&lt;"'], [], "a.py", 0),
        (["a && b"], [], "a.js", None),
    ],
)
def test_entities(new: list[str], file: list[str], path: str, at: int | None) -> None:
    assert escaped_line(new, file, path) == at


def test_an_entity_is_undone_once() -> None:
    assert unescaped("&amp;lt; &#x27;a&#39; &nbsp; &LT;") == "&lt; 'a' &nbsp; <"


@pytest.mark.parametrize(
    ("new", "prose", "stray"),
    [
        (["Use", "===="], False, None),
        (["a", "=======", "b"], False, "======="),
        (["Options", "=======", "b"], False, None),
        (["Options", "======="], True, None),
        (["Options", "======="], False, "======="),
        (["Options", "=======", "======="], True, "======="),
    ],
)
def test_separators(new: list[str], prose: bool, stray: str | None) -> None:
    assert stray_separator(new, [], prose=prose) == stray
    assert stray_separator(new, ["======="], prose=prose) is None


def test_what_is_wrong_names_the_line() -> None:
    lines = [HunkLine(LineKind.OLD, "a"), HunkLine(LineKind.NEW, "# ... rest of code ...")]
    assert "'# ... rest of code ...' stands for text" in (unsound("a.py", ["a"], lines, Format.V4A) or "")
    assert unsound("a.py", ["a", lines[1].text], lines, Format.V4A) is None
    assert unsound("a.md", ["a"], [lines[1]], Format.V4A) is not None
    sample = HunkLine(LineKind.NEW, "    # ... rest of code ...")
    assert unsound("a.md", ["a"], [sample], Format.V4A) is None
    assert unsound("a.md", ["a"], lines, Format.V4A) is not None


@pytest.mark.parametrize(
    ("new", "sound"),
    [
        (["a", "*** End Patch"], False),
        (["a", "*** End Patch", "b"], True),
        (["```", "a", "```"], True),
        (["a", "```"], False),
        (["# rest of the code unchanged"], False),
        (["+a", "+b"], False),
        (["a -&gt; b"], False),
        ([], True),
    ],
)
def test_a_new_file(new: list[str], sound: bool) -> None:
    assert (unsound_file("a.py", new, Format.V4A) is None) == sound


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("if a:|    b", 0),
        ("if a:|b", 1),
        ("a = 1|    b", 1),
        ("f(a,|  b)", 0),
        ("f() {|  a;|}", 0),
        ("f() {|a;|}", 1),
        ("    a|b|    c", 1),
        ("if a:|    b||    c", 0),
        ("  a|    .b()", 0),
        (" * a|  * b", 1),
        ("a = [|    1,|]", 0),
        ("a = [|    1,|  ]", 1),
        ("\ta|    b", 1),
    ],
)
def test_lines_are_deeper_only_below_what_opens(lines: str, count: int) -> None:
    assert breaks([(line, True) for line in lines.split("|")]) == count
    assert breaks([(line, False) for line in lines.split("|")]) == 0
