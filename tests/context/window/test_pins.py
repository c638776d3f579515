"""Files that the user pins are in every window; of removed files only the names are."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from context.disk.changes import changed_ranges, line_sums
from context.disk.source import Source
from context.project.project import Project
from context.project.snapshot import Snapshot
from context.text.tokens import Counter
from context.window.pieces import Approved, Kind
from context.window.seen import Seen, Shown, ShownFile
from context.window.window import Window, WindowRequest, build
from tests.context.conftest import Repo
from tests.thorough import share


def module(name: str, functions: int = 8) -> str:
    return "\n\n".join(
        f"def {name}_{at}(value: int) -> int:\n"
        + "".join(f"    value += {line}\n" for line in range(8))
        + "    return value\n"
        for at in range(functions)
    )


class Talk:
    """The turns of one conversation about one project, with pins."""

    def __init__(self, repo: Repo, counter: Counter, budget: int = 60_000) -> None:
        self.project = Project(repo.root)
        self.project.scan()
        self.counter = counter
        self.budget = budget
        self.seen = Seen()
        self.used = 0

    def turn(
        self, *pinned: str, text: str = "Go on.", removed: tuple[str, ...] = (), changed: tuple[str, ...] = ()
    ) -> Window:
        snapshot = self.project.update(changed)
        request = WindowRequest(
            text,
            "Help.\n",
            self.budget,
            used=self.used,
            likely_limit=0,
            pinned=pinned,
            removed=removed,
            approved=Approved(all=True),
        )
        window = build(request, snapshot, self.counter, self.seen)
        assert window.tokens <= window.budget
        self.seen = self.seen.after(window.shown)
        self.used = window.tokens
        return window

    def afresh(self) -> None:
        self.seen = self.seen.restart()
        self.used = 0


def shown(window: Window) -> list[tuple[str | None, str]]:
    kinds = (Kind.CHANGED, Kind.MENTIONED)
    return [(piece.path, piece.why) for piece in window.pieces if piece.kind in kinds]


def project(repo: Repo) -> Repo:
    repo.commit(
        **{
            "src/alpha.py": module("alpha"),
            "src/beta.py": module("beta"),
            "src/gamma.py": module("gamma", 60),
            "docs/a b.md": "# Notes\n",
            "AGENTS.md": "Be brief.\n",
        }
    )
    return repo


def test_a_pinned_file_is_shown_whole_once_and_again_when_it_changes(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    window = talk.turn("src/alpha.py")
    assert shown(window) == [("src/alpha.py", "pinned; whole")]
    assert module("alpha") in window.text
    assert shown(talk.turn("src/alpha.py")) == []
    repo.write("src/alpha.py", module("alpha").replace("value += 3", "value -= 3", 1))
    window = talk.turn("src/alpha.py", changed=("src/alpha.py",))
    assert shown(window) == [("src/alpha.py", "pinned; changed since it was shown: 1 changed part")]
    assert "value -= 3" in window.text and "alpha_5" not in window.text
    assert shown(talk.turn("src/alpha.py")) == []


def test_a_file_pinned_later_is_shown_in_the_next_turn_without_changing_the_prefix(
    repo: Repo, counter: Counter
) -> None:
    talk = Talk(project(repo), counter)
    talk.turn()
    window = talk.turn("src/beta.py")
    assert [piece.kind.value for piece in window.pieces] == ["mentioned", "request"]
    assert shown(window) == [("src/beta.py", "pinned; whole")]
    # Unpinned, nothing is said: what the model was shown stands.
    assert [piece.kind.value for piece in talk.turn().pieces] == ["request"]


def test_a_fresh_start_shows_the_pins_again(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    talk.turn("src/alpha.py")
    talk.afresh()
    assert shown(talk.turn("src/alpha.py")) == [("src/alpha.py", "pinned; whole")]


def test_a_file_shown_in_part_is_shown_whole_once_it_is_pinned(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    repo.write("src/gamma.py", module("gamma", 60).replace("value += 3", "value -= 3", 1))
    first = talk.turn(changed=("src/gamma.py",))
    assert [path for path, _ in shown(first)] == ["src/gamma.py"] and "gamma_50(value: int)" in first.text
    assert first.text.count("value += 5") < 60
    second = talk.turn("src/gamma.py")
    assert shown(second) == [("src/gamma.py", "pinned; modified; whole")]
    assert shown(talk.turn("src/gamma.py")) == []


def test_lines_symbols_folders_and_globs_can_be_pinned(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    window = talk.turn("src/gamma.py:1-4", "beta_3", 'docs/"a b.md"', '@"docs/a b.md"')
    assert shown(window) == [
        ("docs/a b.md", "pinned; whole"),
        ("src/beta.py", "pinned: beta_3"),
        ("src/gamma.py", "pinned: lines 1-4"),
    ]
    texts = {piece.path: piece.text for piece in window.pieces}
    assert "def gamma_0" in texts["src/gamma.py"] and "def gamma_30" not in texts["src/gamma.py"]
    assert "def beta_3" in texts["src/beta.py"] and "def beta_5" not in texts["src/beta.py"]
    assert shown(talk.turn("src/gamma.py:1-4", "beta_3")) == []
    # Another range of the same file is new.
    assert shown(talk.turn("src/gamma.py:300-305", "beta_3")) == [("src/gamma.py", "pinned: lines 300-305")]
    assert [path for path, _ in shown(talk.turn("src/*.py"))] == [
        "src/alpha.py",
        "src/beta.py",
        "src/gamma.py",
    ]


def edited_by_the_model(talk: Talk, repo: Repo, path: str, before: str, after: str) -> None:
    """The model replaced ``before``, as a turn records it."""
    text = (repo.root / path).read_text()
    assert text.count(before) == 1
    repo.write(path, text.replace(before, after))
    source = talk.project.update([path]).read(path)
    assert isinstance(source, Source)
    talk.seen = talk.seen.knowing([source])


def test_pinned_parts_are_not_sent_again_after_the_models_own_edit(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    pins = ("src/gamma.py:25-33", "gamma_40")
    assert shown(talk.turn(*pins)) == [("src/gamma.py", "pinned: lines 25-33, gamma_40")]
    path = "src/gamma.py"
    # In a definition, at its end, far below the pinned parts, then between them.
    edited_by_the_model(talk, repo, path, "def gamma_40(value: int)", "def gamma_40(value: float)")
    assert shown(talk.turn(*pins)) == []
    end = "    value += 7\n    return value\n\n\ndef gamma_41"
    edited_by_the_model(talk, repo, path, end, end.replace("return value", "value += 8\n    return value"))
    assert shown(talk.turn(*pins)) == []
    edited_by_the_model(talk, repo, path, "def gamma_55(", "def gamma_fifty_five(")
    assert shown(talk.turn(*pins)) == []
    edited_by_the_model(talk, repo, path, "def gamma_20(", "X = 1\n\n\ndef gamma_20(")
    assert shown(talk.turn(*pins)) == []


def test_pinned_lines_that_an_edit_moved_away_are_sent_again(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    assert shown(talk.turn("src/gamma.py:100-110")) == [("src/gamma.py", "pinned: lines 100-110")]
    edited_by_the_model(talk, repo, "src/gamma.py", "def gamma_0(", "# one\n" * 30 + "def gamma_0(")
    assert shown(talk.turn("src/gamma.py:100-110")) == [("src/gamma.py", "pinned: lines 100-110")]
    assert shown(talk.turn("src/gamma.py:100-110")) == []


def test_parts_of_a_file_stay_known_once_its_change_was_shown(repo: Repo, counter: Counter) -> None:
    talk, path = Talk(project(repo), counter), "src/gamma.py"
    assert shown(talk.turn("gamma_10")) == [(path, "pinned: gamma_10")]
    repo.write(path, "# new\n" + module("gamma", 60))
    assert shown(talk.turn("gamma_40", changed=(path,))) == [(path, "pinned: gamma_40")]
    assert shown(talk.turn("gamma_10", "gamma_40")) == []
    assert shown(talk.turn("gamma_20")) == [(path, "pinned: gamma_20")]


def test_parts_that_were_pinned_one_after_the_other_are_not_sent_again(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter)
    assert shown(talk.turn("gamma_10")) == [("src/gamma.py", "pinned: gamma_10")]
    assert shown(talk.turn("gamma_40")) == [("src/gamma.py", "pinned: gamma_40")]
    assert shown(talk.turn("gamma_10", "gamma_40")) == []


LINES = st.lists(st.sampled_from("abcdefg"), max_size=14)


@given(LINES, LINES, st.integers(0, 13), st.integers(1, 14))
def test_what_is_known_of_parts_is_what_was_shown_or_written(
    before: list[str], after: list[str], start: int, length: int
) -> None:
    """Each line that is said to be known was in the part that was shown, or differs from what was there."""
    texts = ["".join(f"{line}\n" for line in lines) for lines in (before, after)]
    old, new = (Source("a", text, text) for text in texts)
    part = (min(start, len(before)), min(start + length, len(before)))
    record = ShownFile(old.digest, line_sums(old), whole=False, parts=frozenset({part}))
    seen = Seen(Shown(files={"a": record})).knowing([new])
    known = {line for first, stop in seen.shown.files["a"].parts for line in range(first, stop)}
    written = {line for changed in changed_ranges(line_sums(old), line_sums(new)) for line in changed}
    assert known <= set(range(len(after)))
    assert len(known - written) <= part[1] - part[0]
    assert {after[line] for line in known - written} <= set(before[part[0] : part[1]])
    if before == after:
        assert known == set(range(*part))


def test_mentioned_files_come_before_pinned_ones(repo: Repo, counter: Counter) -> None:
    talk = Talk(project(repo), counter, budget=1_300)
    window = talk.turn("src/beta.py", text="Explain @src/alpha.py")
    assert shown(window)[0] == ("src/alpha.py", "named in the request; whole")
    (rest,) = [each for each in shown(window) if each[0] == "src/beta.py"]
    assert rest[1] == "pinned; definitions only"


def test_a_pin_without_room_says_so_in_every_window_and_is_not_sent_twice(
    repo: Repo, counter: Counter
) -> None:
    talk = Talk(project(repo), counter, budget=2_600)
    window = talk.turn("src/gamma.py")
    assert shown(window) == [("src/gamma.py", "pinned; definitions only")]
    window = talk.turn("src/gamma.py")
    assert shown(window) == []
    (left,) = [left for left in window.left_out if left.path == "src/gamma.py"]
    assert left.why.startswith("pinned, but there is no room for its text") and left.tokens > 2_600
    talk.budget = 60_000
    assert shown(talk.turn("src/gamma.py")) == [("src/gamma.py", "pinned; whole")]


def test_only_the_name_of_a_removed_file_is_shown(repo: Repo, counter: Counter) -> None:
    repo = project(repo)
    repo.write("src/alpha.py", module("alpha", 9))
    talk = Talk(repo, counter)
    window = talk.turn(text="What does alpha_3 do?", removed=("src/alpha.py", "AGENTS.md"))
    assert "src/alpha.py" in window.text and "alpha_1" not in window.text
    assert not any(piece.path in ("src/alpha.py", "AGENTS.md") for piece in window.pieces)
    removed = {left.path: left.why for left in window.left_out}
    assert removed == {"src/alpha.py": "removed by you", "AGENTS.md": "removed by you"}
    # Restored, it is there again.
    window = talk.turn(text="What does alpha_3 do?")
    assert "alpha_1" in window.text and not window.left_out


def test_a_removed_file_that_the_request_names_is_reported_with_the_reason(
    repo: Repo, counter: Counter
) -> None:
    window = Talk(project(repo), counter).turn(text="Explain @src/alpha.py", removed=("src/*.py",))
    (left,) = [left for left in window.left_out if left.path == "src/alpha.py"]
    assert left.why == "removed by you, though the request names it"
    assert "def alpha_1" not in window.text


def test_removing_sends_nothing_and_a_fresh_start_forgets_the_definitions(
    repo: Repo, counter: Counter
) -> None:
    talk = Talk(project(repo), counter)
    assert "def alpha_1" in talk.turn().text
    window = talk.turn(removed=("src/alpha.py",))
    assert [piece.kind.value for piece in window.pieces] == ["request"]
    talk.afresh()
    window = talk.turn(removed=("src/alpha.py",))
    assert "alpha_1" not in window.text and "beta_1" in window.text


def test_a_pin_wins_over_a_removal(repo: Repo, counter: Counter) -> None:
    window = Talk(project(repo), counter).turn("src/alpha.py", removed=("src/",))
    assert shown(window) == [("src/alpha.py", "pinned; whole")]
    assert {left.path for left in window.left_out} == {"src/beta.py", "src/gamma.py"}


def test_related_files_without_room_are_left_out_by_name(repo: Repo, counter: Counter) -> None:
    repo.commit(
        **{f"src/m{n}.py": module(f"parse_{n}", 12) for n in range(12)},
        **{f"other/o{n}.py": module(f"paint_{n}", 1) for n in range(40)},
    )
    snapshot = Project(repo.root).scan()
    window = build(WindowRequest("Mend parse", "Help.\n", 6_000), snapshot, counter)
    likely = {piece.path for piece in window.pieces if piece.why.startswith("likely to matter")}
    left = {left.path: left.why for left in window.left_out if left.why.startswith("beyond the share")}
    assert likely and left and not likely & set(left)
    assert likely | set(left) == {path for path in snapshot.paths if path.startswith("src/")}
    assert all(why.endswith("its words match the request") for why in left.values())


TARGETS = st.lists(
    st.sampled_from(
        [
            "src/alpha.py",
            "src/beta.py",
            "src/gamma.py",
            "src/gamma.py:5-40",
            "gamma_7",
            "src/",
            "*.py",
            "docs/a b.md",
            "nothing.py",
            "AGENTS.md",
        ]
    ),
    max_size=4,
).map(tuple)


def test_pins_and_removals_never_exceed_the_budget(repo: Repo, counter: Counter, tmp_path: Path) -> None:
    repo = project(repo)
    repo.write("src/beta.py", module("beta", 12))
    scanned: Snapshot = Project(repo.root).scan()

    @settings(max_examples=share(120, 40), deadline=None)
    @given(st.lists(st.tuples(TARGETS, TARGETS), min_size=1, max_size=4), st.integers(300, 9_000))
    def check(turns: list[tuple[tuple[str, ...], tuple[str, ...]]], budget: int) -> None:
        seen, used = Seen(), 0
        for pinned, removed in turns:
            if budget - used < 60:
                break
            request = WindowRequest(
                "Do @src/alpha.py", "Help.\n", budget, used=used, pinned=pinned, removed=removed
            )
            window = build(request, scanned, counter, seen)
            assert window.tokens <= budget
            assert counter.count(window.text) == window.tokens - used
            out = {left.path for left in window.left_out if left.why.startswith("removed by you")}
            assert not out & {piece.path for piece in window.pieces}
            seen, used = seen.after(window.shown), window.tokens

    check()
