"""Notebooks are read as the text of their cells: the one by which edits find lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from context.code.notebook import LARGEST_NOTEBOOK, cells_text
from context.code.outline import outline
from context.code.parsing import parse_error
from context.disk.changes import line_sums
from context.disk.source import LARGEST, Source, Unread, read
from context.find.ranking import rank
from context.project.project import Project
from context.text.tokens import Counter
from context.window.window import WindowRequest, build
from edits.files.notebook import shown
from tests.context.conftest import Repo
from tests.edits.files.test_notebook import AS_WRITTEN, FORMS, SHOWN

PICTURE = "iVBORw0KGgoAAAANSUhEUgAA" * 50_000


def notebook(*cells: tuple[str, str], output: str = "") -> str:
    made = []
    for kind, source in cells:
        cell: dict[str, object] = {
            "cell_type": kind,
            "metadata": {},
            "source": source.splitlines(keepends=True),
        }
        if kind == "code":
            cell |= {"execution_count": 1, "outputs": [{"data": {"image/png": output}}] if output else []}
        made.append(cell)
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, indent=1)


ODD = ["", "[]", "{", "[" * 5_000, '{"cells": [], "nbformat": 4}', '{"cells": 1, "nbformat": 4}']
ODD += [AS_WRITTEN.replace(old, new) for old, new in (
    ('"nbformat": 4', '"nbformat": 3'),
    ("as one string", "# %%"),
    ("as one string", "# %% [raw]"),
    ("as one string", "a\\r\\nb"),
    ("as one string", "\\ud800"),
    ('"as one string"', "1"),
    ('"as one string"', "[1]"),
    ('"raw"', '"heading"'),
    ('"cells"', '"sheets"'),
)]  # fmt: skip


@pytest.mark.parametrize("raw", [*FORMS.values(), *ODD])
def test_the_window_and_the_edits_see_the_same_text(raw: str) -> None:
    assert cells_text(raw) == shown(raw)


def test_a_notebook_is_outlined_by_its_code() -> None:
    text = cells_text(
        notebook(
            ("markdown", "def of(words)\n# class A:"),
            ("code", "%pip x\ndef f(x):\n    pass"),
            ("raw", "class B: pass"),
        )
    )
    assert text is not None and outline("a.ipynb", text).text == "def f(x)\n"
    assert parse_error("a.ipynb", text) is None, "cells of words are no errors"
    assert outline("a.ipynb", SHOWN).symbols[0].start == 5


def test_a_long_output_does_not_count_and_is_not_shown(tmp_path: Path) -> None:
    repo = Repo(tmp_path)
    raw = notebook(
        ("markdown", "# How quenching works"),
        ("code", "def quench(steel):\n    return steel\n"),
        output=PICTURE,
    )
    assert len(raw) > LARGEST
    repo.commit(**{"a.ipynb": raw, "b.md": "quench\n" * 9})
    source = read(repo.root, "a.ipynb")
    assert isinstance(source, Source) and len(source.text) < 100
    (repo.root / "long.ipynb").write_text(f"{raw}{' ' * LARGEST_NOTEBOOK}")
    unread = read(repo.root, "long.ipynb")
    assert isinstance(unread, Unread) and "over 8 MB" in unread.why
    project = Project(repo.root)
    snapshot = project.scan()
    assert rank(snapshot, "what does quench do?", ()).order.top[0] == "a.ipynb", "it is code, not prose"
    counter = Counter()
    window = build(WindowRequest("what does @a.ipynb do?", "", 8_000), snapshot, counter)
    texts = "".join(piece.text for piece in window.pieces)
    assert "# %%\ndef quench(steel):" in texts and "iVBOR" not in texts
    repo.write("a.ipynb", raw.replace("return steel", "return cold"))
    source = read(repo.root, "a.ipynb")
    assert isinstance(source, Source)
    changed = project.scan().changes["a.ipynb"].ranges(line_sums(source))
    assert changed == [range(4, 5)], "of the cells' text, in which edits count lines"
