"""``spark acp`` where standard input is nothing that an editor could write to."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import LONGEST_COMMAND


@pytest.mark.parametrize("given", ["nothing", "a file"])
def test_without_an_editor_it_says_so_and_ends(quick_spark: Path, tmp_path: Path, given: str) -> None:
    """Neither can be waited on: the event loop refused them with an error, and spark waited without end."""
    (tmp_path / "file").write_text("{}")
    path = tmp_path / "file" if given == "a file" else Path(os.devnull)
    with path.open("rb") as standard_input:
        done = subprocess.run(
            [quick_spark, "acp"],
            stdin=standard_input,
            capture_output=True,
            timeout=LONGEST_COMMAND,
            check=False,
        )
    assert done.returncode == 3 and done.stdout == b""
    told = b"spark: spark acp is started by an editor: standard input must be a pipe, not a file\n"
    assert done.stderr == told
