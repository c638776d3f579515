"""Edits by characters: tables of files, old and new texts, and the splices."""

from __future__ import annotations

import pytest

from edits.hunk import RefusalCode, Replacement, Rung
from edits.placing.found import Miss, Present
from edits.placing.place import Substitution, substitute
from edits.placing.splices import Splice
from tests.edits.placing.written import text


@pytest.mark.parametrize(
    ("before", "old", "new", "everywhere", "made"),
    [
        ("abc\n", "b", "x", False, [(0, ("abc\n",), ("axc\n",))]),
        ("a\nb\nc\nd\n", "b\nc", "x", False, [(1, ("b\n", "c\n"), ("x\n",))]),
        ("a\nb\nc\n", "a\nb\nc", "a\nx\nc", False, [(1, ("b\n",), ("x\n",))]),
        ("a\nb\n", "a\n", "a\nx\n", False, [(1, (), ("x\n",))]),
        ("q1\nq2\na\nb\nq3\n", "q", "z", True,
         [(0, ("q1\n", "q2\n"), ("z1\n", "z2\n")), (4, ("q3\n",), ("z3\n",))]),
        ("q q\nq\n", "q", "zz", True, [(0, ("q q\n", "q\n"), ("zz zz\n", "zz\n"))]),
        ("a\r\nb\r\n", "a\nb", "a\nx\nb", False, [(1, (), ("x\r\n",))]),
        ("a\r\nb", "b", "b\nc", False, [(1, ("b",), ("b\r\n", "c"))]),
        ("b", "b", "b\nc", False, [(0, ("b",), ("b\n", "c"))]),
        ("a\nb\n", "b\r\n", "c\r\n", False, [(1, ("b\n",), ("c\n",))]),
        ("aaa\n", "aa", "b", True, [(0, ("aaa\n",), ("ba\n",))]),
    ],
)  # fmt: skip
def test_the_splices_of_an_edit_by_characters(
    before: str,
    old: str,
    new: str,
    everywhere: bool,
    made: list[tuple[int, tuple[str, ...], tuple[str, ...]]],
) -> None:
    found = substitute(text(before), Replacement(old, new), everywhere=everywhere)
    assert isinstance(found, Substitution)
    assert found.splices == tuple(Splice(*one) for one in made)


@pytest.mark.parametrize(
    ("before", "old", "new", "answer"),
    [
        ("x\nlong new text\ny\n", "old", "long new text", (1, 2)),
        ("x\nlong\nnew text\ny\n", "old", "long\nnew text\n", (1, 3)),
        ("x\nshort\n", "old", "short", None),
        ("x\nshort of 12.\n", "old", "short of 12.", (1, 2)),
        ("x\nshort of 11\n", "old", "short of 11", None),
        ("long new text\nlong new text\n", "old", "long new text", None),
        ("aaa\n", "aa", "b", "the text occurs 2 times (lines 1, 1)"),
        ("a\nb\na\nb\n", "a\nb", "x", "the text occurs 2 times (lines 1-2, 3-4)"),
    ],
)
def test_an_edit_by_characters_that_is_there_or_nowhere(
    before: str, old: str, new: str, answer: tuple[int, int] | str | None
) -> None:
    found = substitute(text(before), Replacement(old, new), everywhere=False)
    if isinstance(answer, tuple):
        assert found == Present(*answer, Rung.EXACT)
    elif isinstance(answer, str):
        assert isinstance(found, Miss) and found.code is RefusalCode.AMBIGUOUS
        assert found.message.startswith(answer)
    else:
        assert found is None


@pytest.mark.parametrize(
    ("before", "old", "new", "repeats"),
    [
        ("import a, b\n", "import a", "import a, b", True),
        ("import a\n", "import a", "import a, b", False),
        ("b a\n", "a", "b a", True),
        ("a\n", "a", "b a", False),
        ("a b\na\n", "a", "a b", False),
        ("a b\na b\n", "a", "a b", True),
        ("abc\n", "abc", "x", False),
    ],
)
def test_an_insertion_that_is_there_is_told(before: str, old: str, new: str, repeats: bool) -> None:
    found = substitute(text(before), Replacement(old, new), everywhere=True)
    assert isinstance(found, Substitution) and found.repeats == repeats
