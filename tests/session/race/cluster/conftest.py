"""One cluster for all tests here, which run on one worker: to start it takes longer than most of them, and it
computes as long as it stands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.session.race.cluster.dask_cluster import DaskCluster, Nursery, dask_cluster

TOOL = "judging-tool"


@dataclass
class Machines:
    """The cluster, and the PATH with the tool of the machine that asks."""

    dask: DaskCluster
    path: str


def tool(folder: Path, version: str) -> str:
    """A PATH that begins with a tool of that version."""
    folder.mkdir()
    file = folder / TOOL
    file.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo "{TOOL} {version}"\nexit 0\n')
    file.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture(scope="package")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture(scope="package")
def machines(tmp_path_factory: pytest.TempPathFactory, nursery: Nursery) -> Iterator[Machines]:
    """Workers a and b have the tool as here; it is another version on the worker c. Tests may have killed a
    and b."""
    folder = tmp_path_factory.mktemp("cluster")
    path, other = tool(folder / "same", "1.0"), tool(folder / "other", "2.0")
    with dask_cluster(folder / "dask", nursery) as dask:
        dask.start_scheduler()
        for name in ("a", "b", "c"):
            dask.start_worker(name, {"PATH": other if name == "c" else path})
        dask.joined("a", "b", "c")
        yield Machines(dask, path)
