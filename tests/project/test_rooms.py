"""The rooms: folders with one sentence each, in an order in which each imports only those before it.

The table of rooms in docs/architecture.md is the one list of them.
"""

from __future__ import annotations

import pytest

from tests.project.source import (
    PACKAGES,
    ROOT,
    circles,
    imported_modules,
    imports,
    modules,
    python_files,
    room_of,
    rooms_in_the_architecture,
    summary,
)

MOST_FILES = 15
"""How many Python files a folder of the five packages may hold."""
MOST_LINES = 399
"""How many lines a Python file may have."""


def test_circles_are_found() -> None:
    assert circles({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == [["b", "c"]]
    assert circles({"a": ["a"]}) == [["a"]]
    assert circles({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_modules_import_each_other_in_no_circle() -> None:
    assert circles(imported_modules()) == []


def test_the_architecture_lists_every_room() -> None:
    assert set(rooms_in_the_architecture()) == {room_of(module) for module in modules()}


def test_a_room_imports_only_rooms_listed_before_it() -> None:
    order = {room: place for place, room in enumerate(rooms_in_the_architecture())}
    wrong = [
        f"{file.relative_to(ROOT)}:{each.line} imports {each.name}, which is listed after {room_of(module)}"
        for module, file in modules().items()
        for each in imports(file)
        if each.name in modules() and order[room_of(each.name)] > order[room_of(module)]
    ]
    assert not wrong


@pytest.mark.parametrize("room", rooms_in_the_architecture())
def test_the_architecture_describes_a_room_with_the_rooms_own_sentence(room: str) -> None:
    file = ROOT / room / "__init__.py" if room.endswith("/") else ROOT / room
    sentence = summary(file)
    assert sentence, f"{file.relative_to(ROOT)} needs a docstring of one sentence"
    assert "\n" not in sentence, f"{file.relative_to(ROOT)}: the first sentence needs more than a line"
    assert rooms_in_the_architecture()[room] == sentence


@pytest.mark.parametrize("package", PACKAGES)
def test_a_folder_holds_few_files(package: str) -> None:
    folders = {file.parent for file in python_files(package)}
    sizes = {str(folder.relative_to(ROOT)): len(list(folder.glob("*.py"))) for folder in folders}
    assert {name: size for name, size in sizes.items() if size > MOST_FILES} == {}


@pytest.mark.parametrize("folder", (*PACKAGES, "tests"))
def test_a_file_is_short(folder: str) -> None:
    sizes = {
        str(file.relative_to(ROOT)): len(file.read_text("utf-8").splitlines())
        for file in python_files(folder)
    }
    assert {name: size for name, size in sizes.items() if size > MOST_LINES} == {}
