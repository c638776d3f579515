"""The lists of a large project are kept and read whole, and without garbage collections."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from context.index import index_updater
from context.index.cache import Store
from context.index.index import Index
from context.index.index_updater import IndexUpdater
from context.index.memory_segment import MemorySegment
from context.index.part import Facts
from context.index.segment_writing import write_segment
from context.index.worker_pool import Written
from context.project.project_paths import ProjectPaths

MANY = 6_000
PATHS = tuple(sorted(f"{'a folder/' * 12}{number % 90}/größe_{number:05}.c" for number in range(MANY)))
FEW = 3
"""Most collections of the youngest objects, of which there is one for each 700 that are made and stay."""


def collections(work: Callable[[], object]) -> int:
    """How many times garbage is collected during ``work``."""
    begun = 0

    def count(phase: str, _info: dict[str, int]) -> None:
        nonlocal begun
        begun += phase == "start"

    gc.collect()
    gc.callbacks.append(count)
    try:
        work()
    finally:
        gc.callbacks.remove(count)
    return begun


def index_of_many(cache: Path) -> Index:
    index = Index(Store(cache, Path("/project")))
    for number, path in enumerate(PATHS):
        index.add(Facts(path, f"{number:064x}", "", frozenset(), {"word": 1}, None), number + 1)
    index.save()
    return index


def test_the_list_of_files_is_saved_without_garbage_collections(tmp_path: Path) -> None:
    index = index_of_many(tmp_path)
    index.remove(PATHS[7])
    assert collections(index.save) <= FEW


def test_what_workers_found_is_added_without_garbage_collections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = MemorySegment()
    for number, path in enumerate(PATHS):
        draft.add(Facts(path, f"{number:064x}", "", frozenset(), {"word": 1}, None))
    file = tmp_path / "one.segment"
    write_segment([(draft, None)], file)
    written = Written(file, {path: number for number, path in enumerate(PATHS)})
    monkeypatch.setattr(index_updater, "read_all", lambda *_, **__: (each for each in (written,)))
    index = Index(Store(None, tmp_path))
    updater = IndexUpdater(tmp_path, index)
    stamps = {path: number + 1 for number, path in enumerate(PATHS)}
    assert collections(lambda: list(updater.read_files(stamps, PATHS[-1:]))) <= FEW
    assert [index.stamp(path) for path in PATHS] == list(stamps.values())
    assert index.digest(PATHS[7]) == f"{7:064x}"


def test_the_list_of_files_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    saved = index_of_many(tmp_path)
    loaded = Index(Store(tmp_path, Path("/project")))
    loaded.load()
    assert sorted(loaded.paths()) == list(PATHS)
    assert all(loaded.stamp(path) == saved.stamp(path) > 0 for path in PATHS)
    assert all(loaded.digest(path) == saved.digest(path) != "" for path in PATHS)


def test_files_are_found_by_name_without_garbage_collections() -> None:
    paths = ProjectPaths(PATHS)
    assert collections(lambda: paths.named("größe_00007.c")) <= FEW
    assert paths.named("größe_00007.c") == [path for path in PATHS if path.endswith("größe_00007.c")]


def test_files_of_one_name_are_found_in_order() -> None:
    held = tuple(sorted([*(f"{number:02}/same.c" for number in range(30)), "same.c", "z/other.c"]))
    paths = ProjectPaths(held)
    assert paths.named("same.c", 99) == [path for path in held if path.endswith("same.c")]
    assert paths.named("same.c") == list(held[:2])
    assert paths.named("07/same.c") == ["07/same.c"]
    assert paths.named("none.c") == [] == ProjectPaths(()).named("same.c")
    assert paths.matching("same.*") == tuple(path for path in held if path.endswith("same.c"))
