"""``spark replay`` on the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [(["--speed", "9"], 2, "0.25"), (["--speed", "x"], 2, "--speed"), ([], 3, "needs a terminal")],
)
def test_what_is_wrong_is_said(
    quick_spark: Path, tmp_path: Path, arguments: list[str], code: int, told: str
) -> None:
    done = subprocess.run(
        [quick_spark, "replay", *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        timeout=60,
        check=False,
    )
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr
