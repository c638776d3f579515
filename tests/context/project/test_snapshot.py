"""What is derived from a snapshot is kept with it, and with no other."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from types import MappingProxyType

from context.disk.changes import Change, Status
from context.find.ranking import rank
from context.project.project import Project
from tests.context.conftest import Repo


def test_a_ranking_is_kept_for_the_same_request(repo: Repo) -> None:
    repo.commit(**{"a.py": "def drain(queue): pass\n", "b.py": "from a import drain\n", "c.py": "x = 1\n"})
    project = Project(repo.root)
    snapshot = project.scan()
    first = rank(snapshot, "drain the queue", ["b.py"])
    assert rank(snapshot, "drain the queue", ["b.py"]) is first
    other = rank(snapshot, "what is x", ["b.py"])
    assert other.asked != first.asked
    assert rank(snapshot, "drain the queue", ["c.py"]).order.first == ("c.py",)
    assert rank(snapshot, "drain the queue", ["b.py"], earlier="is it empty?").asked != first.asked
    assert rank(snapshot, "drain the queue", ["b.py"]).order.top == first.order.top


def test_a_ranking_is_not_that_of_another_state_with_the_same_words(repo: Repo) -> None:
    repo.commit(**{"a.py": "def drain(queue): pass\n", "b.py": "x = 1\n"})
    snapshot = Project(repo.root).scan()
    assert not rank(snapshot, "drain", []).scores.get("b.py")
    on_branch = replace(snapshot, branch=frozenset({"b.py"}))
    assert on_branch.words is snapshot.words
    assert rank(on_branch, "drain", []).scores["b.py"] > 0
    changes = MappingProxyType({"b.py": Change("b.py", Status.ADDED)})
    assert not rank(replace(on_branch, changes=changes), "drain", []).scores.get("b.py")
    assert not rank(snapshot, "drain", []).scores.get("b.py")


def test_a_save_is_ranked_anew(repo: Repo) -> None:
    repo.commit(**{"a.py": "x = 1\n", "b.py": "y = 1\n"})
    project = Project(repo.root)
    assert not rank(project.scan(), "drain", []).scores
    repo.write("b.py", "def drain(): pass\n")
    assert set(rank(project.update(["b.py"]), "drain", []).scores) == {"b.py"}


def test_a_snapshot_without_files_is_kept_for_these(repo: Repo) -> None:
    repo.commit(**{"a.py": "x = 1\n", "b.py": "y = 1\n"})
    snapshot = Project(repo.root).scan()
    without = snapshot.without({"a.py"})
    assert snapshot.without(["a.py"]) is without
    assert set(without.entries) == {"b.py"}
    assert set(snapshot.without({"b.py"}).entries) == {"a.py"}
    assert snapshot.without({"a.py"}, "asked for").unread == {"a.py": "asked for"}
    assert replace(snapshot, above=1).without({"a.py"}).above == 1


def test_what_is_kept_goes_with_the_snapshot(repo: Repo) -> None:
    repo.commit(**{"a.py": "x = 1\n", "b.py": "y = 1\n"})
    project = Project(repo.root)
    snapshot = project.scan()
    rank(snapshot.without({"b.py"}), "x", ["a.py"])
    gone = weakref.ref(snapshot.words)
    gc.collect()
    gc.disable()
    try:
        repo.write("a.py", "z = 1\n")
        snapshot = project.update(["a.py"])
        assert gone() is None, "something refers to what keeps it"
    finally:
        gc.enable()
