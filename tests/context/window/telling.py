"""Conversations about a project, each window told as text: a line for each piece, and for what is not in it.

``windows.txt`` has what they tell. The tokens stand for the texts, which other tests look at: a text that
changes has another number. ``python3 -m tests.context.window.telling`` prints what is told now.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Approved, Window, WindowRequest
from context.window.seen import Seen
from context.window.window import build
from tests.context.conftest import Repo

INSTRUCTIONS = "You are a pair programmer. Edit with care.\n"
VERBS = ("fetch", "store", "parse", "render", "queue", "drain", "merge", "split", "count", "sort")
NOUNS = ("header", "packet", "socket", "page", "widget", "ledger", "token", "cursor", "buffer", "record")


def function(verb: str, noun: str, lines: int = 7) -> str:
    """A function of one purpose."""
    body = "".join(f"    {noun} = {verb}_step({noun}, {line})\n" for line in range(lines))
    head = f'def {verb}_{noun}({noun}: int) -> int:\n    """{verb.title()} the {noun}."""\n'
    return f"{head}{body}    return {noun}\n"


def module(at: int, functions: int, lines: int = 7) -> str:
    """A module of functions for one noun."""
    noun = NOUNS[at % len(NOUNS)]
    return "\n\n".join(function(VERBS[(at + each) % len(VERBS)], noun, lines) for each in range(functions))


FILES = {
    "src/header.py": module(0, 4),
    "src/packet.py": module(1, 10, 20),
    "src/socket.py": module(2, 3),
    "src/page.py": "class Page:\n" + "".join(f"    {line}\n" for line in module(3, 3).splitlines()),
    "src/ledger.py": module(5, 9, 12),
    "web/app.ts": "export function start(port: number): void {}\n",
    "web/AGENTS.md": "Use tabs.\n",
    "AGENTS.md": "Be brief.\n"
    + "".join(f"Rule {at}: keep the tests of part {at} green.\n" for at in range(60)),
    "docs/notes.md": "# Notes\n\n"
    + "".join(f"The widget of part {at} drains the queue.\n\n" for at in range(90)),
    "docs/short.md": "# Short\n\nThe socket stays open.\n",
    "gone.py": "def gone(): ...\n",
    "old.py": "def old(): ...\n" * 5,
    "deploy.env": "api_key = 'sk-proj-abcdefghij0123456789ABCDEFGHIJ0123456789abcdefgh'\n",
}


def changed(text: str, function_name: str, by: str) -> str:
    """A text in which the first line of a function's body is another one."""
    at = text.index('"""', text.index(f"def {function_name}(")) - 4
    return text[:at] + by + text[at:]


@dataclass
class Talk:
    """A conversation about a project: each turn builds a window from what changed on disk."""

    root: Path
    counter: Counter
    repo: Repo = field(init=False)
    seen: Seen = field(default_factory=Seen)
    used: int = 0

    def __post_init__(self) -> None:
        self.repo = Repo(self.root)
        self.repo.commit(**FILES)
        (self.root / "data.bin").write_bytes(b"\0\1")

    def edit(self, path: str, edit: Callable[[str], str]) -> None:
        """Change a file on disk."""
        file = self.root / path
        file.write_text(edit(file.read_text()))

    def turn(self, text: str, budget: int = 40_000, **more: Any) -> Window:
        """Build the window of the next turn."""
        more.setdefault("approved", Approved(all=True))
        request = WindowRequest(text, INSTRUCTIONS, budget, used=self.used, **more)
        window = build(request, Project(self.root).scan(), self.counter, self.seen)
        assert window.tokens <= budget
        assert window.tokens == self.used + sum(piece.tokens for piece in window.pieces)
        assert self.counter.count(window.text) == window.tokens - self.used
        self.seen, self.used = self.seen.after(window.shown), window.tokens
        return window

    def afresh(self) -> None:
        """Start the next window afresh."""
        self.seen, self.used = self.seen.restart(), 0


def shown(window: Window) -> list[str]:
    """The files whose text is shown, each with its tokens, on one line."""
    files = (each for each in window.pieces if each.kind in ("changed", "mentioned"))
    return [", ".join(f"{each.path} {each.tokens}" for each in files)]


def told(window: Window) -> list[str]:
    """Each piece with its tokens and its reason, then what was left out."""
    lines = [f"{each.kind} {each.path or ''} {each.tokens}: {each.why}" for each in window.pieces]
    for left in window.left_out:
        named = " (named)" if left.named else ""
        lines.append(f"- {left.path}{named} {left.tokens}: {left.why}")
    lines += [f"? {path}" for path in window.unapproved]
    return lines


Acts = Callable[[Talk], Iterator[tuple[str, Window]]]


def first_windows(talk: Talk) -> Iterator[tuple[str, Window]]:
    talk.edit("src/ledger.py", lambda text: changed(text, "store_ledger", "    ledger += 1\n"))
    talk.edit("web/app.ts", lambda text: text.replace("number", "string"))
    talk.repo.write("fresh.py", "def fresh(): ...\n")
    (talk.root / "gone.py").unlink()
    talk.repo.git("mv", "old.py", "renamed.py")
    request = "Change @src/header.py and @docs/nothing.md as in @data.bin"
    for budget in (40_000, 8_000, 4_000, 2_000, 1_000, 500):
        talk.afresh()
        yield (
            f"{budget} tokens",
            talk.turn(
                request,
                budget,
                history=("An earlier question?", "An answer. " * 60),
                open_files=("src/page.py",),
            ),
        )


def likely_windows(talk: Talk) -> Iterator[tuple[str, Window]]:
    cases: dict[str, dict[str, Any]] = {
        "words": {},
        "filled": {"fills_up": True},
        "little filled": {"fills_up": True, "budget": 3_000},
        "limited": {"likely_limit": 600},
        "small map": {"map_limit": 150},
        "fill limit": {"fill_limit": 2_500},
        "recent": {"recent": ("docs/short.md", "src/page.py", "none.py"), "budget": 5_000},
        "earlier": {"earlier": "render the widget page", "budget": 5_000},
    }
    for name, more in cases.items():
        talk.afresh()
        yield (
            name,
            talk.turn("why does the socket drain the queue of the packet?", **{"budget": 9_000, **more}),
        )


def named_in_parts(talk: Talk) -> Iterator[tuple[str, Window]]:
    for request in (
        "@src/packet.py:10-20 @src/packet.py:300-900",
        "@store_packet and @src/page.py::render_page",
        "@src/packet.py",
        "@src/",
        "@docs/notes.md",
        " ".join(f"@src/packet.py:{line}-{line + 1}" for line in (1, 30, 60, 90, 95)),
        "@deploy.env",
    ):
        for budget in (20_000, 3_000):
            talk.afresh()
            yield f"{request} in {budget}", talk.turn(request, budget, map_limit=200)


def following_turns(talk: Talk) -> Iterator[tuple[str, Window]]:
    yield "first", talk.turn("Look at @src/header.py and @src/packet.py:1-9", 30_000)
    yield "nothing new", talk.turn("go on")
    talk.edit("src/header.py", lambda text: changed(text, "store_header", "    header += 1\n"))
    talk.edit("src/packet.py", lambda text: changed(text, "merge_packet", "    packet += 1\n"))
    yield "two edits", talk.turn("go on")
    yield "the same named again", talk.turn("@src/header.py @src/packet.py:1-9")
    yield "whole", talk.turn("@src/packet.py")
    talk.edit("src/packet.py", lambda text: text.replace("packet: int", "packet: float"))
    yield "edits all over", talk.turn("go on", pinned=("src/packet.py",))
    (talk.root / "src/socket.py").unlink()
    talk.repo.write("src/new.py", "def brand_new(): ...\n")
    yield "one gone, one new", talk.turn("go on", open_files=("src/page.py", "src/new.py"))
    talk.repo.git("checkout", "--", "src/header.py")
    yield "one reverted", talk.turn("go on")
    yield "new subject", talk.turn("render the ledger", likely_limit=900)
    yield "new subject again", talk.turn("render the ledger", likely_limit=900)
    talk.edit("AGENTS.md", lambda text: "Be briefer.\n")
    yield "new rules", talk.turn("go on @web/app.ts")
    talk.afresh()
    yield "afresh", talk.turn("go on", 30_000, recent=("src/packet.py",))
    yield "little room", talk.turn("@docs/notes.md", talk.used + 300)
    yield "little room again", talk.turn("go on", talk.used + 300, open_files=("src/ledger.py",))


def pins_and_removals(talk: Talk) -> Iterator[tuple[str, Window]]:
    talk.edit("src/ledger.py", lambda text: changed(text, "store_ledger", "    ledger += 1\n"))
    pinned, removed = ("docs/short.md", "src/packet.py:5-9", "src/ledger.py"), ("src/p*.py", "web/")
    yield "first", talk.turn("@web/app.ts", 12_000, pinned=pinned, removed=removed)
    yield "again", talk.turn("go on", 40_000, pinned=pinned, removed=removed)
    talk.edit("src/ledger.py", lambda text: changed(text, "parse_ledger", "    ledger += 2\n"))
    yield "a pin changed", talk.turn("go on", 40_000, pinned=pinned, removed=removed)
    yield "pinned whole", talk.turn("go on", 40_000, pinned=("src/packet.py",))
    talk.afresh()
    yield (
        "no room for pins",
        talk.turn("go on", 900, pinned=("src/packet.py", "docs/notes.md"), map_limit=100),
    )
    yield "still none", talk.turn("go on", talk.used + 200, pinned=("src/packet.py", "docs/notes.md"))


def agreement(talk: Talk) -> Iterator[tuple[str, Window]]:
    yield "nothing agreed", talk.turn("@web/app.ts", 6_000, approved=Approved())
    talk.afresh()
    yield "named", talk.turn("@AGENTS.md", 6_000, approved=Approved())
    talk.afresh()
    yield "removed", talk.turn("@web/app.ts", 6_000, removed=("AGENTS.md",))


def budgets(talk: Talk) -> Iterator[tuple[str, Window]]:
    talk.edit("src/ledger.py", lambda text: changed(text, "store_ledger", "    ledger += 1\n"))
    for budget in range(1_500, 9_000, 700):
        for fills in (True, False):
            talk.afresh()
            name = f"{'filled' if fills else 'limited'} {budget}"
            more: dict[str, Any] = {"fills_up": True} if fills else {"likely_limit": budget // 3}
            yield name, talk.turn("why does the packet drain? @src/header.py", budget, map_limit=300, **more)


ACTS: dict[str, Acts] = {
    "first windows": first_windows,
    "likely windows": likely_windows,
    "named in parts": named_in_parts,
    "following turns": following_turns,
    "pins and removals": pins_and_removals,
    "agreement": agreement,
    "budgets": budgets,
}


def conversation(name: str, folder: Path, counter: Counter) -> str:
    """What one conversation tells."""
    root = folder / "project"
    root.mkdir()
    lines = []
    tell = shown if name == "budgets" else told
    for window_name, window in ACTS[name](Talk(root, counter)):
        lines += [f"{window_name}: {window.tokens}", *(f"  {line}" for line in tell(window))]
    return "\n".join(lines)


if __name__ == "__main__":
    loaded = Counter()
    loaded.load()
    for each in ACTS:
        with tempfile.TemporaryDirectory() as temporary:
            print(f"== {each}", conversation(each, Path(temporary), loaded), sep="\n")
