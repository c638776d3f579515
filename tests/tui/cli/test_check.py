"""``spark check``: agreeing to commands, and running them in a sandbox."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import RunSpark

PYTEST = f"{sys.executable} -m pytest -q -p no:cacheprovider"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("VALUE = 1\n")
    (folder / "test_app.py").write_text(
        "from app import VALUE\n\n\ndef test_value():\n    assert VALUE == 2\n"
    )
    configure(f'[[checks]]\nname = "tests"\nkind = "tests"\ncommand = "{PYTEST}"\n')
    return folder


def test_the_projects_own_packages_are_not_those_that_spark_imports(root: Path, spark_path: Path) -> None:
    """In click itself, say, with ``PYTHONPATH=src``; the checks get it as it is."""
    for name in ("click", "json", "prompt_toolkit"):
        (root / "src" / name).mkdir(parents=True)
        (root / "src" / name / "__init__.py").write_text(f"raise SystemExit('the {name} of the project')\n")
    environ = {**os.environ, "PYTHONPATH": "src"}
    line = [str(spark_path), "check", "--check", "echo app.py:1: $PYTHONPATH; exit 1"]
    ran = subprocess.run(line, cwd=root, env=environ, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "app.py:1: src\n"), ran.stderr


def configure(text: str) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "spark"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)


def test_a_check_runs_only_once_it_was_agreed_to(root: Path, run_spark: RunSpark) -> None:
    refused = run_spark("check", cwd=root)
    assert refused.code == 3 and "spark check --agree tests" in refused.err and refused.out == ""
    agreed = run_spark("check", "--agree", "tests", cwd=root)
    assert agreed.code == 0 and PYTEST in agreed.err
    red = run_spark("check", cwd=root)
    assert red.code == 1
    assert red.out == "test_app.py:5: assert 1 == 2\n"
    assert "red     tests · " in red.err and "exit 1" in red.err
    (root / "app.py").write_text("VALUE = 2\n")
    green = run_spark("check", cwd=root)
    assert (green.code, green.out) == (0, "") and "green   tests" in green.err


def test_a_changed_command_asks_again(root: Path, run_spark: RunSpark) -> None:
    run_spark("check", "--agree", "tests", cwd=root)
    configure(f'[[checks]]\nname = "tests"\ncommand = "{PYTEST} -x"\n')
    assert run_spark("check", cwd=root).code == 3
    assert "not agreed" in run_spark("check", "--list", cwd=root).out


def test_an_agreement_can_be_taken_back(root: Path, run_spark: RunSpark) -> None:
    run_spark("check", "--agree", "tests", cwd=root)
    assert "  agreed  " in run_spark("check", "--list", cwd=root).out
    run_spark("check", "--revoke", "tests", cwd=root)
    assert run_spark("check", cwd=root).code == 3


def test_an_agreement_holds_for_one_project(root: Path, run_spark: RunSpark, tmp_path: Path) -> None:
    run_spark("check", "--agree", "tests", cwd=root)
    other = tmp_path / "other"
    other.mkdir()
    assert run_spark("check", cwd=other).code == 3


def test_a_command_that_is_written_out_needs_no_other_agreement(root: Path, run_spark: RunSpark) -> None:
    ran = run_spark("check", "--check", "grep -n VALUE app.py; echo x > app.py; exit 1", cwd=root)
    assert ran.code == 1 and "1:VALUE = 1" in ran.err
    assert (root / "app.py").read_text() == "VALUE = 1\n"
    assert run_spark("check", "--check", "true", cwd=root).code == 0


def test_json_tells_of_each_check_and_of_all(root: Path, run_spark: RunSpark) -> None:
    ran = run_spark("check", "--json", "--check", PYTEST, "--check", "true", cwd=root)
    first, second, ended = map(json.loads, ran.out.splitlines())
    assert first["type"] == "check.ended" and first["status"] == "red"
    assert first["findings"] == [{"path": "test_app.py", "line": 5, "message": "assert 1 == 2"}]
    assert second["status"] == "green"
    assert ended["type"] == "checks.ended" and (ended["green"], ended["red"], ended["unclear"]) == (1, 1, 0)
    assert ran.code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["check", "nothing"], 2, "there is no check 'nothing' here; there are: tests"),
        (["check", "--agree"], 2, "name the checks to agree to"),
        (["check", "--agree", "--revoke", "tests"], 2, "name the checks to agree to"),
        (["check", "--check", " "], 2, "not empty"),
    ],
)
def test_a_wrong_command_line_is_told(
    root: Path, run_spark: RunSpark, arguments: list[str], code: int, said: str
) -> None:
    ran = run_spark(*arguments, cwd=root)
    assert ran.code == code and said in ran.err


def test_a_broken_configuration_is_told(root: Path, run_spark: RunSpark) -> None:
    configure('[[checks]]\nname = "tests"\n')
    ran = run_spark("check", cwd=root)
    assert ran.code == 3 and "[[checks]] number 1" in ran.err and "config.toml" in ran.err


@pytest.mark.parametrize(("answer", "code"), [("y", 1), ("n", 3), ("", 3)])
def test_on_a_terminal_the_exact_command_is_shown_and_asked_about(
    root: Path, quick_spark: Path, answer: str, code: int
) -> None:
    configure(f'[[checks]]\nname = "odd"\ncommand = "false{" " * 60}; false"\n')
    main, terminal = pty.openpty()
    with subprocess.Popen(
        [quick_spark, "check", "odd"], cwd=root, stdin=terminal, stdout=terminal, stderr=terminal
    ) as asking:
        os.close(terminal)
        seen = read_until(main, "Agree to this command")
        os.write(main, f"{answer}\n".encode())
        assert "⟨60 blanks⟩" in seen
        assert asking.wait(30) == code
    os.close(main)


def read_until(terminal: int, text: str) -> str:
    seen = b""
    while text.encode() not in seen:
        seen += os.read(terminal, 4_096)
    return seen.decode()
