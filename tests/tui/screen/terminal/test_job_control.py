"""Suspending, seen from the shell that waits for the job."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.e2e.tmux import wait_for

ROUNDS = 40
PATIENCE = 20.0
"""Seconds after which a stop that the kernel has not reported is not coming any more."""

JOB = """
import signal, subprocess, sys, threading, time
from tui.screen.terminal.signals import stop_job

def start_programs():
    while True:
        subprocess.run([sys.argv[1]], start_new_session=True, check=True)

signal.signal(signal.SIGTSTP, lambda number, frame: None)
for _ in range(3):
    threading.Thread(target=start_programs, daemon=True).start()
while True:
    time.sleep(0.002)
    stop_job()
"""


@pytest.fixture
def busy_job() -> Iterator[int]:
    """A job in a process group of its own that starts programs all the time and keeps stopping itself."""
    true = next(path for path in ("/bin/true", "/usr/bin/true") if Path(path).exists())
    job = subprocess.Popen([sys.executable, "-c", JOB, true], process_group=0)
    yield job.pid
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()


def test_a_job_that_is_starting_programs_is_reported_as_stopped_each_time(busy_job: int) -> None:
    for each in range(ROUNDS):
        until = time.monotonic() + PATIENCE
        while (stopped := os.waitpid(busy_job, os.WUNTRACED | os.WNOHANG)) == (0, 0):
            assert time.monotonic() < until, f"stop {each + 1} was never reported"
            time.sleep(0.001)
        assert os.WIFSTOPPED(stopped[1])
        os.killpg(busy_job, signal.SIGCONT)


def test_what_runs_spark_is_stopped_with_it() -> None:
    inner = "from tui.screen.terminal.signals import stop_job; stop_job(); print('on', flush=True)"
    wrapper = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-c', {inner!r}]))"
    job = subprocess.Popen([sys.executable, "-c", wrapper], process_group=0, stdout=subprocess.PIPE)
    _, status = os.waitpid(job.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert os.WSTOPSIG(status) == signal.SIGTSTP
    (spark,) = psutil.Process(job.pid).children()
    wait_for(lambda: spark.status() == psutil.STATUS_STOPPED, "spark stopped too")
    os.killpg(job.pid, signal.SIGCONT)
    output, _ = job.communicate(timeout=PATIENCE)
    assert (output, job.returncode) == (b"on\n", 0)
