"""Freed memory is shared by threads and given back, as the C library itself tells."""

from __future__ import annotations

import platform
import re
import subprocess
import sys

import pytest

from tests.checkout import ROOT

TOLD = """
import asyncio, ctypes, sys, threading
from tui.front.event_loop import run

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

async def work():
    threads = [threading.Thread(target=take) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    library.free(library.malloc(8_000_000))
    library.malloc(4_000_000)

run(work()) if sys.argv[1] == "spark" else asyncio.run(work())
stdout = ctypes.c_void_p.in_dll(library, "stdout")
library.malloc_info(0, stdout)
library.fflush(stdout)
"""


def told(way: str) -> tuple[int, int]:
    """Of a process whose four threads took and freed memory at the same time, and that then took and freed a
    large piece and took another: the pools of free memory, and the bytes that were taken in large pieces."""
    done = subprocess.run(
        [sys.executable, "-c", TOLD, way], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    large = re.search(r'type="mmap" count="\d+" size="(\d+)"', done.stdout)
    return done.stdout.count("<heap nr="), int(large[1]) if large else 0


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps a pool for each thread")
def test_threads_share_one_pool_and_a_large_piece_is_never_part_of_it() -> None:
    pools, large = told("spark")
    assert pools == 1
    assert large >= 4_000_000
    pools, large = told("plain")
    assert pools > 1
    assert large < 4_000_000
