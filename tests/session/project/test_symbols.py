"""Hunks whose place depends on the name of a definition, which tree-sitter finds."""

from __future__ import annotations

from pathlib import Path

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from session.project.workspace import open_workspace
from tests.session.talking import environment

SOURCE = """\
class First:
    def run(
        self,
    ):
        return 1


class Second:
    def run(
        self,
    ):
        return 1
"""


def test_an_anchor_in_the_models_own_words_finds_its_definition(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.py").write_text(SOURCE)
    lines = (HunkLine(LineKind.OLD, "        return 1"), HunkLine(LineKind.NEW, "        return 2"))
    hunk = Hunk("a.py", Action.UPDATE, Format.V4A, lines, anchors=("class Second(Base)",))
    landed = open_workspace(root, environment(tmp_path)).landing.land(hunk, hunk_id="h1")
    assert isinstance(landed, Landed), landed
    assert (root / "a.py").read_text() == SOURCE[::-1].replace("1 nruter", "2 nruter", 1)[::-1]
