"""The wings, in an order in which each imports only those before it, and the rooms with one sentence each."""

from __future__ import annotations

import pytest

from tests.checkout import ROOT
from tests.project import architecture
from tests.project.source import (
    PACKAGES,
    WINGS,
    circles,
    file_of,
    imported_modules,
    imports,
    longest_chain,
    modules,
    python_files,
    room_of,
    rooms,
    summary,
    wing_of,
)

MOST_FILES = 20
"""How many Python files a folder of the five packages may hold."""
LONGEST_CHAIN = 26
"""Modules in the longest chain of imports. It only becomes less."""


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == [["b", "c"]]
    assert circles({"a": ["a"]}) == [["a"]]
    assert circles({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_the_longest_chain_is_found() -> None:
    assert longest_chain({"a": ["b", "d"], "b": ["c"], "c": ["d"], "d": []}) == ["a", "b", "c", "d"]
    assert longest_chain({}) == []


def test_modules_import_each_other_in_no_circle() -> None:
    assert circles(imported_modules()) == []


def test_no_chain_of_imports_is_long() -> None:
    chain = longest_chain(imported_modules())
    assert len(chain) <= LONGEST_CHAIN, " → ".join(chain)


def test_every_room_stands_in_a_wing() -> None:
    assert {wing_of(room) for room in rooms()} == set(WINGS)
    assert len(WINGS) == len(set(WINGS))


def test_a_wing_imports_only_wings_listed_before_it() -> None:
    order = {wing: place for place, wing in enumerate(WINGS)}
    wrong = [
        f"{file.relative_to(ROOT)}:{each.line} imports {each.name}, whose wing is listed after its own"
        for module, file in modules().items()
        for each in imports(file)
        if each.name in modules() and each.name not in PACKAGES and module not in PACKAGES
        if order[wing_of(room_of(each.name))] > order[wing_of(room_of(module))]
    ]
    assert not wrong


@pytest.mark.parametrize("room", (*PACKAGES, *rooms()))
def test_a_room_has_one_sentence(room: str) -> None:
    sentence = summary(file_of(room))
    assert sentence, f"{room} needs a docstring of one sentence"
    assert "\n" not in sentence, f"{room}: the first sentence needs more than a line"


def test_the_picture_and_the_tables_are_current() -> None:
    assert architecture.PICTURE.read_text("utf-8") == architecture.picture()
    assert architecture.TABLE.read_text("utf-8") == architecture.table()
    page = architecture.PAGE.read_text("utf-8")
    assert architecture.wings() in page and page == architecture.with_wings(page)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_holds_few_files(package: str) -> None:
    folders = {file.parent for file in python_files(package)}
    sizes = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}
