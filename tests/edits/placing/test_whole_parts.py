"""Whole files as the hunks in which they differ: what they change, what they leave out, what they lose."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from context.code.outline import outline
from edits.guards.protection import Protection
from edits.hunk import Action, Format, Held, Hunk, HunkLine, Landed, LineKind, Refused
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from edits.placing.anchors import Symbol

STORE = """import json
from pathlib import Path


class Store:
    def __init__(self, path):
        self.path = Path(path)
        self.notes = []

    def find(self, word):
        return [note for note in self.notes if word in note]

    def save(self):
        self.path.write_text(json.dumps(self.notes))


def slug(text):
    return text.lower().replace(" ", "-")
"""
LOAD = """
    def load(self):
        self.notes = json.loads(self.path.read_text())
"""
CART = """class Cart {
  total() {
    let sum = 0;
    for (const item of this.items) {
      sum += item.price;
    }
    return sum;
  }
}

module.exports = { Cart };
"""


def symbols(path: str, text: str) -> list[Symbol]:
    return list(outline(path, text).symbols)


class Project:
    """A project with one file, and a landing that knows definitions."""

    def __init__(self, folder: Path, name: str, text: str) -> None:
        self.root = folder / "project"
        self.root.mkdir(parents=True)
        self.name = name
        self.file = self.root / name
        self.file.write_text(text)
        self.landing = Landing(self.root, Ledger(folder / "ledger"), symbols=symbols, protection=Protection())

    def write(self, text: str, request: str = "change it") -> list[Landed | Refused]:
        """Land a whole file as a turn does."""
        lines = tuple(HunkLine(LineKind.NEW, line) for line in text.splitlines())
        whole = Hunk(self.name, Action.UPDATE, Format.WHOLE, lines, shown=(self.name,))
        self.parts = self.landing.divide(whole, request)
        return [self.landing.land(part, hunk_id=f"h{number}") for number, part in enumerate(self.parts, 1)]


def test_each_place_that_differs_is_a_hunk_of_its_own(tmp_path: Path) -> None:
    project = Project(tmp_path, "store.py", STORE)
    new = STORE.replace("self.notes = []", "self.notes = list()").replace(".lower()", ".casefold()")
    first, second = project.write(new)
    assert isinstance(first, Landed) and isinstance(second, Landed)
    assert (first.start, second.start) == (8, 18) and project.file.read_text() == new
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.file.read_text() == STORE.replace(".lower()", ".casefold()")


def test_a_definition_that_was_forgotten_stays(tmp_path: Path) -> None:
    """Qwen2.5-Coder 1.5B, asked for a method, wrote the file without the function below the class."""
    project = Project(tmp_path, "store.py", STORE)
    short = STORE[: STORE.index("\n\ndef slug")]
    (landed,) = project.write(short.rstrip("\n") + "\n" + LOAD, "Add a method load that reads the notes.")
    assert isinstance(landed, Landed)
    assert project.file.read_text() == short.rstrip("\n") + "\n" + LOAD + STORE[STORE.index("\n\ndef slug") :]
    assert project.parts[0].kept == "store.py: the new text leaves out slug, which stays"


def test_a_method_that_was_forgotten_stays_in_its_class(tmp_path: Path) -> None:
    project = Project(tmp_path, "store.py", STORE)
    start, end = STORE.index("\n    def save"), STORE.index("\n\ndef slug")
    (landed,) = project.write(STORE[:start] + "\n\ndef other():\n    return 1\n" + STORE[end:], "Add other.")
    assert isinstance(landed, Landed)
    assert project.file.read_text() == STORE[:end] + "\n\ndef other():\n    return 1\n" + STORE[end:]


@pytest.mark.parametrize("request_", ["Delete the function slug.", "Move slug to text.py."])
def test_what_the_request_names_may_go(tmp_path: Path, request_: str) -> None:
    project = Project(tmp_path, "store.py", STORE)
    short = STORE[: STORE.index("\n\ndef slug")]
    (landed,) = project.write(short, request_)
    assert isinstance(landed, Landed) and project.file.read_text() == short


def test_a_rename_takes_names_that_hold_the_word_along(tmp_path: Path) -> None:
    """Qwen2.5-Coder 1.5B, asked to rename a function, renamed its test too."""
    project = Project(tmp_path, "test_store.py", "def test_slug():\n    assert slug('A') == 'a'\n")
    new = "def test_short_name():\n    assert short_name('A') == 'a'\n"
    (landed,) = project.write(new, "Rename slug to short_name everywhere.")
    assert isinstance(landed, Landed) and project.file.read_text() == new


def test_a_heading_is_no_definition(tmp_path: Path) -> None:
    """Qwen2.5-Coder 1.5B, asked to change the title and the heading of a page, was held for losing it."""
    page = "<html>\n<body>\n  <h1>Shop</h1>\n  <p>Tea</p>\n</body>\n</html>\n"
    project = Project(tmp_path, "index.html", page)
    new = page.replace("<h1>Shop", "<h1>Tea House")
    (landed,) = project.write(new, "Change the heading of the page to Tea House.")
    assert isinstance(landed, Landed) and project.file.read_text() == new


def test_a_constant_that_is_replaced_does_not_stay(tmp_path: Path) -> None:
    project = Project(tmp_path, "limits.py", "SIZE = 3\n\n\ndef size():\n    return SIZE\n")
    new = "MOST = 4\n\n\ndef size():\n    return MOST\n"
    (held,) = project.write(new, "Make it four.")
    assert isinstance(held, Held | Landed) and "SIZE = 3\nMOST" not in project.file.read_text()
    assert "MOST = 4\nSIZE" not in project.file.read_text()


def test_the_end_of_a_file_that_was_forgotten_stays(tmp_path: Path) -> None:
    project = Project(tmp_path, "cart.js", CART)
    short = CART.replace("item.price", "item.price * item.count").split("\nmodule")[0]
    (landed,) = project.write(short, "total forgets the count of each item.")
    assert isinstance(landed, Landed)
    assert project.file.read_text() == CART.replace("item.price", "item.price * item.count")


def test_a_definition_that_was_renamed_by_the_model_is_held(tmp_path: Path) -> None:
    project = Project(tmp_path, "store.py", STORE)
    (held,) = project.write(STORE.replace("def slug", "def make_slug"), "Use f-strings.")
    assert isinstance(held, Held) and "has no slug any more" in held.message
    assert project.file.read_text() == STORE


def test_a_text_that_lacks_much_of_the_file_is_held(tmp_path: Path) -> None:
    text = "".join(f"line {number} of the text\n" for number in range(40))
    project = Project(tmp_path, "notes.txt", text)
    (held,) = project.write("".join(text.splitlines(True)[:5] + text.splitlines(True)[25:]), "Mend the typo.")
    assert isinstance(held, Held) and "lacks 20 of its 40 lines" in held.message


def test_a_file_under_a_placeholder_is_found_by_its_text(tmp_path: Path) -> None:
    project = Project(tmp_path, "store.py", STORE)
    project.name = "path/to/store.py"
    lines = tuple(
        HunkLine(LineKind.NEW, line) for line in STORE.replace("word in", "word not in").splitlines()
    )
    whole = Hunk("path/to/store.py", Action.UPDATE, Format.WHOLE, lines, shown=("store.py",))
    (part,) = project.landing.divide(whole, "")
    landed = project.landing.land(part, hunk_id="h1")
    assert isinstance(landed, Landed) and (landed.path, landed.typed) == ("store.py", "path/to/store.py")
    assert "word not in" in project.file.read_text()


@pytest.mark.parametrize("seed", range(60))
def test_the_hunks_of_a_file_give_its_text(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    words = ["x = 1", "y = x + 1", "", "call(x)", "    inner(y)", "}", "value = 3"]
    old = [dice.choice(words) for _ in range(dice.randint(1, 60))]
    new = list(old)
    for _ in range(dice.randint(1, 6)):
        at = dice.randrange(len(new) + 1)
        change = dice.randrange(3)
        if change == 0:
            new[at:at] = [dice.choice([*words, f"new_{dice.randrange(9)}()"])]
        elif new and change == 1:
            new[min(at, len(new) - 1)] = f"changed_{dice.randrange(9)}()"
        elif len(new) > 1:
            del new[min(at, len(new) - 1)]
    text = "".join(f"{line}\n" for line in old)
    project = Project(tmp_path, "notes.txt", text)
    results = project.write("".join(f"{line}\n" for line in new), "remove what is not needed")
    told = [each for each in results if isinstance(each, Refused)]
    assert not told and project.file.read_text() == "".join(f"{line}\n" for line in new), told
