"""Reading what tools print. The texts are their own output in a small project, shortened; those of go, which
few machines have, follow its documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.checks.output import MOST_FINDINGS, ProjectPaths, find

ROOT = Path("/home/me/project")
FILES = [
    "app.py",
    "web/app.js",
    "src/main.rs",
    "src/A.java",
    "a.ts",
    "a.c",
    "tests/test_app.py",
    "pkg/add_test.go",
]


def found(output: str) -> list[str]:
    return [str(finding) for finding in find(output, ProjectPaths(ROOT, [], FILES).resolve)]


PYTEST = """\
F                                                                        [100%]
=================================== FAILURES ===================================
_________________________________ test_greets __________________________________

    def test_greets():
>       assert greet("you") == "Hello you"
E       AssertionError: assert 'Hi you' == 'Hello you'
E         - Hello you
E         + Hi you

tests/test_app.py:5: AssertionError
=========================== short test summary info ============================
FAILED tests/test_app.py::test_greets - AssertionError: assert 'Hi you' == 'H...
1 failed in 0.02s
"""
PYTEST_COLLECTION = """\
==================================== ERRORS ====================================
______________________ ERROR collecting tests/test_app.py ______________________
ImportError while importing test module '/home/me/project/tests/test_app.py'.
Traceback:
/usr/lib/python3.11/importlib/__init__.py:126: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_app.py:1: in <module>
    from app import missing
E   ImportError: cannot import name 'missing' from 'app' (/home/me/project/app.py)
=========================== short test summary info ============================
ERROR tests/test_app.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
"""
PYTEST_LINE = """\
=========================== short test summary info ============================
FAILED tests/test_app.py::test_greets - AssertionError: assert 'Hi you' == 'Hello you'
"""
TRACEBACK = """\
Traceback (most recent call last):
  File "/home/me/project/app.py", line 7, in <module>
    main()
  File "/home/me/project/app.py", line 4, in main
    json.loads("{")
  File "/usr/lib/python3.11/json/decoder.py", line 353, in raw_decode
    obj, end = self.scan_once(s, idx)
json.decoder.JSONDecodeError: Expecting property name: line 1 column 2 (char 1)
"""
RUFF = """\
F401 [*] `os` imported but unused
 --> app.py:1:8
  |
1 | import os
  |        ^^
  |
help: Remove unused import: `os`

Found 1 error.
"""
CARGO = """\
error[E0308]: mismatched types
 --> src/main.rs:1:26
  |
1 | fn main() { let x: i32 = "a"; y(); }
  |                    ---   ^^^ expected `i32`, found `&str`

error: could not compile `demo` (bin "demo") due to 1 previous error
"""
CARGO_TEST = """\
---- adds stdout ----

thread 'adds' (5655) panicked at src/main.rs:3:21:
assertion `left == right` failed: sum
  left: -1
 right: 3
"""
ESLINT = """\

/home/me/project/web/app.js
  1:7   error  'unused' is assigned a value but never used  no-unused-vars
  2:23  error  'undefinedName' is not defined               no-undef

✖ 2 problems (2 errors, 0 warnings)
"""
TSC_PRETTY = (
    "\x1b[96ma.ts\x1b[0m:\x1b[93m1\x1b[0m:\x1b[93m7\x1b[0m - \x1b[91merror\x1b[0m\x1b[90m TS2322: \x1b[0m"
    "Type 'string' is not assignable to type 'number'.\n\n\x1b[7m1\x1b[0m const x: number = 'one';\n"
)
NODE = """\
/home/me/project/web/app.js:2
function f() { return undefinedName; }
               ^

ReferenceError: undefinedName is not defined
    at f (/home/me/project/web/app.js:2:16)
    at Module._compile (node:internal/modules/cjs/loader:1521:14)
"""
MOCHA = """\
  27 passing (377ms)
  1 failing

  1) utils.normalizeType acceptParams method
       should handle a type with a malformed parameter and break the loop in acceptParams:

      AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:

{
  params: {},
}
      + expected - actual

      at deepEqual (node_modules/assert/index.js:3:4)
      at Context.<anonymous> (web/app.js:32:12)
      at process.processImmediate (node:internal/timers:483:21)
"""
JEST = """\
  ● adds › two numbers

    expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

      at Object.<anonymous> (web/app.js:4:21)
      at again (web/app.js:9:1)
"""
GO_TEST = """\
--- FAIL: TestAdd (0.00s)
    add_test.go:6: got 3, want 4
FAIL
FAIL\texample.com/demo/pkg\t0.002s
"""
GCC = """\
a.c: In function ‘main’:
a.c:1:20: error: ‘x’ undeclared (first use in this function)
    1 | int main(){ return x; }
a.c:1:20: note: each undeclared identifier is reported only once for each function it appears in
"""


@pytest.mark.parametrize(
    ("output", "findings"),
    [
        pytest.param(
            PYTEST, ["tests/test_app.py:5: AssertionError: assert 'Hi you' == 'Hello you'"], id="pytest"
        ),
        pytest.param(
            PYTEST_COLLECTION,
            [
                "tests/test_app.py:1: ImportError: cannot import name 'missing' from 'app' "
                "(/home/me/project/app.py)"
            ],
            id="pytest that cannot collect",
        ),
        pytest.param(
            PYTEST_LINE,
            ["tests/test_app.py: test_greets: AssertionError: assert 'Hi you' == 'Hello you'"],
            id="pytest --tb=no",
        ),
        pytest.param(
            TRACEBACK,
            ["app.py:4: json.decoder.JSONDecodeError: Expecting property name: line 1 column 2 (char 1)"],
            id="a Python traceback",
        ),
        pytest.param(RUFF, ["app.py:1: F401 `os` imported but unused"], id="ruff"),
        pytest.param("app.py:1:8: F401 `os` imported\n", ["app.py:1: F401 `os` imported"], id="ruff concise"),
        pytest.param(
            'app.py:3: error: Name "x" is not defined  [name-defined]\napp.py:3: note: See the docs\n',
            ['app.py:3: Name "x" is not defined [name-defined]'],
            id="mypy",
        ),
        pytest.param(CARGO, ["src/main.rs:1: E0308 mismatched types"], id="cargo"),
        pytest.param(CARGO_TEST, ["src/main.rs:3: assertion `left == right` failed: sum"], id="cargo test"),
        pytest.param(
            ESLINT,
            [
                "web/app.js:1: 'unused' is assigned a value but never used no-unused-vars",
                "web/app.js:2: 'undefinedName' is not defined no-undef",
            ],
            id="eslint",
        ),
        pytest.param(
            "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            ["a.ts:1: TS2322: Type 'string' is not assignable to type 'number'."],
            id="tsc",
        ),
        pytest.param(
            TSC_PRETTY,
            ["a.ts:1: TS2322: Type 'string' is not assignable to type 'number'."],
            id="tsc --pretty",
        ),
        pytest.param(NODE, ["web/app.js:2: ReferenceError: undefinedName is not defined"], id="node"),
        pytest.param(
            MOCHA,
            ["web/app.js:32: AssertionError [ERR_ASSERTION]: Expected values to be loosely deep-equal:"],
            id="mocha",
        ),
        pytest.param(
            JEST, ["web/app.js:4: expect(received).toBe(expected) // Object.is equality"], id="jest"
        ),
        pytest.param(GO_TEST, ["pkg/add_test.go:6: got 3, want 4"], id="go test"),
        pytest.param("./app.py:3:2: undefined: x\n", ["app.py:3: undefined: x"], id="go build"),
        pytest.param(GCC, ["a.c:1: ‘x’ undeclared (first use in this function)"], id="gcc"),
        pytest.param(
            "src/A.java:1: error: incompatible types: String cannot be converted to int\n",
            ["src/A.java:1: incompatible types: String cannot be converted to int"],
            id="javac",
        ),
        pytest.param("make: *** [Makefile:3: test] Error 1\n12:30: done\n", [], id="no place at all"),
        pytest.param("/etc/passwd:1: root\n../app.py:1: x\n", [], id="files outside of the project"),
    ],
)
def test_the_places_in_a_tools_output_are_found(output: str, findings: list[str]) -> None:
    assert found(output) == findings


def test_a_place_is_told_once_and_not_without_end() -> None:
    assert found("app.py:1: wrong\n" * 3) == ["app.py:1: wrong"]
    assert len(found("".join(f"app.py:{line}: wrong\n" for line in range(1, 1_000)))) == MOST_FINDINGS


def test_control_characters_in_a_message_do_not_reach_the_screen() -> None:
    assert found("app.py:1: bad \x1b]52;c;aGk=\x07\x9b31m\x08\u202eend\n") == [
        "app.py:1: bad ␈\N{REPLACEMENT CHARACTER}end"
    ]


def test_a_very_long_line_is_read_quickly_and_cut() -> None:
    assert found("a" * 5_000_000) == []
    (finding,) = found("app.py:1: " + "wrong " * 100_000)
    assert len(finding) < 400


def test_a_bare_name_that_several_files_have_is_not_guessed() -> None:
    paths = ProjectPaths(ROOT, [], ["a/util.go", "b/util.go", "b/other.go"])
    assert paths.resolve("util.go") == ""
    assert paths.resolve("other.go") == "b/other.go"
    assert paths.resolve("b/util.go") == "b/util.go"
    assert paths.resolve("/home/me/project/a/util.go") == "a/util.go"
