"""What of a small project a request is about: the order of its files, with scores and reasons, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from context.find.ranking import rank, says_much
from context.project.project import Project
from context.project.snapshot import Snapshot
from tests.context.conftest import Repo

FILES = {
    "src/parser.py": "def parse_header(text):\n    return Header(text)\n",
    "src/header.py": "class Header:\n    def __init__(self, text): ...\n",
    "src/render.py": "def render_page(page):\n    return page\n",
    "src/test_render.py": "from render import render_page\n\ndef test_it():\n    render_page(1)\n",
    "lib/net.c": "int open_socket(int port) { return port; }\n",
    "lib/net.h": "int open_socket(int port);\n",
    "lib/cache/store.py": "def keep(socket, page, page_again):\n    page = socket\n",
    "CHANGES.md": "# Changes\n\nThe socket has a port.\n",
    "dist/bundle.js": "function open_socket(port) { return port }\n",
    "index.py": "main = 1\n",
    "src/index.py": "main = 2\n",
}


def make(root: Path) -> Snapshot:
    """A project with some commits, a branch, and a changed file."""
    repo = Repo(root)
    repo.commit(**FILES)
    for text in ("return 1", "return 2", "return 3"):
        repo.commit(
            **{"src/render.py": f"def render_page(page):\n    {text}\n", "lib/net.c": f"int x{text[-1]};\n"}
        )
    repo.write("src/header.py", FILES["src/header.py"] + "\n\nLIMIT = 80\n")
    repo.git("commit", "-q", "-a", "-m", "longer lines in a page")
    repo.git("checkout", "-q", "-b", "topic")
    repo.write("lib/cache/store.py", FILES["lib/cache/store.py"] + "    return 1\n")
    repo.git("commit", "-q", "-a", "-m", "socket kept in the store")
    return Project(root).scan()


@dataclass(frozen=True)
class Case:
    """A request with the files in hand and earlier requests, and what they make of the project.

    The weights are those of ``ranking.toml``: with other weights, other scores stand here.
    """

    request: str
    hand: list[str]
    earlier: str
    order: str
    scored: dict[str, tuple[float, str]]
    folders: str
    wanted: dict[str, float]
    held: str


CASES = [
    Case(
        "",
        [],
        "",
        "lib/cache/store.py index.py lib/net.c lib/net.h src/header.py "
        "src/index.py src/parser.py src/render.py src/test_render.py CHANGES.md dist/bundle.js",
        {"lib/cache/store.py": (0.6, "changed on this branch")},
        "lib/cache  dist lib src",
        {},
        "",
    ),
    Case(
        "the socket port",
        [],
        "",
        "lib/cache/store.py lib/net.h lib/net.c CHANGES.md dist/bundle.js "
        "index.py src/header.py src/index.py src/parser.py src/render.py src/test_render.py",
        {
            "CHANGES.md": (0.242, "its words match the request"),
            "dist/bundle.js": (0.136, "its words match the request"),
            "lib/net.h": (0.391, "its words match the request"),
            "lib/cache/store.py": (0.966, "changed on this branch"),
            "lib/net.c": (0.3, "often changed together with other likely files"),
        },
        "lib/cache lib  dist src",
        {"the": 1.0, "socket": 1.0, "port": 1.0},
        "",
    ),
    Case(
        "page page socket",
        [],
        "",
        "lib/cache/store.py src/render.py src/test_render.py lib/net.c lib/net.h "
        "src/header.py dist/bundle.js CHANGES.md index.py src/index.py src/parser.py",
        {
            "lib/cache/store.py": (1.269, "changed on this branch"),
            "src/render.py": (0.72, "its words match the request"),
            "src/test_render.py": (0.603, "its words match the request"),
            "CHANGES.md": (0.055, "its words match the request"),
            "dist/bundle.js": (0.06, "its words match the request"),
            "lib/net.h": (0.206, "its words match the request"),
            "src/header.py": (0.128, "past commits with a similar message changed it"),
            "lib/net.c": (0.359, "often changed together with other likely files"),
        },
        "lib/cache src lib dist ",
        {"page": 1.414, "socket": 1.0},
        "",
    ),
    Case(
        "parsing headers",
        [],
        "",
        "src/parser.py lib/cache/store.py src/header.py index.py lib/net.c "
        "lib/net.h src/index.py src/render.py src/test_render.py CHANGES.md dist/bundle.js",
        {
            "src/parser.py": (0.719, "its words match the request"),
            "src/header.py": (0.235, "its words match the request"),
            "lib/cache/store.py": (0.6, "changed on this branch"),
        },
        "src lib/cache  dist lib",
        {"parse": 0.6, "parser": 0.6, "header": 0.6, "parsing": 1.0, "headers": 1.0},
        "",
    ),
    Case(
        "render",
        [],
        "the socket",
        "lib/cache/store.py src/render.py src/test_render.py lib/net.c lib/net.h "
        "CHANGES.md dist/bundle.js index.py src/header.py src/index.py src/parser.py",
        {
            "CHANGES.md": (0.069, "its words match the request"),
            "src/render.py": (0.708, "its words match the request"),
            "src/test_render.py": (0.687, "its words match the request"),
            "dist/bundle.js": (0.024, "its words match the request"),
            "lib/cache/store.py": (0.746, "changed on this branch"),
            "lib/net.h": (0.082, "its words match the request"),
            "lib/net.c": (0.359, "often changed together with other likely files"),
        },
        "lib/cache src lib  dist",
        {"the": 0.4, "socket": 0.4, "render": 1.0},
        "",
    ),
    Case(
        "",
        ["src/render.py"],
        "",
        "src/render.py src/test_render.py lib/net.c lib/cache/store.py lib/net.h "
        "index.py src/header.py src/index.py src/parser.py CHANGES.md dist/bundle.js",
        {
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "lib/net.c": (0.898, "often changed together with src/render.py"),
            "src/test_render.py": (0.864, "named like src/render.py"),
            "src/render.py": (0.7, "named like src/render.py"),
            "lib/net.h": (0.3, "often changed together with other likely files"),
        },
        "src lib lib/cache  dist",
        {"render_page": 0.3},
        "page render render_page return def",
    ),
    Case(
        "",
        ["src/parser.py"],
        "",
        "src/parser.py lib/cache/store.py src/header.py index.py src/index.py "
        "src/render.py src/test_render.py lib/net.c lib/net.h CHANGES.md dist/bundle.js",
        {
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "src/header.py": (0.282, "defines what is used in src/parser.py"),
            "src/parser.py": (0.4, "named like src/parser.py"),
        },
        "src lib/cache  dist lib",
        {"header": 0.3},
        "header text return def",
    ),
    Case(
        "",
        ["src/header.py"],
        "",
        "src/header.py src/parser.py lib/cache/store.py index.py src/index.py "
        "src/render.py src/test_render.py lib/net.c lib/net.h CHANGES.md dist/bundle.js",
        {
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "src/parser.py": (0.5, "uses what is defined in src/header.py"),
            "src/header.py": (0.4, "named like src/header.py"),
        },
        "src lib/cache  dist lib",
        {"header": 0.3},
        "header text def",
    ),
    Case(
        "socket",
        ["src/parser.py", "src/header.py"],
        "",
        "src/header.py src/parser.py lib/cache/store.py lib/net.c lib/net.h "
        "index.py src/index.py src/render.py src/test_render.py CHANGES.md dist/bundle.js",
        {
            "CHANGES.md": (0.055, "near src/parser.py and others"),
            "dist/bundle.js": (0.06, "its words match the request"),
            "lib/cache/store.py": (0.877, "changed on this branch"),
            "lib/net.h": (0.206, "its words match the request"),
            "src/header.py": (0.4, "named like src/parser.py and others"),
            "src/parser.py": (0.4, "named like src/parser.py and others"),
            "lib/net.c": (0.3, "often changed together with other likely files"),
        },
        "src lib/cache lib  dist",
        {"socket": 1.0, "header": 0.3},
        "header text def return",
    ),
    Case(
        "parsers",
        ["src/parser.py"],
        "",
        "src/parser.py lib/cache/store.py src/header.py index.py src/index.py "
        "src/render.py src/test_render.py lib/net.c lib/net.h CHANGES.md dist/bundle.js",
        {
            "src/parser.py": (0.9, "its words match the request"),
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "src/header.py": (0.282, "defines what is used in src/parser.py"),
        },
        "src lib/cache  dist lib",
        {"parser": 0.6, "parse": 0.6, "parsers": 1.0, "header": 0.3},
        "header text return def",
    ),
    Case(
        "socket",
        ["dist/other.js", "dist/bundle.js"],
        "",
        "dist/bundle.js lib/cache/store.py lib/net.h lib/net.c index.py "
        "CHANGES.md src/header.py src/index.py src/parser.py src/render.py src/test_render.py",
        {
            "CHANGES.md": (0.055, "near dist/other.js and others"),
            "dist/bundle.js": (0.601, "named like dist/other.js and others"),
            "lib/cache/store.py": (0.877, "changed on this branch"),
            "lib/net.h": (0.37, "its words match the request"),
            "lib/net.c": (0.3, "often changed together with other likely files"),
        },
        "dist lib/cache lib  src",
        {"socket": 1.0, "open_socket": 0.3},
        "port open open_socket return socket",
    ),
    Case(
        "",
        ["index.py"],
        "",
        "index.py lib/cache/store.py src/index.py lib/net.c lib/net.h "
        "src/header.py src/parser.py src/render.py src/test_render.py CHANGES.md dist/bundle.js",
        {
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "src/index.py": (0.207, "uses what is defined in index.py"),
        },
        " lib/cache src dist lib",
        {"main": 0.3},
        "main",
    ),
    Case(
        "",
        ["lib/net.h"],
        "",
        "lib/net.h lib/net.c lib/cache/store.py src/render.py index.py "
        "src/header.py src/index.py src/parser.py src/test_render.py dist/bundle.js CHANGES.md",
        {
            "lib/cache/store.py": (0.6, "changed on this branch"),
            "dist/bundle.js": (0.049, "uses what is defined in lib/net.h"),
            "lib/net.c": (0.7, "named like lib/net.h"),
            "lib/net.h": (0.7, "named like lib/net.h"),
            "src/render.py": (0.359, "often changed together with other likely files"),
        },
        "lib lib/cache src dist ",
        {"open_socket": 0.3},
        "int open open_socket port socket",
    ),
    Case(
        "page",
        ["gone.py", "lib/cache/store.py", "lib/cache/store.py"],
        "",
        "lib/cache/store.py src/render.py src/test_render.py lib/net.c index.py "
        "lib/net.h src/header.py src/index.py src/parser.py CHANGES.md dist/bundle.js",
        {
            "lib/cache/store.py": (1.277, "changed on this branch"),
            "src/render.py": (0.597, "often changed together with other likely files"),
            "src/test_render.py": (0.514, "often changed together with other likely files"),
            "src/header.py": (0.09, "near gone.py and others"),
            "lib/net.c": (0.359, "often changed together with other likely files"),
        },
        "lib/cache src lib  dist",
        {"page": 1.0},
        "page socket return def",
    ),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    root = tmp_path_factory.mktemp("ranked") / "project"
    root.mkdir()
    return make(root)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.request} {' '.join(case.hand)}".strip())
def test_a_project_in_the_order_of_a_request(snapshot: Snapshot, case: Case) -> None:
    ranking = rank(snapshot, case.request, case.hand, earlier=case.earlier)
    assert " ".join(ranking.order) == case.order
    scored = {path: (round(score, 3), ranking.reasons[path]) for path, score in ranking.scores.items()}
    assert scored == case.scored
    assert " ".join(ranking.order.folders()) == case.folders
    assert {word: round(weight, 3) for word, weight in ranking.wanted.items()} == case.wanted
    assert " ".join(ranking.held) == case.held and set(ranking.held.values()) <= {0.15}


def test_without_related_files_those_in_hand_alone_are_ordered_by_the_request(snapshot: Snapshot) -> None:
    hand = ["src/render.py", "lib/net.h", "gone.py", "lib/net.h"]
    for request, order in (
        ("the socket port", ["lib/net.h", "src/render.py"]),
        ("", ["lib/net.h", "src/render.py"]),
    ):
        ranking = rank(snapshot, request, hand, related=False)
        assert list(ranking.order.first) == order
        assert (ranking.scores, ranking.reasons, ranking.wanted, ranking.order.top) == ({}, {}, {}, ())
    ranking = rank(snapshot, "render a page", hand, related=False)
    assert list(ranking.order.first) == ["src/render.py", "lib/net.h"]
    assert list(rank(snapshot, "port", ["src/render.py"], related=False).order.first) == ["src/render.py"]


def test_a_request_says_much_by_rare_words(snapshot: Snapshot) -> None:
    table = [
        ("parse_header", True),
        ("return", False),
        ("", False),
        ("page", False),
        ("page socket port", True),
    ]
    assert [(request, says_much(request, snapshot)) for request, _ in table] == table
