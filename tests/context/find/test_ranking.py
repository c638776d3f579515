"""Ranking, and the files that nobody named but that a window shows."""

from __future__ import annotations

from context.find.ranking import rank
from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Kind
from context.window.seen import Seen
from context.window.window import Window, WindowRequest, build
from tests.context.conftest import Repo

FILLER = "\n\n".join(
    f"def helper_{n}(value):\n" + "".join(f"    value = value * {line}\n" for line in range(20))
    for n in range(120)
)


def fill(repo: Repo) -> None:
    repo.commit(
        **{
            "src/parser.py": "def parse_header(text):\n    return Header(text)\n",
            "src/header.py": "class Header:\n    def __init__(self, text): ...\n",
            "src/render.py": "def render_page(page):\n    return page\n",
            "src/test_render.py": "from render import render_page\n\ndef test_it():\n    render_page(1)\n",
            "lib/net.c": "int open_socket(int port) { return port; }\n",
            "lib/net.h": "int open_socket(int port);\n",
            "big.py": FILLER + "\n\ndef frobnicate(widget):\n    return widget.spin()\n",
            "CHANGES.md": "# Changes\n\nfrobnicate widget spin\n",
        }
    )
    repo.commit(**{"src/render.py": "def render_page(page):\n    return 1\n", "lib/net.c": "int x;\n"})


def window(repo: Repo, text: str, budget: int = 20_000, *, counter: Counter) -> Window:
    return build(WindowRequest(text, "", budget), Project(repo.root).scan(), counter)


def test_every_kind_of_evidence_has_a_reason(repo: Repo) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    reasons = rank(snapshot, "", ["src/parser.py"]).reasons
    assert reasons["src/header.py"] == "defines what is used in src/parser.py"
    assert (
        rank(snapshot, "", ["src/header.py"]).reasons["src/parser.py"]
        == "uses what is defined in src/header.py"
    )
    rendered = rank(snapshot, "", ["src/render.py"]).reasons
    assert rendered["lib/net.c"] == "often changed together with src/render.py"
    assert rendered["src/test_render.py"] in (
        "named like src/render.py",
        "uses what is defined in src/render.py",
    )
    asked = rank(snapshot, "the socket port", [])
    assert (
        next(iter(asked.order)) == "lib/net.h" and asked.reasons["lib/net.h"] == "its words match the request"
    )


def test_files_in_hand_come_first_and_the_order_is_total(repo: Repo) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    order = list(rank(snapshot, "frobnicate", ["CHANGES.md"]).order)
    assert order[:2] == ["CHANGES.md", "big.py"] and sorted(order) == sorted(snapshot.paths)
    near = list(rank(snapshot, "", ["src/parser.py"]).order)
    assert near.index("src/render.py") < near.index("lib/net.c")


def test_the_part_of_a_large_file_that_matches_is_shown_whole(repo: Repo, counter: Counter) -> None:
    fill(repo)
    shown = window(repo, "why does frobnicate spin the widget?", 9_000, counter=counter)
    part = next(piece for piece in shown.pieces if piece.path == "big.py")
    assert part.kind is Kind.MENTIONED
    assert part.why.startswith("likely to matter: its words match the request; the parts")
    assert "def frobnicate(widget):\n    return widget.spin()\n" in part.text
    assert len(part.text) < len(FILLER) / 5
    assert shown.tokens <= 9_000


def test_words_without_meaning_find_no_files(repo: Repo, counter: Counter) -> None:
    fill(repo)
    assert all(piece.path is None for piece in window(repo, "hello there", counter=counter).pieces)


def test_a_following_turn_adds_no_related_files(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    first = build(WindowRequest("parse_header", "", 20_000), snapshot, counter)
    again = build(
        WindowRequest("frobnicate", "", 20_000, used=first.tokens),
        snapshot,
        counter,
        Seen().after(first.shown),
    )
    assert [piece.kind for piece in again.pieces] == [Kind.REQUEST]


def test_words_of_earlier_requests_count_less(repo: Repo) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    assert "lib/net.h" not in rank(snapshot, "where is it?", []).scores
    assert next(iter(rank(snapshot, "where is it?", [], earlier="the socket port").order)) == "lib/net.h"
    both = rank(snapshot, "render the page", [], earlier="the socket port")
    assert both.scores["src/render.py"] > both.scores["lib/net.h"] > 0


def test_recent_files_come_before_other_related_ones(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("render the page", "", 4_000, recent=("big.py", "gone.py", "src/header.py"))
    shown = {piece.path: piece.why for piece in build(asked, snapshot, counter).pieces}
    about = "likely to matter: this conversation has been about it; "
    assert shown["big.py"] == f"{about}the parts that match best"
    assert shown["src/header.py"] == f"{about}whole"
    assert shown["src/render.py"].startswith("likely to matter: its words match the request")
    assert "gone.py" not in shown


def test_without_evidence_code_comes_before_prose_and_generated_files(repo: Repo) -> None:
    repo.commit(
        **{
            "a/NEWS.md": "# News\n",
            "a/one.py": "x = 1\n",
            "b/two.py": "y = 2\n",
            "dist/all.py": "z = 3\n",
            "web/main.py": "def main(): ...\n",
        }
    )
    snapshot = Project(repo.root).scan()
    assert list(rank(snapshot, "", []).order) == [
        "a/one.py",
        "b/two.py",
        "web/main.py",
        "a/NEWS.md",
        "dist/all.py",
    ]
    around = list(rank(snapshot, "", ["a/NEWS.md"]).order)
    assert around == ["a/NEWS.md", "a/one.py", "b/two.py", "web/main.py", "dist/all.py"]


def test_the_best_definition_is_shown_if_the_signatures_do_not_fit(repo: Repo, counter: Counter) -> None:
    many = "\n\n".join(f"def test_case_number_{n}_of_many(fixture): ..." for n in range(400))
    repo.commit(
        **{"long.py": f"{many}\n\n\ndef frobnicate(widget):\n    return widget.spin()\n", "b.py": "x = 1\n"}
    )
    asked = WindowRequest("frobnicate the widget", "", 2_000)
    pieces = build(asked, Project(repo.root).scan(), counter).pieces
    shown = next(piece for piece in pieces if piece.path == "long.py")
    assert shown.text.startswith("## File: long.py (only the parts that seem to matter)\n")
    assert "    return widget.spin()\n" in shown.text and "test_case_number_0_of" not in shown.text


def test_names_that_only_the_file_in_hand_has_do_not_hide_those_it_shares(
    repo: Repo, counter: Counter
) -> None:
    own = "\n\n".join(f"def test_case_{n}_alone():\n    assert True" for n in range(120))
    caller = "\n\ndef caller():\n    return spin_widget(7)\n"
    repo.commit(
        **{
            "hand.py": f"{own}\n\n\ndef spin_widget(x):\n    return x\n",
            "big.py": FILLER + caller,
            "far.py": "x = 1\n",
            "wide.py": "y = 2\n",
        }
    )
    asked = WindowRequest("look @hand.py", "", 9_000)
    pieces = build(asked, Project(repo.root).scan(), counter).pieces
    part = next(piece for piece in pieces if piece.path == "big.py")
    assert "def caller():\n    return spin_widget(7)\n" in part.text
    assert len(part.text) < len(FILLER) / 2


def test_the_first_line_of_a_longer_request_counts_more(repo: Repo) -> None:
    repo.commit(**{"a.py": "quench = 1\n", "b.py": "temper = 1\n"})
    snapshot = Project(repo.root).scan()
    assert rank(snapshot, "temper the steel\n\nand then quench it", ()).order.top[:2] == ("b.py", "a.py")
    assert rank(snapshot, "quench the steel\n\nand then temper it", ()).order.top[:2] == ("a.py", "b.py")
    long = "temper " + "the steel of the blade " * 9
    scores = rank(snapshot, f"{long}\n\nand then quench it", ()).scores
    assert abs(scores["a.py"] - scores["b.py"]) < 0.001
