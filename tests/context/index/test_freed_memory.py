"""Freed memory is shared by threads, as the C library itself tells."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.project.source import ROOT

POOLS = """
import ctypes, sys, threading
from context.index.freed_memory import share_freed_memory

if sys.argv[1] == "shared":
    share_freed_memory()
library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
library.malloc.argtypes = [ctypes.c_size_t]
library.free.argtypes = [ctypes.c_void_p]
all_have = threading.Barrier(4)

def take():
    taken = [library.malloc(2000) for _ in range(100)]
    all_have.wait()
    for each in taken:
        library.free(each)

threads = [threading.Thread(target=take) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
stdout = ctypes.c_void_p.in_dll(library, "stdout")
library.malloc_info(0, stdout)
library.fflush(stdout)
"""


def pools(way: str) -> int:
    """The pools of free memory in a process whose four threads took and freed some at the same time."""
    done = subprocess.run(
        [sys.executable, "-c", POOLS, way], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps a pool for each thread")
def test_threads_share_one_pool_of_freed_memory() -> None:
    assert pools("shared") == 1
    assert pools("apart") > 1
