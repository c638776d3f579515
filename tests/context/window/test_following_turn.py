"""A following turn sends only what is new or changed since it was shown."""

from __future__ import annotations

from dataclasses import replace

from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Approved, Kind
from context.window.seen import Seen
from context.window.window import Window, WindowRequest, build
from tests.context.conftest import Repo

BIG = "\n\n".join(
    f"def work_{n}(value: int) -> int:\n"
    + "".join(f"    value += {line}\n" for line in range(10))
    + "    return value\n"
    for n in range(40)
)


class Conversation:
    """The turns of one conversation about one project."""

    def __init__(self, repo: Repo, counter: Counter) -> None:
        self.project = Project(repo.root)
        self.project.scan()
        self.counter = counter
        self.seen = Seen()
        self.used = 0

    def turn(self, text: str = "Go on.", *changed: str) -> Window:
        snapshot = self.project.update(changed)
        request = WindowRequest(
            text,
            "Instructions.\n",
            60_000,
            used=self.used,
            likely_limit=0,
            approved=Approved(all=True),
        )
        window = build(request, snapshot, self.counter, self.seen)
        self.seen = self.seen.after(window.shown)
        self.used = window.tokens
        return window


def kinds(window: Window) -> list[tuple[str, str | None]]:
    return [(piece.kind.value, piece.path) for piece in window.pieces]


def start(repo: Repo, counter: Counter) -> Conversation:
    repo.commit(**{"big.py": BIG, "small.py": "def small(): ...\n", "AGENTS.md": "Be brief.\n"})
    repo.write("big.py", BIG.replace("work_5(value: int)", "work_5(value: float)"))
    conversation = Conversation(repo, counter)
    assert kinds(conversation.turn()) == [
        ("instructions", None),
        ("project_instructions", "AGENTS.md"),
        ("map", None),
        ("changed", "big.py"),
        ("request", None),
    ]
    return conversation


def test_without_news_only_the_request_is_sent(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    assert kinds(conversation.turn()) == [("request", None)]


def test_one_small_edit_sends_little(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    text = (repo.root / "big.py").read_text().replace("    value += 3\n", "    value -= 3\n", 1)
    repo.write("big.py", text)
    window = conversation.turn("Go on.", "big.py")
    assert kinds(window) == [("changed", "big.py"), ("request", None)]
    shown = window.pieces[0]
    assert "def work_0(value: int)" in shown.text and "    value -= 3\n" in shown.text
    assert "work_1" not in shown.text and "overrides" in shown.text
    assert sum(len(piece.text.encode()) for piece in window.pieces) < 2000
    assert kinds(conversation.turn()) == [("request", None)]


def test_changed_definitions_reach_the_map_as_a_delta(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    repo.write("new.py", "def brand_new(): ...\n")
    (repo.root / "small.py").unlink()
    window = conversation.turn("Go on.", "new.py", "small.py")
    assert kinds(window) == [("map", None), ("changed", "new.py"), ("changed", "small.py"), ("request", None)]
    delta = window.pieces[0].text
    assert "new.py:\n def brand_new()\n" in delta and "small.py: gone\n" in delta and "big.py" not in delta
    assert kinds(conversation.turn()) == [("request", None)]
    repo.write("small.py", "def small(): ...\n")
    window = conversation.turn("Go on.", "small.py")
    assert kinds(window) == [("map", None), ("changed", "small.py"), ("request", None)]


def methods(count: int, *, of: str) -> str:
    body = "".join(
        f"    def {of}_{n}(self, value: int) -> int:\n        return {n}\n\n" for n in range(count)
    )
    return f"class {of.title()}:\n{body}\n"


def test_only_the_changed_definitions_of_a_file_on_the_map_are_sent(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"wide.py": methods(60, of="left") + methods(60, of="right"), "small.py": "x = 1\n"})
    conversation = Conversation(repo, counter)
    assert kinds(conversation.turn()) == [("instructions", None), ("map", None), ("request", None)]
    text = (repo.root / "wide.py").read_text()
    text = text.replace("right_7(self, value: int)", "right_7(self, value: str)")
    text = text.replace("    def left_3(self, value: int) -> int:\n        return 3\n\n", "")
    repo.commit(**{"wide.py": text})
    window = conversation.turn("Go on.", "wide.py", ".git/HEAD")
    (delta,) = [piece for piece in window.pieces if piece.kind is Kind.MAP]
    entry = delta.text[delta.text.index("wide.py") :]
    assert entry.splitlines() == [
        "wide.py (what changed):",
        "  class Left",
        "-   def left_3(self, value: int) -> int",
        "  class Right",
        "-   def right_7(self, value: int) -> int",
        "+   def right_7(self, value: str) -> int",
        "````",
    ]


def test_the_map_skips_changes_of_files_that_are_known_whole(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"big.py": BIG, "small.py": "def small(): ...\n"})
    conversation = Conversation(repo, counter)
    conversation.turn("Look at @big.py.")
    for number in (3, 4):
        text = (repo.root / "big.py").read_text()
        repo.write("big.py", text.replace(f"work_{number}(value: int)", f"work_{number}(value: float)"))
        window = conversation.turn("Go on.", "big.py")
        assert kinds(window) == [("changed", "big.py"), ("request", None)]
        assert len(window.pieces[0].text) < 1_000


def test_a_file_that_was_reverted_is_shown_again(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    repo.write("big.py", BIG)
    window = conversation.turn("Go on.", "big.py")
    assert ("changed", "big.py") in kinds(window)
    assert "def work_5(value: int)" in window.pieces[-2].text
    assert kinds(conversation.turn()) == [("request", None)]


def test_a_mention_is_not_shown_twice(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    assert kinds(conversation.turn("@small.py")) == [("mentioned", "small.py"), ("request", None)]
    assert kinds(conversation.turn("@small.py")) == [("request", None)]
    # big.py was only shown in short: named, it is shown whole.
    window = conversation.turn("@big.py")
    assert kinds(window) == [("changed", "big.py"), ("request", None)]
    assert (repo.root / "big.py").read_text() in window.pieces[0].text
    assert kinds(conversation.turn("@big.py")) == [("request", None)]


def test_changed_project_instructions_are_sent_again(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    repo.write("AGENTS.md", "Be very brief.\n")
    window = conversation.turn("Go on.", "AGENTS.md")
    assert window.pieces[0].kind is Kind.PROJECT_INSTRUCTIONS
    assert "very brief" in window.pieces[0].text


def test_a_file_without_room_is_not_tried_again_until_it_changes(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"a.py": BIG, "b.py": BIG})
    repo.write("a.py", BIG.replace("+=", "-="))
    repo.write("b.py", BIG.replace("+=", "*="))
    snapshot = Project(repo.root).scan()
    small = build(WindowRequest("x", "I.\n", 1500), snapshot, counter)
    seen = Seen().after(small.shown)
    assert kinds(build(WindowRequest("x", "I.\n", 60_000, used=small.tokens), snapshot, counter, seen)) == [
        ("request", None)
    ]
    named = build(WindowRequest("@a.py", "I.\n", 60_000, used=small.tokens), snapshot, counter, seen)
    assert ("changed", "a.py") in kinds(named)


def test_a_fresh_start_sends_the_frozen_map_followed_by_its_changes(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    first = conversation.turn("again")
    assert not first.shown.outlines
    frozen = conversation.seen.frozen
    assert frozen is not None
    repo.write("small.py", "def small(wider): ...\n")
    (repo.root / "AGENTS.md").unlink()
    conversation.project.update(["small.py", "AGENTS.md"])
    conversation.seen, conversation.used = conversation.seen.restart(), 0
    window = conversation.turn("afresh")
    maps = [piece.text for piece in window.pieces if piece.kind is Kind.MAP]
    assert maps[0] == frozen.text
    assert "def small(wider)" in maps[1] and "AGENTS.md: gone\n" in maps[1]
    assert "def small(wider)" not in maps[0]
    assert kinds(conversation.turn()) == [("request", None)]


def test_a_map_that_changed_much_is_frozen_anew(repo: Repo, counter: Counter) -> None:
    conversation = start(repo, counter)
    frozen = conversation.seen.frozen
    wide = "\n".join(f"def much_longer_name_{n}(value: int, other: str) -> None: ..." for n in range(900))
    repo.write("small.py", wide)
    conversation.project.update(["small.py"])
    conversation.seen, conversation.used = conversation.seen.restart(), 0
    window = conversation.turn("afresh")
    assert sum(piece.kind is Kind.MAP for piece in window.pieces) == 1
    assert conversation.seen.frozen is not None and conversation.seen.frozen is not frozen


def test_a_new_subject_brings_outlines_that_the_map_had_no_room_for(repo: Repo, counter: Counter) -> None:
    bulk = {f"lib/part_{n}.py": "def part_of_the_engine(first, second): ...\n" * 12 for n in range(40)}
    body = "".join(f"    value = value * {n}  # step {n} of a long way\n" for n in range(60))
    others = {f"zz/boat_{n}.py": f"def rudder_{n}(value):\n{body}    return value\n" for n in range(8)}
    repo.commit(**bulk, **others)
    snapshot = Project(repo.root).scan()
    asked = WindowRequest("part of the engine", "", 12_000, map_limit=900, likely_limit=0)
    first = build(asked, snapshot, counter)
    assert not any("def rudder" in piece.text for piece in first.pieces)
    seen = Seen().after(first.shown)
    turn = replace(asked, text="the rudder of the boat", used=first.tokens, likely_limit=1_200)
    window = build(turn, snapshot, counter, seen)
    (more,) = (piece for piece in window.pieces if piece.kind is Kind.MAP)
    told = [n for n in range(8) if f"zz/boat_{n}.py:\n def rudder_{n}(value)\n" in more.text]
    assert len(told) > 3 and more.tokens <= 300 and window.tokens - first.tokens <= 1_250
    assert not any(piece.path == f"zz/boat_{n}.py" for piece in window.pieces for n in told)
    later = replace(turn, used=window.tokens)
    again = build(later, snapshot, counter, seen.after(window.shown))
    assert not any(f"def rudder_{n}" in piece.text for piece in again.pieces[:1] for n in told)
