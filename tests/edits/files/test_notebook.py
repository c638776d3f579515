"""Notebooks are edited as cells, and written as the notebook program writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edits.files.notebook import shown, written
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from tests.edits.helpers import Project

NOTEBOOK: dict[str, Any] = {
    "cells": [
        {"cell_type": "markdown", "id": "a1", "metadata": {}, "source": ["# Title\n", "\n", "caf\u00e9"]},
        {
            "cell_type": "code",
            "execution_count": 3,
            "id": "b2",
            "metadata": {"tags": ["x"]},
            "outputs": [
                {"data": {"image/png": "iVBORw0KGgo="}, "metadata": {}, "output_type": "display_data"}
            ],
            "source": ["def f(x):\n", '    return "\\\\n"\n', "f(1)"],
        },
        {
            "cell_type": "code",
            "execution_count": None,
            "id": "c3",
            "metadata": {},
            "outputs": [],
            "source": [],
        },
        {"cell_type": "raw", "id": "d4", "metadata": {}, "source": "as one string"},
    ],
    "metadata": {"kernelspec": {"name": "python3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
AS_WRITTEN = json.dumps(NOTEBOOK, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
SHOWN = """\
# %% [markdown]
# Title

caf\u00e9
# %%
def f(x):
    return "\\\\n"
f(1)
# %%

# %% [raw]
as one string
"""
FORMS = {
    "as the program writes it": AS_WRITTEN,
    "two blanks": json.dumps(NOTEBOOK, indent=2),
    "on one line": json.dumps(NOTEBOOK),
    "without blanks": json.dumps(NOTEBOOK, separators=(",", ":"), ensure_ascii=False),
    "Windows line ends": AS_WRITTEN.replace("\n", "\r\n"),
}


def sources(raw: str) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(raw)["cells"]]


@pytest.mark.parametrize("raw", FORMS.values(), ids=FORMS)
def test_cells_are_shown_without_outputs_and_only_what_differs_is_written(raw: str) -> None:
    assert shown(raw) == SHOWN and written(raw, SHOWN) == raw
    changed = written(raw, SHOWN.replace("f(1)", "f(2)\n\nf(3)").replace("one string", "a string"))
    assert json.loads(changed)["cells"][0] == NOTEBOOK["cells"][0]
    cell = json.loads(changed)["cells"][1]
    assert cell == {
        **NOTEBOOK["cells"][1],
        "source": [*NOTEBOOK["cells"][1]["source"][:2], "f(2)\n", "\n", "f(3)"],
    }
    assert json.loads(changed)["cells"][3]["source"] == "as a string"
    line = "\r\n" if "\r" in raw else "\n"
    outside = [one for one in raw.split(line) if "f(1)" not in one and "one string" not in one]
    assert line not in raw or all(one in changed.split(line) for one in outside)


@pytest.mark.parametrize("raw", FORMS.values(), ids=FORMS)
def test_cells_are_added_moved_into_and_removed(raw: str) -> None:
    more = SHOWN.replace("# %%\n\n", "# %%\nimport os\n# %% [markdown]\nmore\n# %%\n\n")
    added = written(raw, more)
    assert shown(added) == more and written(added, SHOWN) != added
    old, new = NOTEBOOK["cells"], json.loads(added)["cells"]
    assert [cell["id"] for cell in new[:2]] == ["a1", "b2"] and new[4:] == old[2:]
    assert {key: new[2][key] for key in ("cell_type", "execution_count", "outputs")} == {
        "cell_type": "code",
        "execution_count": None,
        "outputs": [],
    }
    assert len({cell["id"] for cell in new}) == 6 and "outputs" not in new[3]
    assert written(raw, more) == added, "the same bytes each time"
    assert json.loads(written(raw, SHOWN.partition("# %%\n\n")[0]))["cells"] == old[:2]
    assert json.loads(written(raw, ""))["cells"] == []
    assert shown(written(written(raw, ""), SHOWN)) == SHOWN


def test_the_form_of_what_is_added_is_the_programs() -> None:
    added = written(AS_WRITTEN, SHOWN + "# %%\nimport os\n\nx = 1\n")
    assert json.dumps(json.loads(added), indent=1, ensure_ascii=False, sort_keys=True) + "\n" == added


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "[]",
        "{",
        '{"cells": []}',
        AS_WRITTEN.replace('"nbformat": 4', '"nbformat": 3'),
        AS_WRITTEN.replace("as one string", "# %%"),
        AS_WRITTEN.replace("as one string", "a\\r\\nb"),
        AS_WRITTEN.replace("as one string", "\\ud800"),
        AS_WRITTEN.replace('"as one string"', "1"),
        "[" * 5_000,
    ],
)
def test_what_is_no_notebook_for_sure_stays_json(raw: str) -> None:
    assert shown(raw) is None


def hunk(path: str, *lines: str, action: Action = Action.UPDATE) -> Hunk:
    return Hunk(path, action, Format.V4A, tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines))


def test_hunks_land_in_cells_and_are_undone_to_the_same_bytes(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write({"a.ipynb": AS_WRITTEN})
    landed = project.landing.land(
        hunk("a.ipynb", " def f(x):", '-    return "\\\\n"', "+    return x"), hunk_id="h1"
    )
    assert isinstance(landed, Landed)
    after = project.read()["a.ipynb"]
    assert '    "    return x\\n",\n' in after and after.count("iVBOR") == 1
    assert isinstance(project.landing.land(hunk("a.ipynb", "-f(1)", "+f(2)"), hunk_id="h2"), Landed)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert sources(project.read()["a.ipynb"])[1] == 'def f(x):\n    return "\\\\n"\nf(2)'
    assert isinstance(project.landing.undo("h2"), Landed)
    assert project.read() == {"a.ipynb": AS_WRITTEN}
    refused = project.landing.land(hunk("a.ipynb", "-# %% [markdown]", "+title"), hunk_id="h3")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.MALFORMED
    assert project.read() == {"a.ipynb": AS_WRITTEN}


def test_a_new_notebook_is_made_of_cells_or_of_json(tmp_path: Path) -> None:
    project = Project(tmp_path)
    lines = ("+# %% [markdown]", "+# New", "+# %%", "+x = 1")
    assert isinstance(project.landing.land(hunk("b.ipynb", *lines, action=Action.ADD), hunk_id="h1"), Landed)
    assert sources(project.read()["b.ipynb"]) == ["# New", "x = 1"]
    assert isinstance(project.landing.land(hunk("b.ipynb", "-x = 1", "+x = 2"), hunk_id="h2"), Landed)
    assert sources(project.read()["b.ipynb"]) == ["# New", "x = 2"]
    assert isinstance(project.landing.undo("h2"), Landed)
    assert sources(project.read()["b.ipynb"]) == ["# New", "x = 1"]
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read() == {}
    added = hunk("c.ipynb", *(f"+{line}" for line in AS_WRITTEN.split("\n")[:-1]), action=Action.ADD)
    assert isinstance(project.landing.land(added, hunk_id="h3"), Landed)
    assert project.read() == {"c.ipynb": AS_WRITTEN}
