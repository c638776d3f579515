"""What of a real pytest run goes back: every failure that differs once, with the test's own lines."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from session.checks.excerpt import MOST_LINES, excerpt
from session.checks.output import Failure, ProjectPaths, find, read_failure

BARE = ("-q", "-p", "no:cacheprovider", "-p", "no:warnings", "--color=no")


def pytest_in(folder: Path, **files: str) -> Failure:
    """Why a real run of pytest failed on these files."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "pytest", *BARE], cwd=folder, capture_output=True, text=True, check=False
    )
    names = [f"{name}.py" for name in files]
    return read_failure("pytest", ran.returncode, ran.stdout, ProjectPaths(folder, [], names).resolve)


def test_equal_failures_are_folded_and_every_different_one_is_in(tmp_path: Path) -> None:
    equal = "".join(f"def test_equal_{n}():\n    assert add(1, 2) == 3\n\n" for n in range(40))
    other = "".join(f"def test_other_{n}():\n    assert add({n}, 1) == -1\n\n" for n in range(12))
    failure = pytest_in(
        tmp_path,
        app="def add(a, b):\n    return a * 2 + b\n",
        test_app=f"from app import add\n\n{equal}{other}",
    )
    assert failure.excerpt.count("assert 4 == 3") == 1, "equal failures stand there once"
    assert "… the same in 39 more: test_equal_1, test_equal_2, test_equal_3 and 36 more" in failure.excerpt
    for n in range(12):
        assert f"assert {2 * n + 1} == -1" in failure.excerpt
    assert len(failure.excerpt.splitlines()) < 2 * MOST_LINES


def test_the_tests_own_lines_are_among_the_places(tmp_path: Path) -> None:
    failure = pytest_in(
        tmp_path,
        app="def add(a, b):\n    raise ValueError('no sum')\n",
        test_app="from app import add\n\n\ndef test_add():\n    add(1, 2)\n",
    )
    assert [(place.path, place.line) for place in failure.places] == [("app.py", 2), ("test_app.py", 5)]
    assert ">       add(1, 2)\n" in failure.excerpt


def test_a_syntax_error_at_collection_is_read_where_it_is(tmp_path: Path) -> None:
    failure = pytest_in(tmp_path, app="def add(a, b):\n    return a +\n", test_app="from app import add\n")
    assert str(failure.findings[0]) == "app.py:2: SyntaxError: invalid syntax"
    assert [finding.path for finding in failure.findings] == ["app.py", "test_app.py"]


def test_a_progress_bar_is_its_last_state() -> None:
    bar = "".join(f"\rtesting {n} of 100 failed=0" for n in range(100))
    assert excerpt(f"{bar}\rdone\nerror: no\n") == "done\nerror: no"
    found = find(f"{bar}\rapp.py:3: error: no\n", lambda path: path)
    assert [str(each) for each in found] == ["app.py:3: no"]


def test_lines_that_repeat_are_counted() -> None:
    assert excerpt("error: no\n" * 500 + "end\n") == "error: no  (× 500)\nend"
