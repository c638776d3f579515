from __future__ import annotations

import pytest

from context.find.ranking import rank
from context.project.attributes import unedited_in
from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Kind, WindowRequest
from context.window.window import build
from tests.context.conftest import Repo

CODE = "def parse_headers(config):\n    return config\n"


@pytest.mark.parametrize(
    ("attributes", "unedited"),
    [
        ("gen/*.py linguist-generated", {"gen/one.py"}),
        ("gen/** linguist-generated=true", {"gen/one.py", "gen/deep/two.py"}),
        ("*.py text eol=lf linguist-vendored", {"gen/one.py", "gen/deep/two.py", "src/three.py"}),
        ("two.py linguist-generated", {"gen/deep/two.py"}),
        ("/two.py linguist-generated", set()),
        ("/gen/one.py linguist-generated", {"gen/one.py"}),
        ("gen/** linguist-generated\ngen/one.py -linguist-generated", {"gen/deep/two.py"}),
        ("gen/** linguist-generated\ngen/one.py linguist-generated=false", {"gen/deep/two.py"}),
        ("gen/** linguist-generated\ngen/** !linguist-generated", set()),
        ("gen/one.py linguist-generated -linguist-vendored", {"gen/one.py"}),
        ("gen/** linguist-detectable\n# src/** linguist-generated\n\nsrc/**", set()),
    ],
)
def test_the_project_says_which_files_nobody_edits(repo: Repo, attributes: str, unedited: set[str]) -> None:
    files = dict.fromkeys(("gen/one.py", "gen/deep/two.py", "src/three.py"), CODE)
    repo.commit(**{".gitattributes": attributes + "\n", **files})
    says = unedited_in(Project(repo.root).scan())
    assert {path for path in files if says(path)} == unedited


def test_a_file_that_only_seems_to_be_built_is_as_the_project_says(repo: Repo) -> None:
    repo.commit(**{"dist/one.py": CODE, "dist/two.py": CODE})
    assert unedited_in(Project(repo.root).scan())("dist/one.py")
    repo.commit(**{"dist/.gitattributes": "one.py -linguist-generated\n"})
    says = unedited_in(Project(repo.root).scan())
    assert not says("dist/one.py") and says("dist/two.py")


def test_the_answer_follows_the_attributes_of_a_live_project(repo: Repo) -> None:
    repo.commit(**{"gen/one.py": CODE, "src/two.py": CODE})
    project = Project(repo.root)
    assert not unedited_in(project.scan())("gen/one.py")
    repo.write(".gitattributes", "gen/** linguist-generated\n")
    assert unedited_in(project.update([".gitattributes"]))("gen/one.py")
    repo.write(".gitattributes", "gen/** -linguist-generated\n")
    assert not unedited_in(project.update([".gitattributes"]))("gen/one.py")


def test_what_nobody_edits_ranks_behind_and_is_in_the_map_by_name(repo: Repo, counter: Counter) -> None:
    repo.commit(**{".gitattributes": "gen/** linguist-generated\n", "gen/a.py": CODE, "src/headers.py": CODE})
    snapshot = Project(repo.root).scan()
    order = list(rank(snapshot, "parse the headers", []).order)
    assert order.index("src/headers.py") < order.index("gen/a.py")
    window = build(WindowRequest("", "", 50_000), snapshot, counter)
    text = next(piece.text for piece in window.pieces if piece.kind is Kind.MAP)
    assert "\ngen/a.py\n" in text and "\nsrc/headers.py:\n def parse_headers(config)\n" in text
