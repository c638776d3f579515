"""Places similar to the intended one, and blank lines that differ from the file's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edits.files.text import decode
from edits.formats.detect import AutoParser
from edits.formats.events import Completed
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.placing.found import Miss, Place
from edits.placing.locate import locate
from edits.placing.splices import spliced, splices


def hunk(*lines: str) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk("a.py", Action.UPDATE, Format.V4A, body)


def landed(lines: list[str], edit: Hunk) -> list[str] | None:
    """The file with the hunk in it, or None when it is refused."""
    found = locate(lines, edit)
    if not isinstance(found, Place):
        return None
    file = decode("".join(f"{line}\n" for line in lines).encode(), "a.py")
    return spliced(file, splices(file, found, "\n")).splitlines()


@pytest.mark.parametrize(("hint", "line"), [(3, None), (4, None), (20, 20), (17, 20), (9, None)])
def test_a_line_hint_off_by_a_few_does_not_choose_among_neighbours(hint: int, line: int | None) -> None:
    file = ["other"] * 24
    for at in (3, 6, 20):
        file[at - 1] = "    assert result.exit_code == 0"
    found = locate(file, replace(hunk("-    assert result.exit_code == 0"), line_hint=hint))
    assert (found.start + 1 if isinstance(found, Place) else None) == line


def test_a_single_line_without_its_typed_blank_lines_is_refused() -> None:
    parser = AutoParser()
    text = "a.py\n<<<<<<< SEARCH\n\n    for default in True, False:\n\n=======\n\n\n>>>>>>> REPLACE\n"
    events = [*parser.feed(text), *parser.close(clean=True)]
    (edit,) = [event.hunk for event in events if isinstance(event, Completed)]
    file = ["def test(runner):", "    for default in True, False:", "        run(default)"]
    assert isinstance(locate(file, edit), Miss)


def documented(name: str) -> list[str]:
    return [
        "def make(*args):",
        f'    """Attaches one to the command. All arguments are passed to {name}; all keyword',
        "    arguments are forwarded unchanged. This is equivalent to creating an",
        "    instance manually and attaching it to the parameters of the command list.",
        '    """',
    ]


@pytest.mark.parametrize(("other", "lands"), [([], True), (["Argument = 1"], False)])
def test_a_stale_line_with_a_name_that_the_file_still_uses_is_refused(other: list[str], lands: bool) -> None:
    typed = documented("Argument")
    edit = hunk(*(f" {line}" for line in typed[:3]), f"-{typed[3]}", "+    changed", f" {typed[4]}")
    assert (landed([*documented("Option"), *other], edit) is not None) == lands


def test_too_many_copies_are_refused() -> None:
    copy = ["    })", "    it('should not override', function(done){", "      var app = express();", "", ""]
    edit = hunk(f" {copy[0]}", f" {copy[1]}".replace("'", '"'), f"-{copy[2]}", "+      changed", " ")
    assert landed([*copy, "one"], edit) is not None
    assert landed([line for number in range(12) for line in [*copy, f"number {number}"]], edit) is None


def test_strings_are_not_names() -> None:
    file = ["    'progressbar', 'clear', 'style',", "    'other',"]
    assert landed(file, hunk("-    progressbar, clear, style", "+    progressbar")) is None


ABOVE, BELOW = "    return repr(self._file)", "def echo(message=None, file=None):"


@pytest.mark.parametrize(
    ("typed", "result"),
    [
        ([f" {ABOVE}", f"-{BELOW}", "+x"], [ABOVE, "", "", "x"]),
        ([f"-{ABOVE}", "+x", f" {BELOW}"], ["x", "", "", BELOW]),
        ([f" {ABOVE}", "+x", " ", f" {BELOW}"], [ABOVE, "x", "", "", BELOW]),
        ([f" {ABOVE}", " ", "+x", f" {BELOW}"], [ABOVE, "", "", "x", BELOW]),
        ([f" {ABOVE}", "+", "+x", f" {BELOW}"], [ABOVE, "", "x", "", "", BELOW]),
        ([f" {ABOVE}", "+x", "+", f" {BELOW}"], [ABOVE, "", "", "x", "", BELOW]),
        ([f" {ABOVE}", "+x", f" {BELOW}"], None),
        ([f" {ABOVE}", " ", "+x", "+", f" {BELOW}"], None),
        ([f" {ABOVE}", "+", "+x", " ", f" {BELOW}"], None),
        ([f" {ABOVE}", "-", f" {BELOW}"], [ABOVE, "", BELOW]),
        ([f"-{ABOVE}", f"-{BELOW}", "+x"], None),
        (["+x", f" {ABOVE}", f"-{BELOW}"], ["x", ABOVE, "", ""]),
        (["+x", " ", f" {ABOVE}", f"-{BELOW}"], None),
    ],
)
def test_other_blank_lines_than_in_the_file(typed: list[str], result: list[str] | None) -> None:
    found = landed(["top", ABOVE, "", "", BELOW, "end"], hunk(*typed))
    assert found == (None if result is None else ["top", *result, "end"])


def test_the_place_ends_with_its_last_line_of_words() -> None:
    found = locate(["top", ABOVE, "", "", BELOW, "", "end"], hunk(" ", f" {ABOVE}", f"-{BELOW}", "+x", " "))
    assert isinstance(found, Place) and (found.start, found.end) == (1, 5)
    deeper = locate(["top", f"  {ABOVE}", "", f"  {BELOW}", "end"], hunk(f" {ABOVE}", f"-{BELOW}", "+x"))
    assert isinstance(deeper, Place) and (deeper.start, deeper.end) == (1, 4)
    assert [line.text for line in deeper.lines][-1] == "  x"


def test_other_blank_lines_in_two_places_are_refused() -> None:
    block = [ABOVE, "", "", BELOW]
    assert landed([*block, "between", *block], hunk(f" {ABOVE}", f"-{BELOW}", "+x")) is None
