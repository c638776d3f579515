"""What is read from the output of commands that failed, in each language's own words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from session.checks.excerpt import MOST_LINES, excerpt
from session.checks.finding import Finding
from session.checks.output import Failure, ProjectPaths, read_failure
from tests.checkout import ROOT as CHECKOUT
from tests.thorough import share

ROOT = Path("/home/me/project")
FILES = (
    "src/app.py",
    "src/app.js",
    "src/Main.java",
    "main.go",
    "src/main.rs",
    "src/main.c",
    "lib/app.rb",
    "a b.py",
)
RESOLVE = ProjectPaths(ROOT, [], FILES).resolve

PYTHON = """Traceback (most recent call last):
  File "/home/me/project/src/app.py", line 30, in <module>
    main()
  File "/usr/lib/python3.11/json/decoder.py", line 3, in decode
  File "/home/me/project/src/app.py", line 12, in main
    return 1 / 0
ZeroDivisionError: division by zero
"""
NODE = """/home/me/project/src/app.js:3
    throw new Error("no")
    ^

Error: no
    at read (/home/me/project/src/app.js:3:11)
    at Object.<anonymous> (/home/me/project/src/app.js:20:1)
    at Module._compile (node:internal/modules/cjs/loader:1356:14)
"""
JAVA = """Exception in thread "main" java.lang.IllegalStateException: no
\tat org.example.Main.read(Main.java:14)
\tat java.base/java.util.ArrayList.forEach(ArrayList.java:1596)
"""
GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.main()
\t/home/me/project/main.go:9 +0x1d
exit status 2
"""
RUST = """thread 'main' panicked at src/main.rs:4:5:
index out of bounds: the len is 3 but the index is 7
stack backtrace:
   2: project::read
             at ./src/main.rs:10:9
"""
C = """==1==ERROR: AddressSanitizer: heap-buffer-overflow
    #0 0x4f in read /home/me/project/src/main.c:21:5
    #1 0x7f in __libc_start_main libc.so
"""
RUBY = "lib/app.rb:7:in `read': no (RuntimeError)\n\tfrom lib/app.rb:12:in `<main>'\n"


@pytest.mark.parametrize(
    ("output", "places"),
    [
        (PYTHON, {("src/app.py", 12), ("src/app.py", 30)}),
        (NODE, {("src/app.js", 3), ("src/app.js", 20)}),
        (JAVA, {("src/Main.java", 14)}),
        (GO, {("main.go", 9)}),
        (RUST, {("src/main.rs", 4), ("src/main.rs", 10)}),
        (C, {("src/main.c", 21)}),
        (RUBY, {("lib/app.rb", 7), ("lib/app.rb", 12)}),
        ("src/main.c:3:5: error: expected ';' before 'return'\n", {("src/main.c", 3)}),
        ("nothing of the project\n", set()),
    ],
)
def test_the_frames_of_each_language_are_found(output: str, places: set[tuple[str, int]]) -> None:
    failure = read_failure("run", 1, output, RESOLVE)
    assert {(each.path, each.line) for each in failure.places} == places


def test_the_exception_comes_with_its_own_line_first() -> None:
    failure = read_failure("python src/app.py", 1, PYTHON, RESOLVE)
    assert failure.places[0] == Finding("src/app.py", 12, "ZeroDivisionError: division by zero")
    assert failure.mentions == ("@src/app.py:8-16", "@src/app.py:26-34")


def test_places_that_overlap_are_one_mention_and_a_path_with_a_space_is_quoted() -> None:
    places = (Finding("a b.py", 2, "x"), Finding("a b.py", 9, "y"), Finding("src/app.py", 1, "z"))
    failure = Failure("run", 1, places, "out")
    assert failure.mentions == ('@"a b.py":1-13', "@src/app.py:1-5")


def test_the_prompt_says_what_failed_and_how() -> None:
    prompt = read_failure("python src/app.py", 1, PYTHON, RESOLVE).prompt()
    assert "python src/app.py" in prompt and "exit 1" in prompt and "division by zero" in prompt
    assert "@src/app.py:8-16" in prompt
    assert "signal 11" in read_failure("x", 139, "", RESOLVE).prompt()


def test_a_long_output_is_cut_to_what_matters_and_to_the_end() -> None:
    lines = [f"line {number}" for number in range(10_000)]
    lines[4_000] = "E   AssertionError: the reason"
    cut = excerpt("\n".join(lines))
    assert "the reason" in cut and "line 9999" in cut and "line 5" not in cut.splitlines()
    assert len(cut.splitlines()) < MOST_LINES and "… 3999 lines" in cut


def test_keys_and_control_sequences_do_not_reach_the_model() -> None:
    shown = read_failure("x", 1, "\x1b[31merror\x1b[0m sk-ant-api03-" + "a1B2" * 24 + "AA\n", RESOLVE).excerpt
    assert "\x1b" not in shown and "a1B2a1B2" not in shown and "error" in shown


@settings(deadline=None, max_examples=share(200, 15), suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=400), st.integers(1, 255))
def test_any_output_can_be_read(output: str, code: int) -> None:
    failure = read_failure("x", code, output, RESOLVE)
    assert all(re.fullmatch(r"@.+:\d+-\d+", each) for each in failure.mentions)
    assert len(failure.excerpt.splitlines()) <= 4 * MOST_LINES


@pytest.mark.parametrize("digits", [9, 30, 1_900])
def test_a_line_that_no_file_has_is_no_place(digits: int) -> None:
    number = "9" * digits
    output = f'  File "src/app.py", line {number}, in f\nsrc/app.py:{number}:1: error: boom\n'
    failure = read_failure("x", 1, output, RESOLVE)
    assert not failure.places and not failure.mentions


SLOW = """
from session.checks.output import read_failure
read_failure("x", 1, (" " * 1_999 + "x" + chr(10)) * 400, str)
"""


def test_lines_that_are_made_to_be_matched_for_minutes_are_not() -> None:
    # In a process, since nothing else runs while a pattern is matched.
    root = CHECKOUT
    subprocess.run([sys.executable, "-c", SLOW], cwd=root, timeout=20, check=True)
