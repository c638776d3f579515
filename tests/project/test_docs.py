"""What the documents name is there: files, modules, classes, links and their headings."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from session.base.events import Event
from tests.checkout import ROOT
from tests.project.source import PACKAGES, modules

THREADS = ROOT / "docs" / "threads.md"
WHERE = ROOT / "docs" / "where.md"
DOCUMENTS = [ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md")] + sorted(
    (ROOT / "docs").glob("*.md")
)
EVENT_TYPES = {event.type for event in get_args(Event)}
WIDTH = 100
"""Columns at which documents wrap; tables, pictures and code may be wider."""

_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_PATH = re.compile(rf"(?:{'|'.join(PACKAGES)}|tests|docs|\.ci)/[\w./*-]*")
_DOTTED = re.compile(rf"(?:{'|'.join(PACKAGES)}|tests)(?:\.\w+)+")
_FILE = re.compile(r"[\w./-]+\.py")
EXAMPLES = {"setup.py", "app.py", "path/to/cart.py", "a.py", "b.py", "store.py"}
"""Names of files of users' projects."""
_MODULE = re.compile(r"python3? -m (tests[\w.]+)")


def named(document: Path) -> Iterator[str]:
    """Everything that ``document`` sets as code in its lines."""
    yield from _CODE.findall(document.read_text("utf-8"))


def prose(document: Path) -> Iterator[tuple[int, str]]:
    """The lines that are neither in a table nor code nor a picture, with their numbers."""
    fenced = False
    for number, line in enumerate(document.read_text("utf-8").splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("|", "![", "    ")):
            yield number, line


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def defined(dotted: str) -> bool:
    """Whether a dotted name is a module, or stands in the module that it begins with."""
    place = ROOT / dotted.replace(".", "/")
    if place.with_suffix(".py").is_file() or (place / "__main__.py").is_file() or dotted in EVENT_TYPES:
        return True
    module, _, name = dotted.rpartition(".")
    while module:
        if module in modules():
            return re.search(rf"\b{name}\b", modules()[module].read_text("utf-8")) is not None
        module, _, name = module.rpartition(".")
    return False


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    paths = [name for name in named(document) if _PATH.fullmatch(name)]
    assert [path for path in paths if not list(ROOT.glob(path.rstrip("/")))] == []


def tails() -> set[str]:
    """The project's files in Python by every end of their paths."""
    paths = [
        file.relative_to(ROOT).parts for top in (*PACKAGES, "tests") for file in (ROOT / top).rglob("*.py")
    ]
    return {"/".join(path[at:]) for path in paths for at in range(len(path))}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_python_file_that_a_document_names_exists(document: Path) -> None:
    names = {name for name in named(document) if _FILE.fullmatch(name)}
    assert sorted(names - tails() - EXAMPLES) == []


def test_every_module_says_in_a_sentence_what_it_is_and_names_files_that_exist() -> None:
    known, wrong = tails() | EXAMPLES, []
    for module, file in modules().items():
        says = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
        missing = {name for name in re.findall(r"``([^`\n]+)``", says) if _FILE.fullmatch(name)} - known
        if missing or "TODO" in says or (says and len(says.split()) < 3):
            wrong.append((module, sorted(missing), says[:40]))
    assert wrong == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_module_that_a_document_names_exists(document: Path) -> None:
    names = {name for name in named(document) if _DOTTED.fullmatch(name) and not name.endswith(".py")}
    names |= set(_MODULE.findall(document.read_text("utf-8")))
    assert sorted(name for name in names if not defined(name)) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_every_link_leads_somewhere(document: Path) -> None:
    wrong = []
    for link in _LINK.findall(document.read_text("utf-8")):
        if link.startswith("https://"):
            continue
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.is_file() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.name)
def test_a_document_wraps_its_lines(document: Path) -> None:
    assert [number for number, line in prose(document) if len(line) > WIDTH] == []


def test_the_table_of_threads_names_classes_that_exist() -> None:
    cells = re.findall(r"^\| ([^|]+) \|", THREADS.read_text("utf-8"), re.MULTILINE)
    classes = {name for cell in cells for name in _CODE.findall(cell) if re.fullmatch(r"[A-Z]\w+", name)}
    assert len(classes) > 20
    source = "\n".join(file.read_text("utf-8") for file in modules().values())
    assert sorted(name for name in classes if not re.search(rf"^class {name}\b", source, re.MULTILINE)) == []


def test_each_row_of_what_to_open_names_files_and_their_tests() -> None:
    heads = ("| to change ", "| --- ")
    lines = [line for line in WHERE.read_text("utf-8").splitlines() if "|" in line]
    rows = [line.strip("|").split("|") for line in lines if not line.startswith(heads)]
    assert len(rows) > 40
    for row in rows:
        assert len(row) == 3, row
        what, files, tests = row
        assert what.strip() and _CODE.findall(files) and _CODE.findall(tests), row
        assert all((ROOT / path).exists() for path in _CODE.findall(files + tests)), row


@pytest.mark.long
def test_the_table_of_attacks_counts_what_there_is() -> None:
    code = "from tests.hostile import PAGE, table; raise SystemExit(table() not in PAGE.read_text('utf-8'))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0, (
        "write it by python3 -m tests.hostile"
    )
