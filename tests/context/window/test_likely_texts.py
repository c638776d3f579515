from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.disk.source import Source
from context.index.file_text import FileText
from context.project.project import Project
from context.text.tokens import Counter
from context.window import likely_texts
from context.window.passages import passages
from context.window.pieces import Kind, Piece, Window, WindowRequest
from context.window.seen import Seen
from context.window.window import build
from tests.context.conftest import Repo

FILLER = "".join(f"    value = value * {n}  # step {n} of a long way\n" for n in range(90))
WIDGET = "def spin_widget(widget):\n    return widget.frobnicate()\n"
OTHERS = {f"other_{n}.py": "x = 1\n" for n in range(90)}
SOCKET = "def open_socket(port):\n    return Socket(port, timeout=9)\n"


def fill(repo: Repo) -> None:
    long = "def first(value):\n" + FILLER + "\n\n"
    repo.commit(
        **{
            "a/widget.py": long + WIDGET + "\n\n" + long.replace("first", "second"),
            "b/socket.py": long + SOCKET + "\n\n" + long.replace("first", "third"),
            "c/other.py": long.replace("first", "other"),
        }
    )


def likely(window: Window) -> dict[str | None, Piece]:
    return {piece.path: piece for piece in window.pieces if piece.why.startswith("likely to matter")}


def test_the_passage_that_matches_is_shown_and_not_the_rest_of_its_file(repo: Repo, counter: Counter) -> None:
    fill(repo)
    window = build(WindowRequest("who may frobnicate?", "", 6_000), Project(repo.root).scan(), counter)
    text = likely(window)["a/widget.py"].text
    assert text.startswith("## File: a/widget.py (only the parts that seem to matter)\n")
    assert WIDGET in text and "def second" not in text and "lines not shown\n" in text


def test_a_passage_inside_a_long_function_is_found(repo: Repo, counter: Counter) -> None:
    body = FILLER + "    quench(value)\n" + FILLER
    repo.commit(**{"long.py": f"def endless(value):\n{body}", "b.py": "x = 1\n"})
    window = build(WindowRequest("where do we quench?", "", 3_500), Project(repo.root).scan(), counter)
    text = likely(window)["long.py"].text
    assert "def endless(value):\n" in text and "    quench(value)\n" in text
    assert len(text) < len(body) / 2


def test_a_match_in_a_short_file_is_shown_before_better_ones_in_long_files(
    repo: Repo, counter: Counter
) -> None:
    other = "def other(value):\n" + FILLER + "\n\n"
    better = WIDGET.replace("widget)", "widget, frobnicate=True)")
    repo.commit(**{"a.py": better + "\n\n" + other * 3, "short.py": WIDGET + FILLER[:900], "z.py": other})
    asked = WindowRequest("who may frobnicate?", "", 60_000, likely_limit=420)
    assert likely(build(asked, Project(repo.root).scan(), counter)).keys() == {"short.py"}


def test_a_file_that_does_not_fit_whole_is_shown_with_all_parts_that_match(
    repo: Repo, counter: Counter
) -> None:
    dense = "".join(f"    x{n} = 0x{n * 7919:x}f{n * 31:x}^{n * 17}\n" for n in range(60))
    matching = [f"def quench_{name}():\n{dense}\n\n" for name in ("one", "two", "three")]
    text = "".join(matching) + f"def cool():\n{dense}"
    repo.commit(**{"dense.py": text, "b.py": "x = 1\n"})
    limit = int(counter.count(text) * 0.85)
    asked = WindowRequest("where do we quench?", "", 60_000, likely_limit=limit)
    shown = likely(build(asked, Project(repo.root).scan(), counter))["dense.py"].text
    assert all(part.rstrip("\n") in shown for part in matching) and "def cool" not in shown


def test_of_long_files_only_the_likeliest_take_part(
    repo: Repo, counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likely_texts, "_MOST_TEXT", 3 * len(FILLER))
    files = {f"part_{n:02}.py": f"def quench_{n}():\n    quench()\n{FILLER}" for n in range(40)}
    repo.commit(**files, **OTHERS)
    asked = WindowRequest("where do we quench?", "", 90_000)
    window = build(asked, Project(repo.root).scan(), counter)
    assert len(likely(window)) == 24
    assert sum(left.why.startswith("beyond the share") for left in window.left_out) == 16


@pytest.mark.parametrize(("failing", "shown"), [(39, {"z.py"}), (40, set())])
def test_after_many_parts_that_do_not_fit_no_more_are_tried(
    repo: Repo, counter: Counter, failing: int, shown: set[str]
) -> None:
    long = "    quench(value)  # and quench it, quench it\n" * 38
    parts = [f"def quench_{n}(value):\n{long}\n\n" for n in range(failing)]
    files = {f"quench_{n:02}.py": "".join(parts[n : n + 2]) for n in range(0, failing, 2)}
    repo.commit(**files, **{"z.py": "# quench\n" + "x = 1\n" * 20}, **OTHERS)
    asked = WindowRequest("where do we quench?", "", 60_000, likely_limit=160)
    assert likely(build(asked, Project(repo.root).scan(), counter)).keys() == shown


@pytest.mark.parametrize(("limit", "shown"), [(149, set()), (150, {"a.py"})])
def test_in_too_little_room_no_part_is_tried(
    repo: Repo, counter: Counter, limit: int, shown: set[str]
) -> None:
    repo.commit(**{"a.py": WIDGET, "b.py": "x = 1\n"})
    asked = WindowRequest("who may frobnicate?", "", 60_000, likely_limit=limit)
    assert likely(build(asked, Project(repo.root).scan(), counter)).keys() == shown


@pytest.mark.parametrize(("limit", "files"), [(6_249, 24), (6_250, 25), (7_499, 29), (7_500, 30)])
def test_more_files_take_part_where_there_is_more_room(
    repo: Repo, counter: Counter, limit: int, files: int
) -> None:
    repo.commit(**{f"m{n}.py": f"def quench_{n}():\n    return {n}\n" for n in range(40)}, **OTHERS)
    asked = WindowRequest("where do we quench?", "", 60_000, likely_limit=limit)
    assert len(likely(build(asked, Project(repo.root).scan(), counter))) == files


def test_a_following_turn_brings_parts_for_its_own_request_once(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("who may frobnicate?", "", 60_000, likely_limit=500)
    first = build(asked, snapshot, counter)
    assert likely(first).keys() == {"a/widget.py"}
    seen = Seen().after(first.shown)

    def turn(text: str, seen: Seen) -> Window:
        following = dataclasses.replace(asked, text=text, used=first.tokens)
        return build(following, snapshot, counter, seen)

    second = turn("what is the socket's timeout?", seen)
    assert likely(second).keys() == {"b/socket.py"} and SOCKET in likely(second)["b/socket.py"].text
    assert sum(piece.tokens for piece in likely(second).values()) <= 500
    seen = seen.after(second.shown)
    for again in ("and who may frobnicate?", "is the socket's timeout long enough?", "Go on with it.", ""):
        assert not likely(turn(again, seen)), again


def test_without_a_limit_a_following_turn_brings_nothing_of_its_own(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    first = build(WindowRequest("hello", "", 60_000, likely_limit=0), snapshot, counter)
    following = WindowRequest("who may frobnicate?", "", 60_000, used=first.tokens)
    assert not likely(build(following, snapshot, counter, Seen().after(first.shown)))


def test_a_named_file_that_is_too_long_is_shown_in_short(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("@a/widget.py: who may frobnicate?", "", 60_000)
    whole = next(piece for piece in build(asked, snapshot, counter).pieces if piece.path == "a/widget.py")
    assert whole.why == "named in the request; whole"
    small = build(dataclasses.replace(asked, budget=whole.tokens + 800), snapshot, counter)
    short = next(piece for piece in small.pieces if piece.path == "a/widget.py")
    assert short.why == "named in the request, but too long to be shown whole; the parts that match best"
    assert WIDGET in short.text and "def first(value):" in short.text and "def second(value):" in short.text
    assert short.tokens < whole.tokens / 2


def test_of_a_file_known_in_part_a_later_turn_is_sent_the_rest(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    first = build(WindowRequest("who may frobnicate?", "", 60_000, likely_limit=500), snapshot, counter)
    assert WIDGET in likely(first)["a/widget.py"].text
    seen = Seen().after(first.shown)
    named = WindowRequest("Change @a/widget.py", "", 60_000, used=first.tokens)
    second = build(named, snapshot, counter, seen)
    rest = next(piece for piece in second.pieces if piece.path == "a/widget.py")
    assert rest.text.startswith("## File: a/widget.py (the parts that were not shown before)\n")
    assert WIDGET not in rest.text and "lines shown before\n" in rest.text
    assert FILLER in rest.text and "def second(value):" in rest.text
    seen = seen.after(second.shown)
    third = build(dataclasses.replace(named, used=second.tokens), snapshot, counter, seen)
    assert [piece.kind for piece in third.pieces] == [Kind.REQUEST]


TEXTS = st.lists(
    st.sampled_from(
        [
            "def one(a):\n    return a\n",
            "class Big:\n" + "    def each(self):\n        return 1\n\n" * 60,
            "def long(value):\n" + FILLER,
            "x = 1\n",
            "\n\n\n",
            "# words " * 500 + "\n",
            "broken = (\n",
        ]
    ),
    max_size=12,
)


@given(TEXTS)
@settings(deadline=None)
def test_passages_are_all_lines_of_a_file_in_order(parts: list[str]) -> None:
    source = Source("a.py", "".join(parts), "digest")
    file = FileText(source)
    found = passages(file)
    covered = [line for passage in found for line in passage.lines]
    assert covered == list(range(len(file.lines)))
    assert sum(passage.size for passage in found) == file.starts[-1]
    assert all(passage.lines for passage in found)


@pytest.mark.parametrize("text", ["", "x", "x\n", "\n"])
def test_passages_of_almost_nothing(text: str) -> None:
    found = passages(FileText(Source("a.py", text, "digest")))
    assert len(found) == (1 if text else 0)


def test_words_of_the_file_in_hand_choose_the_passages_of_other_files(repo: Repo, counter: Counter) -> None:
    """The request says nothing, and no name is defined in one file and used in the other."""
    repo.commit(
        **{
            "in_hand.py": "# The quokka hops over the wombat.\nx = 1\n",
            "in_hand_too.py": "def first(value):\n"
            + FILLER
            + "\n\ndef find(a):\n    return quokka_of(wombat=a)\n",
            "other.py": "def other(value):\n" + FILLER,
        }
    )
    repo.commit(**{"in_hand.py": "# The quokka hops over the wombat.\nx = 2\n", "other.py": "y = 1\n"})
    window = build(WindowRequest("in_hand.py", "", 3_000), Project(repo.root).scan(), counter)
    text = likely(window)["in_hand_too.py"].text
    assert "return quokka_of(wombat=a)\n" in text and "step 50 of" not in text


def test_the_map_of_a_small_window_lists_few_paths_and_outlines_many_files(
    repo: Repo, counter: Counter
) -> None:
    repo.commit(
        **{
            f"folder_{n % 40}/module_{n}.py": "".join(f"def work_{n}_{m}(value): ...\n" for m in range(9))
            for n in range(400)
        }
    )
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("work_7_3", "", 32_000, map_limit=8_000)
    text = next(piece.text for piece in build(asked, snapshot, counter).pieces if piece.kind is Kind.MAP)
    listed, _, outlines = text.partition("### Definitions")
    assert counter.count(listed) < 0.25 * 8_000
    assert outlines.count(".py:\n") > 60


def test_the_passages_of_a_file_in_the_index_are_found_without_parsing_it(repo: Repo) -> None:
    fill(repo)
    project = Project(repo.root)
    snapshot = project.scan()
    source = snapshot.read("a/widget.py")
    assert isinstance(source, Source)
    known = FileText(source, snapshot.entries.layout(source.path, source.digest))
    assert passages(known) == passages(FileText(source))
    assert "outline" not in vars(known)
    repo.write("a/widget.py", source.text.replace(WIDGET, ""))
    changed = snapshot.read("a/widget.py")
    assert isinstance(changed, Source)
    assert snapshot.entries.layout(changed.path, changed.digest) == b""
    assert project.update(["a/widget.py"]).entries.layout(changed.path, changed.digest) != b""


def test_likely_parts_take_the_room_that_the_map_leaves(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest(
        "a long way of the step", "", 12_000, map_limit=2_000, likely_limit=1_500, fill_limit=4_000
    )
    few, more = (
        build(dataclasses.replace(asked, fills_up=fills), snapshot, counter) for fills in (False, True)
    )
    assert 1_000 < tokens_of_likely(few) <= 1_500
    assert 3_600 < more.tokens <= 4_000
    partial = build(dataclasses.replace(asked, fills_up=True, map_limit=20), snapshot, counter)
    assert 3_600 < partial.tokens <= 4_000, "an incomplete map leaves the same room"


def test_what_does_not_match_fills_a_first_window_behind_what_does(repo: Repo, counter: Counter) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("who may frobnicate?", "", 20_000, likely_limit=8_000, fills_up=True)
    text = likely(build(asked, snapshot, counter))["a/widget.py"].text
    assert WIDGET in text and "def second" in text
    small = build(dataclasses.replace(asked, fill_limit=900), snapshot, counter)
    assert WIDGET in likely(small)["a/widget.py"].text, "what matches comes first"
    assert "def second" not in likely(small)["a/widget.py"].text
    later = build(dataclasses.replace(asked, used=900), snapshot, counter, Seen().after(small.shown))
    assert "def second" not in later.text, "a following turn is not filled"


@pytest.mark.parametrize("request_text", ["hello", "thanks!", "ok", "go on"])
def test_a_request_that_says_nothing_fills_no_window(repo: Repo, counter: Counter, request_text: str) -> None:
    fill(repo)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest(request_text, "", 20_000, likely_limit=8_000, fill_limit=16_000, fills_up=True)
    assert tokens_of_likely(build(asked, snapshot, counter)) == 0
    named = build(dataclasses.replace(asked, text=f"{request_text} @a/widget.py"), snapshot, counter)
    assert "def second" in named.text


def test_a_small_model_is_shown_a_small_project_however_large_its_budget_is(
    repo: Repo, counter: Counter
) -> None:
    repo.commit(
        **{
            "main.c": "int main(void) { return count; }\n",
            "strings.c": "int count;\n",
            "strings.h": "extern int count;\n",
        }
    )
    asked = WindowRequest(
        "rename count to occurrences in all files",
        "",
        110_000,
        likely_limit=1_500,
        fills_up=True,
        fill_limit=80_000,
        fill_comfort=25_000,
        likeliest_last=True,
        whole_files=True,
    )
    window = build(asked, Project(repo.root).scan(), counter)
    assert likely(window).keys() == {"main.c", "strings.c", "strings.h"}


def test_dense_text_that_does_not_match_takes_no_room_of_what_does(repo: Repo, counter: Counter) -> None:
    lines = "".join(f"    v[{n}]+=w[7]*3-{n}\n" + "\n" * (n % 40 == 0) for n in range(900))
    code = f"\ndef calculate(v, w):\n{lines}\n"
    repo.commit(**{"widget.py": WIDGET * 2 + code, "z/late.py": code + WIDGET + code})
    asked = WindowRequest("who may frobnicate?", "", 9_000, fill_limit=6_000, fills_up=True)
    window = build(asked, Project(repo.root).scan(), counter)
    assert window.tokens > 5_000
    assert all(WIDGET in piece.text for piece in likely(window).values())
    assert likely(window).keys() == {"widget.py", "z/late.py"}


def tokens_of_likely(window: Window) -> int:
    return sum(piece.tokens for piece in likely(window).values())
