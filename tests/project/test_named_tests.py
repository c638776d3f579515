"""The tests that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.checkout import ROOT

NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
DOCUMENTS = [file for file in (ROOT / "docs").glob("*.md") if NAMED.search(file.read_text("utf-8"))]


@pytest.fixture(scope="module")
def defined() -> set[str]:
    """The names of all tests."""
    files = (ROOT / "tests").rglob("test_*.py")
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_a_test_that_a_document_names_is_there(document: Path, defined: set[str]) -> None:
    assert not set(NAMED.findall(document.read_text("utf-8"))) - defined
