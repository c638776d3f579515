"""Passages of a file, what was seen of files, and the limits of budgets: tables of pure functions."""

from __future__ import annotations

from array import array

import pytest

from context.disk.source import Source
from context.index.file_text import FileText
from context.project.project import Project
from context.text.tokens import Counter
from context.window import limits
from context.window.passages import passages
from context.window.pieces import Approved, Kind, WindowRequest
from context.window.seen import Seen, Shown, ShownFile
from context.window.window import build
from tests.context.conftest import Repo

LINE = "    value = step(value)  # forty characters\n"


def function(name: str, lines: int) -> str:
    return f"def {name}(value):\n" + LINE * lines


def method(name: str, lines: int) -> str:
    return f"    def {name}(self):\n" + f"    {LINE}" * lines


def sized(name: str, size: int) -> str:
    """A function of two lines and exactly ``size`` characters."""
    head = f"def {name}():\n    x = '"
    return head + "x" * (size - len(head) - 2) + "'\n"


def prose(lines: int) -> str:
    """So many lines of 100 characters each, their ends included."""
    return ("x" * 99 + "\n") * lines


TEXTS: list[tuple[str, str, list[tuple[int, int]]]] = [
    ("small", function("one", 5), [(0, 6)]),
    (
        "short ones are joined",
        "".join(function(f"f{at}", 8) + "\n\n" for at in range(12)),
        [(0, 44), (44, 88), (88, 132)],
    ),
    (
        "long ones stand alone",
        "".join(function(f"f{at}", 25) + "\n\n" for at in range(4)),
        [(0, 28), (28, 56), (56, 84), (84, 112)],
    ),
    ("one too long", "x = 1\n" + function("one", 90) + "y = 2\n", [(0, 29), (29, 57), (57, 93)]),
    (
        "a class of methods",
        "class Big:\n" + "".join(method(f"m{at}", 14) + "\n" for at in range(9)) + "\n\nz = 1\n",
        [(0, 17), (17, 33), (33, 49), (49, 65), (65, 81), (81, 97), (97, 113), (113, 129), (129, 148)],
    ),
    (
        "a long method in a class",
        "class Big:\n" + method("short", 3) + method("long", 80) + method("last", 30),
        [(0, 31), (31, 56), (56, 86), (86, 117)],
    ),
    (
        "prose with empty lines",
        "".join("words and more words of prose\n" * 9 + "\n" for _ in range(14)),
        [(0, 40), (40, 80), (80, 140)],
    ),
    ("prose without", "words and more words of prose\n" * 150, [(0, 40), (40, 80), (80, 120), (120, 150)]),
    (
        "code between",
        "a = 1\n" * 100 + function("one", 20) + "b = 1\n" * 400 + function("two", 20) + "c = 1\n" * 90,
        [(0, 100), (100, 121), (121, 321), (321, 521), (521, 542), (542, 632)],
    ),
    (
        "nested",
        "def outer():\n" + method("inner", 50) + method("other", 50),
        [(0, 1), (1, 52), (52, 103)],
    ),
    ("no last line end", function("one", 60) + "x", [(0, 28), (28, 62)]),
    # At the bounds: 1,800 characters, 500 of a short one, parts of 1,200.
    ("not too long", sized("a", 900) + sized("b", 900), [(0, 4)]),
    ("just too long", sized("a", 900) + sized("b", 901), [(0, 2), (2, 4)]),
    ("not short", sized("a", 1300) + sized("b", 500) + sized("c", 1700), [(0, 2), (2, 4), (4, 6)]),
    ("short", sized("a", 1300) + sized("b", 499) + sized("c", 1700), [(0, 4), (4, 6)]),
    ("short before", sized("a", 499) + sized("b", 1300) + sized("c", 1700), [(0, 4), (4, 6)]),
    ("joined to the longest", sized("a", 1400) + sized("b", 400) + sized("c", 1700), [(0, 4), (4, 6)]),
    ("too long together", sized("a", 1401) + sized("b", 400) + sized("c", 1700), [(0, 2), (2, 4), (4, 6)]),
    ("parts of a stretch", prose(40), [(0, 12), (12, 24), (24, 40)]),
    ("a rest not too long", prose(30), [(0, 12), (12, 30)]),
    ("a rest just too long", prose(29) + "x" * 100 + "\n", [(0, 12), (12, 24), (24, 30)]),
    ("an empty line too early", prose(5) + "\n" + prose(30), [(0, 13), (13, 25), (25, 36)]),
    ("an empty line", prose(6) + "\n" + prose(30), [(0, 7), (7, 19), (19, 37)]),
    ("the last of two", prose(6) + "\n" + prose(3) + "\n" + prose(30), [(0, 11), (11, 23), (23, 41)]),
    ("an empty line at the end", prose(11) + "\n" + prose(30), [(0, 12), (12, 24), (24, 42)]),
    ("an empty line too late", prose(12) + "\n" + prose(30), [(0, 12), (12, 25), (25, 43)]),
    ("a line of spaces", prose(8) + "   \n" + prose(30), [(0, 9), (9, 21), (21, 39)]),
    ("a line of one letter", prose(8) + "}\n" + prose(30), [(0, 13), (13, 25), (25, 39)]),
    ("before a definition", prose(18) + sized("a", 600) + sized("b", 1700), [(0, 18), (18, 20), (20, 22)]),
    (
        "too long before a definition",
        prose(19) + sized("a", 600) + sized("b", 1700),
        [(0, 12), (12, 19), (19, 21), (21, 23)],
    ),
]
"""Names, texts, and the first line of each passage with the one behind its last."""


@pytest.mark.parametrize(("name", "text", "found"), TEXTS, ids=[name for name, _, _ in TEXTS])
def test_a_file_is_divided_into_passages(name: str, text: str, found: list[tuple[int, int]]) -> None:
    divided = passages(FileText(Source("a.py", text, name)))
    assert [(each.lines.start, each.lines.stop) for each in divided] == found
    assert sum(each.size for each in divided) == len(text) + (not text.endswith("\n"))
    for outside in (-1, len(divided)):
        with pytest.raises(IndexError):
            divided[outside]


ONE, TWO = Source("a.py", "one\n", "1"), Source("a.py", "two\n", "2")


def state(seen: Seen, path: str = "a.py") -> tuple[str, bool] | None:
    """The digest of a file as it was seen, and whether it was seen whole."""
    file = seen.shown.files.get(path)
    return (file.digest, file.whole) if file is not None else None


@pytest.mark.parametrize(
    ("before", "source", "whole", "after"),
    [
        (None, ONE, True, ("1", True)),
        (None, ONE, False, ("1", False)),
        (ShownFile("1", array("l"), True), TWO, True, ("2", True)),
        (ShownFile("1", array("l"), True), TWO, False, ("1", True)),
        (ShownFile("1", array("l"), False), TWO, False, ("1", False)),
        (ShownFile("0", None, True), TWO, False, ("2", False)),
    ],
)
def test_what_a_tool_read_is_known(
    before: ShownFile | None, source: Source, whole: bool, after: tuple[str, bool]
) -> None:
    files = {} if before is None else {"a.py": before}
    assert state(Seen(Shown(files=files)).having_read([(source, whole)])) == after


def test_what_the_model_wrote_is_known_of_files_that_it_saw() -> None:
    assert state(Seen().knowing([ONE])) is None
    read = Seen().having_read([(ONE, False)])
    assert state(read.knowing([TWO])) == ("2", False)
    assert state(read.restart()) is None
    part = ShownFile("1", None, False, frozenset({(2, 9)}))
    for asked, known in (((2, 9), True), ((3, 4), True), ((1, 4), False), ((3, 10), False)):
        assert part.has_shown([asked]) == known, asked
    assert part.has_shown([]) and not part.has_shown([(3, 4), (1, 2)])


@pytest.mark.parametrize(
    ("budget", "of_map", "afresh", "fill"),
    [
        (10_000, 2_400, 1_200, 7_836),
        (32_000, 7_680, 3_840, 25_436),
        (40_000, 7_680, 6_816, 29_485),
        (72_000, 7_680, 18_720, 53_165),
        (104_000, 7_680, 30_624, 76_845),
        (112_000, 7_680, 33_600, 82_765),
        (112_001, 7_680, 3_840, 25_436),
        (200_000, 7_680, 3_840, 25_436),
        (922_000, 7_680, 3_840, 25_436),
    ],
)
def test_shares_change_evenly_up_to_large_budgets_and_larger_ones_are_filled_comfortably(
    budget: int, of_map: int, afresh: int, fill: int
) -> None:
    assert limits.map_limit(budget) == of_map and limits.afresh_limit(budget) == afresh
    assert limits.fill_limit(budget, 500, 330) == fill
    assert limits.fill_comfort(budget, 500, 330) == min(fill, 25_436)


def test_a_conversation_starts_afresh_at_a_share_of_what_is_not_standing() -> None:
    assert limits.restart_limit(10_000, 2_000) == 6_800


def test_a_request_has_used_nothing_and_approves_nothing() -> None:
    request = WindowRequest("why?", "", 100)
    assert (request.used, request.fills_up, request.map_limit, request.likely_limit) == (0, False, None, None)
    assert not request.approved.any and not Approved().holds("AGENTS.md", "1")
    agreed = Approved({"AGENTS.md": frozenset({"1"})})
    assert agreed.any and agreed.holds("AGENTS.md", "1") and not agreed.holds("AGENTS.md", "2")
    assert Approved(all=True).any and Approved(all=True).holds("AGENTS.md", "2")


def test_instructions_of_folders_come_from_the_top_down(repo: Repo, counter: Counter) -> None:
    repo.commit(
        **{"a/b/AGENTS.md": "One.\n", "z/AGENTS.md": "Two.\n", "a/b/x.py": "x = 1\n", "z/y.py": "y = 1\n"}
    )
    request = WindowRequest("@a/b/x.py @z/y.py", "", 9_000, approved=Approved(all=True))
    pieces = build(request, Project(repo.root).scan(), counter).pieces
    found = [each.path for each in pieces if each.kind is Kind.PROJECT_INSTRUCTIONS]
    assert found == ["z/AGENTS.md", "a/b/AGENTS.md"]
