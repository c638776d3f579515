"""The tests that documents name are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.checkout import ROOT

NAMED = re.compile(r"`(test_[a-z0-9_]+)`")
DOCUMENTS = [file for file in (ROOT / "docs").glob("*.md") if NAMED.search(file.read_text("utf-8"))]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: file.name)
def test_a_test_that_a_document_names_is_there(document: Path) -> None:
    code = "".join(file.read_text("utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)", code))
    assert not set(NAMED.findall(document.read_text("utf-8"))) - defined
