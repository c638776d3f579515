"""Text reaches a terminal through ``tui/front/printing.py``, or drawn by the app: nothing else prints."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.checkout import ROOT
from tests.project.source import PACKAGES, code_with

CHOKE_POINT = "tui/front/printing.py"
OTHERS = {
    "context/index/worker.py": "a process of spark's own, whose answers are read from its pipe",
    "context/index/outline_process.py": "the same, for outlines",
    "session/models/engine/__main__.py": "a process of spark's own, which reads the port from its pipe",
    "session/models/rows/__main__.py": "a contributor's command, whose output is read by nobody else",
    "session/checks/shell_run.py": "the output of a command that the user runs, unchanged",
    "session/partner/__main__.py": "a process of spark's own, which reads the address from its pipe",
    "session/tools/plain_search.py": "a process of spark's own, whose matches are read from its pipe",
    "tui/cli/setup_commands.py": "a script of Click's own, which a shell runs as it is",
}
_PRINTING = {"print", "pprint", "echo", "secho", "echo_via_pager"}
_STREAMS = {"stdout", "stderr", "__stdout__", "__stderr__"}


def prints(tree: ast.AST) -> Iterator[int]:
    """The lines of calls that write on a standard stream."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id in _PRINTING:
            yield node.lineno
        if not isinstance(called, ast.Attribute):
            continue
        if called.attr in _PRINTING and isinstance(called.value, ast.Name):
            yield node.lineno
        over = called.value
        over = over.value if isinstance(over, ast.Attribute) and over.attr == "buffer" else over
        stream = isinstance(over, ast.Attribute) and over.attr in _STREAMS
        if stream and called.attr in ("write", "writelines"):
            yield node.lineno


def test_nothing_but_the_choke_point_prints() -> None:
    found = {}
    for package in PACKAGES:
        for name, code in code_with(package, _PRINTING | _STREAMS):
            if name != CHOKE_POINT and (lines := list(prints(code))):
                found[name] = lines
    strangers = {name: lines for name, lines in found.items() if not any(map(name.startswith, OTHERS))}
    assert strangers == {}, "print with tui.front.printing"


def test_the_list_of_others_is_not_longer_than_it_has_to_be() -> None:
    for name in OTHERS:
        path = ROOT / name
        files = [path] if path.is_file() else list(path.glob("*.py"))
        assert any(list(prints(ast.parse(file.read_text("utf-8")))) for file in files), name


def test_ways_of_printing_are_found() -> None:
    ways = [
        "print(1)",
        "click.echo(1)",
        "sys.stdout.write('a')",
        "sys.stderr.buffer.write(b'a')",
        "out.echo(1)",
    ]
    assert all(list(prints(ast.parse(way))) for way in ways)
    assert not list(prints(ast.parse("say(1); file.write('a'); sys.stdout.flush()")))
