"""Which tools a command runs, what a machine has of them, and in what two machines differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from session.race.cluster.tools import differences, probe, programs, read


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("python -m pytest -q {tests}", ("python",)),
        ("A=1 B='2 3' ruff check . && mypy | tee log; echo done", ("ruff", "mypy", "tee", "echo")),
        ("env X=1 node --test", ("node",)),
        ("./run.sh; scripts/test && /opt/bin/tool x", ("/opt/bin/tool",)),
        ("echo 'a quote that is not closed", ()),
        ("", ()),
    ],
)
def test_the_programs_of_a_command_are_found(command: str, found: tuple[str, ...]) -> None:
    assert programs(command) == found


def test_versions_and_packages_are_read_from_this_machine(tmp_path: Path) -> None:
    script = tmp_path / "own-tool"
    script.write_text(f"#!{sys.executable}\nprint('own-tool 3')\n")
    script.chmod(0o755)
    names = [sys.executable, "sh", "no-such-tool", str(script)]
    done = subprocess.run(["/bin/sh", "-c", probe(names)], capture_output=True, text=True, check=True)
    found = read(done.stdout)
    assert found[sys.executable].startswith("Python 3.") and found["no-such-tool"] == ""
    assert found[str(script)] == "own-tool 3"
    assert found["pytest (Python)"] == pytest.__version__ and "spark (Python)" not in found


def test_a_difference_is_named_and_more_packages_are_none() -> None:
    here = {"pytest": "pytest 9", "attrs (Python)": "25.1"}
    assert differences(here, {**here, "extra (Python)": "1"}) == ""
    assert differences(here, {"pytest": "", "attrs (Python)": "25.1"}) == "pytest is not installed"
    assert differences(here, {"pytest": "pytest 8"}) == (
        "pytest is 'pytest 8' and not 'pytest 9', attrs (Python) is not installed"
    )
    many = {f"p{number} (Python)": "1" for number in range(9)}
    assert differences(many, {}).endswith("p2 (Python) is not installed and 6 more")
