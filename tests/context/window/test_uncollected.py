"""Garbage is not collected while a window is built."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator

import pytest

from context.code.outline import outline
from context.code.symbols import pack_layout
from context.disk.source import Source
from context.index.file_text import FileText
from context.map.outlines import cut_outline
from context.project.project import Project
from context.text.tokens import Counter
from context.window.passage_words import count_words
from context.window.passages import passages
from context.window.pieces import BudgetTooSmall, WindowRequest
from context.window.window import build, uncollected
from tests.context.conftest import Repo


@pytest.fixture
def began() -> Iterator[list[int]]:
    """The generations that were collected: often, since the projects of tests are small."""
    found: list[int] = []
    before = gc.get_threshold()
    gc.set_threshold(50, *before[1:])

    def note(phase: str, about: dict[str, int]) -> None:
        if phase == "start":
            found.append(about["generation"])

    gc.collect()
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)
    gc.set_threshold(*before)


def test_a_window_is_built_without_collections(repo: Repo, began: list[int]) -> None:
    for number in range(60):
        defined = "".join(f"def drain_{number}_{at}(queue):\n    return queue\n\n\n" for at in range(60))
        repo.write(f"part{number % 7}/m{number}.py", defined)
    repo.commit()
    project = Project(repo.root)
    snapshot = project.scan()
    began.clear()
    window = build(WindowRequest("how is the queue drained?", "Instructions.", 60_000), snapshot, Counter())
    assert window.tokens > 50_000
    # The first of what was made comes when it is over.
    assert len(began) <= 1
    assert gc.isenabled()


def test_what_is_kept_of_a_file_is_no_work_for_the_collector() -> None:
    """It looks at each value and what it refers to when a window is over, and holds up all threads: 5 to 8 ms
    were seen in a large project."""
    work: list[Callable[[FileText, str], object]] = [
        lambda file, _: passages(file),
        lambda file, _: count_words({"a.py": file}, ["drain"]),
        lambda _, block: cut_outline(block, (("drain", 1.0),), 400),
    ]
    for each in work:
        gc.collect()
        gc.disable()
        try:
            # The caches themselves, which other files have filled, are visited from their next entry on.
            each(*_many_names("fill"))
            given = _many_names("drain")
            before = {id(value) for value in gc.get_objects()}
            each(*given)
            left = [value for value in gc.get_objects() if id(value) not in before and value is not before]
        finally:
            gc.enable()
        assert sum(1 + len(gc.get_referents(value)) for value in left) < 100


def _many_names(verb: str) -> tuple[FileText, str]:
    """A file with 400 definitions, and its outline."""
    names = [f"{verb}TheQueue{at}Now" for at in range(400)]
    text = "".join(f"def {name}(queue):\n" + "    queue.step()\n" * 50 for name in names)
    block = "a.py:\n" + "".join(f" def {name}(queue)\n" for name in names)
    return FileText(Source("a.py", text, "1"), pack_layout(outline("a.py", text).symbols)), block


def test_collecting_goes_on_after_a_window_that_cannot_be_built(repo: Repo) -> None:
    repo.commit(**{"a.py": "x = 1\n"})
    with pytest.raises(BudgetTooSmall):
        build(WindowRequest("why?", "Instructions.", 1), Project(repo.root).scan(), Counter())
    assert gc.isenabled()


def test_collecting_goes_on_after_the_last_of_several_threads(began: list[int]) -> None:
    inside, leave = threading.Barrier(2), threading.Event()

    def other() -> None:
        with uncollected():
            inside.wait()
            leave.wait()

    thread = threading.Thread(target=other)
    thread.start()
    with uncollected():
        inside.wait()
    assert not gc.isenabled()
    leave.set()
    thread.join()
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
