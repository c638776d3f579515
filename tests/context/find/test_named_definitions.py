"""Definitions that a request names without a mention."""

from __future__ import annotations

import pytest

from context.find.named_definitions import named_definitions
from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import WindowRequest
from context.window.window import build
from tests.context.conftest import Repo

FILES = {
    "src/click/utils.py": "def echo(message): ...\n\n\ndef _private(x): ...\n\n\ndef read_headers(x): ...\n",
    "src/click/__init__.py": "from .utils import echo as echo\nfrom .utils import _private as shown\n",
    "src/click/core.py": "class Grid:\n    def at(self, x): ...\n\n    def run(self): ...\n",
    "src/click/tree.py": "class Tree:\n    def at(self, x): ...\n\n    def run(self): ...\n",
    "src/click/pool.py": "class Pool:\n    def at(self, x): ...\n\n    def run(self): ...\n",
    "web/config.ts": "export function parseConfigFile(path) {}\n",
    "web/index.js": "exports.open = openSocket\n",
    "web/socket.js": "function openSocket(port) {}\n",
    "tests/test_utils.py": "def echo(): ...\n",
}
LIKELY = ["src/click/utils.py", "src/click/core.py", "web/config.ts"]
UTILS, CONFIG = "src/click/utils.py", "web/config.ts"


@pytest.mark.parametrize(
    ("text", "path", "symbol"),
    [
        ("click.echo: new keyword", UTILS, "echo"),
        ("`echo` is slow", UTILS, "echo"),
        ("echo() is slow", UTILS, "echo"),
        ("click::echo is slow", UTILS, "echo"),
        ("the echo is loud", UTILS, "echo"),
        ("Grid.at is off by one", "src/click/core.py", "at"),
        ("tree.at is off by one", "src/click/tree.py", "at"),
        ("core.run hangs", "src/click/core.py", "run"),
        ("parseConfigFile fails", CONFIG, "parseConfigFile"),
        ("parse_config_file fails", CONFIG, "parseConfigFile"),
        ("parsing the config files fails", CONFIG, "parseConfigFile"),
        ("a header that is read twice", UTILS, "read_headers"),
        ("click.shown fails", UTILS, "_private"),
        ("`open` fails", "web/socket.js", "openSocket"),
    ],
)
def test_a_definition_is_named(repo: Repo, text: str, path: str, symbol: str) -> None:
    repo.commit(**FILES)
    found = named_definitions(text, Project(repo.root).scan(), LIKELY)
    assert [(mention.path, mention.symbol) for mention in found] == [(path, symbol)]


@pytest.mark.parametrize(
    "text",
    ["`run` hangs", "at the grids", "nothing.here()", "files are configured to be parsed by others", ""],
)
def test_a_name_that_many_define_or_none_names_nothing(repo: Repo, text: str) -> None:
    repo.commit(**FILES)
    found = named_definitions(text, Project(repo.root).scan(), LIKELY)
    assert [mention.symbol for mention in found if mention.symbol != "Grid"] == []


def test_a_named_definition_is_whole_before_what_matches_better(repo: Repo, counter: Counter) -> None:
    long = (
        "def echo(text):\n"
        + "".join(f"    text = write_{n}(text)\n" for n in range(150))
        + "    return text\n"
    )
    notes = "".join(
        f"def keyword_{n}(echo, keyword):\n    return keyword(echo, keyword)\n\n\n" for n in range(200)
    )
    repo.commit(
        **{"src/click/utils.py": notes.replace("keyword", "other") + long, "src/click/notes.py": notes}
    )
    asked = WindowRequest("click.echo: new keyword", "", 8_000, likely_limit=3_500)
    window = build(asked, Project(repo.root).scan(), counter)
    assert long in window.text
