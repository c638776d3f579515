"""The link to a real sshd is cut in the middle of a turn: the turn goes on, and the next spark takes over.

At every event in turn: ``python -m tests.e2e.link_cuts``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.link_cuts import SSHD, THOUGHT, Remote, cut, cut_at, cut_in_tmux_at, far_machine
from tests.e2e.test_lost_screen import alive
from tests.e2e.tmux import wait_for

pytestmark = [
    pytest.mark.skipif(SSHD is None, reason="needs sshd: install openssh-server"),
    pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh: install openssh-client"),
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]


@pytest.fixture
def remote(tmp_path: Path, spark_path: Path) -> Iterator[Remote]:
    with far_machine(tmp_path, spark_path, "120") as machine:
        yield machine


@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.long), 12])
def test_a_turn_outlives_the_link(remote: Remote, tmp_path: Path, number: int) -> None:
    assert cut_at(remote, tmp_path, number)


@pytest.mark.long
def test_a_tmux_at_the_other_end_keeps_spark_as_it_was(remote: Remote, tmp_path: Path) -> None:
    assert cut_in_tmux_at(remote, tmp_path, 12)


@pytest.mark.long
def test_without_a_turn_the_process_ends_with_the_link_and_keeps_what_was_typed(
    remote: Remote, tmp_path: Path
) -> None:
    with remote.opened(tmp_path) as (pane, process):
        pane.until("ready")
        pane.type(THOUGHT)
        pane.until(THOUGHT)
        cut(pane)
        wait_for(lambda: not alive(process), "the end of the process")
    with remote.opened(tmp_path) as (pane, _):
        pane.until(THOUGHT)
