"""Answers that are not written as they should be land as a careful person would land them, or say why not."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from context.code.parsing import parse_error
from edits.formats.detect import AutoParser
from edits.hunk import Format, Landed, Status
from edits.landing import Landing
from tests.edits.helpers import Project, merged, parse

CASES: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("careful.toml").read_text("utf-8"))[
    "case"
]
SHOP = (
    "def bill(lines):\n    total = 0\n    for line in lines:\n        total += line.price\n    return total\n"
)


def applied(case: dict[str, Any], folder: Path, pieces: list[str]) -> Project:
    """The project after the answer has arrived in ``pieces``, as ``spark apply`` takes it."""
    project = Project(folder)
    project.landing = Landing(project.root, project.ledger, files=project.read_bytes, checker=parse_error)
    project.write({case.get("path", "shop.py"): case.get("before", SHOP)})
    parser = AutoParser(Format(case["format"]) if "format" in case else None)
    for piece in pieces:
        project.take(parser.feed(piece))
    project.take(parser.close(clean=True, unsure=True))
    return project


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_an_answer_lands_as_it_is_meant_or_is_refused(case: dict[str, Any], tmp_path: Path) -> None:
    before = case.get("before", SHOP)
    text = case["answer"].lstrip("\n")
    project = applied(case, tmp_path / "whole", [text])
    files = {case.get("path", "shop.py"): before.replace(*case["after"]) if "after" in case else before}
    if "makes" in case:
        files[case.get("new", "new.py")] = case["makes"]
    assert project.read() == files, [getattr(one, "message", one) for one in project.results]
    if "says" in case:
        (refused,) = project.refusals
        assert case["says"] in refused.message
    else:
        assert project.refusals == []
        last = project.results[-1]
        assert isinstance(last, Landed)
        assert (last.status is Status.ALREADY_APPLIED) == case.get("already", False)
        assert "rung" not in case or last.rung == case["rung"]
    assert applied(case, tmp_path / "typed", list(text)).read() == files


@pytest.mark.parametrize("case", CASES, ids=[case["about"] for case in CASES])
def test_any_chunking_says_the_same(case: dict[str, Any]) -> None:
    text = case["answer"].lstrip("\n")
    format = Format(case["format"]) if "format" in case else None
    whole = merged(parse([text], format=format))
    assert merged(parse(list(text), format=format)) == whole
    chance = random.Random(text)
    cuts = sorted(chance.randrange(len(text) + 1) for _ in range(9))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert merged(parse(pieces, format=format)) == whole
