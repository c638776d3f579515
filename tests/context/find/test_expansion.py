from __future__ import annotations

import pytest

from context.find.expansion import forms, other_forms
from context.find.ranking import rank
from context.project.project import Project
from tests.context.conftest import Repo


@pytest.mark.parametrize(
    ("word", "form"),
    [
        ("parsing", "parse"),
        ("parsers", "parse"),
        ("parse", "parser"),
        ("queries", "query"),
        ("mapping", "map"),
        ("connection", "connect"),
        ("connect", "connection"),
        ("retried", "retry"),
        ("caches", "cache"),
        ("cache", "caching"),
    ],
)
def test_a_word_has_the_forms_that_names_use(word: str, form: str) -> None:
    found = list(forms(word))
    assert form in found and word not in found and len(found) == len(set(found))


def test_a_request_is_expanded_by_words_that_the_project_has(repo: Repo) -> None:
    repo.commit(**{"reader.py": "def parse(query): ...\n", "other.py": "def draw(): ...\n"})
    words = Project(repo.root).scan().words
    found = other_forms({"parsing": 1.0, "queries": 1.0, "draw": 1.0}, words)
    assert set(found) == {"parse", "query"} and all(0 < weight < 1 for weight in found.values())


def test_a_long_request_tells_enough_by_itself(repo: Repo) -> None:
    repo.commit(**{"reader.py": "def parse(query): ...\n", "other.py": "def draw(): ...\n"})
    words = Project(repo.root).scan().words
    few = other_forms({"parsing": 1.0}, words)["parse"]
    more = other_forms({"parsing": 1.0, **{f"word{chr(97 + n)}": 1.0 for n in range(24)}}, words)["parse"]
    assert more < few
    assert not other_forms(
        {"parsing": 1.0, **{f"w{chr(97 + n)}x" * 2: 1.0 for n in range(26)}}
        | {f"v{chr(97 + n)}x": 1.0 for n in range(26)},
        words,
    )


def test_a_request_finds_a_file_by_another_form_of_its_words(repo: Repo) -> None:
    files = {f"lib/file{n}.py": f"def work_{n}(value): return value + {n}\n" for n in range(8)}
    repo.commit(**files, **{"zz/reader.py": "def parse(query): return query\n"})
    order = list(rank(Project(repo.root).scan(), "parsing of the queries is slow", []).order)
    assert order[0] == "zz/reader.py"
