"""Of a long file the request wins the parts that it is about, whatever else of the file is shown."""

from __future__ import annotations

import pytest

from context.project.project import Project
from context.text.tokens import Counter
from context.window.pieces import Window, WindowRequest
from context.window.seen import Seen
from context.window.window import build
from tests.context.conftest import Repo

STEPS = 120
LAST = "adjust_77(value, 9)"
"""The last line of the function that is asked for."""


def step(number: int) -> str:
    lines = "".join(f"    value = adjust_{number}(value, {line})\n" for line in range(10))
    return f"def step_{number}(value):\n{lines}"


BIG = "\n\n".join(map(step, range(STEPS)))
CHANGED = BIG.replace("adjust_5(value, 3)", "adjust_5(value, 33)")


def window_for(
    repo: Repo, counter: Counter, text: str, seen: Seen | None = None, used: int = 0, limit: int = 4_000
) -> Window:
    request = WindowRequest(
        text, "", 12_000, used=used, likely_limit=limit, fills_up=bool(limit and not used)
    )
    window = build(request, Project(repo.root).scan(), counter, seen)
    assert window.tokens <= 12_000
    return window


@pytest.mark.parametrize("text", ["why is step_77 slow?", "@big.py why is step_77 slow?"])
@pytest.mark.parametrize("state", ["clean", "changed", "untracked", "renamed"])
def test_the_part_that_is_asked_about_is_shown_in_every_state(
    repo: Repo, counter: Counter, state: str, text: str
) -> None:
    repo.commit(**{"other.py": "x = 1\n", **({} if state == "untracked" else {"big.py": BIG})})
    if state == "renamed":
        repo.git("mv", "big.py", "old.py")
        repo.git("commit", "-qm", "old")
        repo.git("mv", "old.py", "big.py")
    if state != "clean":
        repo.write("big.py", CHANGED)
    window = window_for(repo, counter, text)
    assert LAST in window.text
    assert state in ("clean", "untracked") or "adjust_5(value, 33)" in window.text


def test_no_line_is_shown_twice(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"big.py": BIG})
    repo.write("big.py", CHANGED)
    window = window_for(repo, counter, "why is step_5 slow, and step_77?")
    lines = [line for line in window.text.split("\n") if "adjust_" in line]
    assert len(lines) == len(set(lines)) > 100


def test_the_signatures_of_a_changed_file_leave_the_room_to_what_is_asked_about(
    repo: Repo, counter: Counter
) -> None:
    long = BIG.replace("(value):", "(value: dict[str, list[tuple[int, float]]]) -> list[int]:")
    repo.commit(**{"big.py": long})
    repo.write("big.py", long.replace("adjust_5(value, 3)", "adjust_5(value, 33)"))
    (changed,) = (p for p in window_for(repo, counter, "why is step_77 slow?").pieces if p.kind == "changed")
    assert "adjust_5(value, 33)" in changed.text and "step_90" not in changed.text
    assert changed.tokens < 1_000


@pytest.mark.parametrize("text", ["why is step_77 slow?", "@big.py why is step_77 slow?"])
def test_what_is_missing_of_a_file_is_told(repo: Repo, counter: Counter, text: str) -> None:
    repo.commit(**{"big.py": BIG})
    repo.write("big.py", CHANGED)
    window = window_for(repo, counter, text)
    told = {left.path: left.why for left in window.left_out}["big.py"]
    shown = sum(f"    value = adjust_{n}(value, 0)\n" in window.text for n in range(STEPS))
    assert 3 < shown < STEPS
    assert told.startswith("shown in part (") and told.endswith(" of its 1,558 lines are not in the window)")


def test_of_a_file_that_changed_since_it_was_shown_in_part_other_parts_are_shown(
    repo: Repo, counter: Counter
) -> None:
    repo.commit(**{"big.py": BIG, "other.py": "x = 1\n"})
    repo.write("big.py", CHANGED)
    first = window_for(repo, counter, "why is step_5 slow?", limit=0).shown
    seen = Seen().after(first)
    repo.write("big.py", CHANGED.replace("adjust_9(value, 3)", "adjust_9(value, 33)"))
    second = window_for(repo, counter, "why is step_77 slow?", seen, used=6_000)
    assert "adjust_9(value, 33)" in second.text and LAST in second.text
    assert "adjust_5(" not in second.text


def test_signatures_without_room_do_not_hide_what_changed(repo: Repo, counter: Counter) -> None:
    names = "\n\n".join(
        f"def a_function_with_a_long_name_{n}(value: int) -> int:\n    return {n}\n" for n in range(900)
    )
    repo.commit(**{"wide.py": names})
    repo.write("wide.py", names.replace("return 450\n", "return 4 * 450\n"))
    window = window_for(repo, counter, "Go on.", limit=0)
    assert "return 4 * 450\n" in window.text
