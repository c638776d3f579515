"""Tests that no edit leaves a file without its form: Git LFS pointers and notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edits.guards.fixed_forms import loses_its_form
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused, Replacement
from edits.landing import Landing
from edits.ledger.ledger import Ledger

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
NOTEBOOK = json.dumps(
    {"cells": [{"cell_type": "code", "source": ["x = 1\n", "y = 2"]}], "nbformat": 4}, indent=1
)
OLD = json.dumps({"worksheets": [{"cells": []}], "nbformat": 3})


@pytest.mark.parametrize(
    ("path", "before", "after", "code"),
    [
        ("data.csv", POINTER, POINTER + b"name,count\n", RefusalCode.BINARY),
        ("data.csv", POINTER, b"name,count\n", RefusalCode.BINARY),
        ("data.csv", POINTER, POINTER, None),
        ("data.csv", POINTER, None, None),
        ("notes.md", b"about\n" + POINTER, b"x\n", None),
        ("notes.md", POINTER + b"x" * 2_000, b"x\n", None),
        ("new.csv", None, POINTER, None),
        ("n.ipynb", NOTEBOOK.encode(), NOTEBOOK.replace('"y = 2"', "y = 3").encode(), RefusalCode.MALFORMED),
        ("n.ipynb", NOTEBOOK.encode(), NOTEBOOK.replace("y = 2", "y = 3").encode(), None),
        ("n.ipynb", NOTEBOOK.encode(), b"[]", RefusalCode.MALFORMED),
        ("n.ipynb", NOTEBOOK.encode(), b'{"nbformat": 4}', RefusalCode.MALFORMED),
        ("n.ipynb", NOTEBOOK.encode(), b'{"cells": ["x"]}', RefusalCode.MALFORMED),
        ("n.ipynb", NOTEBOOK.encode(), NOTEBOOK.encode("utf-16"), RefusalCode.MALFORMED),
        ("N.IPYNB", NOTEBOOK.encode(), b"{", RefusalCode.MALFORMED),
        ("n.ipynb", b"{ broken", b"{ broken still", None),
        ("n.ipynb", None, b"print(1)\n", RefusalCode.MALFORMED),
        ("n.ipynb", b"", b"print(1)\n", RefusalCode.MALFORMED),
        ("n.ipynb", None, OLD.encode(), None),
        ("n.ipynb", NOTEBOOK.encode(), b"[" * 100_000, RefusalCode.MALFORMED),
        ("n.ipynb", NOTEBOOK.encode(), None, None),
        ("n.json", b"{}", b"{", None),
    ],
)
def test_what_loses_its_form(
    path: str, before: bytes | None, after: bytes | None, code: RefusalCode | None
) -> None:
    found = loses_its_form(path, before, after)
    assert (found and found[0]) == code
    assert found is None or path in found[1]


def replacing(path: str, old: str, new: str) -> Hunk:
    return Hunk(path, Action.UPDATE, Format.JSON, replacement=Replacement(old, new))


def test_such_edits_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "data.csv").write_bytes(POINTER)
    old = NOTEBOOK.replace('"nbformat": 4', '"nbformat": 3')  # so it is edited as JSON
    (root / "n.ipynb").write_text(old)
    landing = Landing(root, Ledger(tmp_path / "ledger"))
    whole = Hunk("data.csv", Action.UPDATE, Format.WHOLE, (HunkLine(LineKind.NEW, "name,count"),))
    moved = Hunk("data.csv", Action.MOVE, Format.V4A, move_to="b.csv")
    for number, (hunk, words) in enumerate(
        [
            (replacing("data.csv", "size 12345", "size 1"), "git lfs pull --include 'data.csv'"),
            (whole, "Git LFS pointer"),
            (replacing("n.ipynb", '"y = 2"', "y = 3"), "line 7, column 5"),
        ]
    ):
        for dry in (True, False):
            result = landing.land(hunk, hunk_id=f"h{number}", dry_run=dry)
            assert type(result) is Refused and words in result.message
    assert (root / "data.csv").read_bytes() == POINTER and (root / "n.ipynb").read_text() == old
    assert isinstance(landing.land(replacing("n.ipynb", "y = 2", "y = 3"), hunk_id="h8"), Landed)
    assert isinstance(landing.land(moved, hunk_id="h9"), Landed) and (root / "b.csv").read_bytes() == POINTER
