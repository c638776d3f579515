"""Processes are started in few places, always by an argument list, and never by a shell's line.

Every file that starts one is listed here with what it starts and what that gets of the environment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.project.source import PACKAGES, code_with

PLACES = {
    "context/disk/git.py": "git, with an environment of allowed names",
    "context/index/outliner.py": "spark's own readers of files, without keys and folders of code",
    "session/checks/shell_run.py": "the command that the user runs live, as a shell would",
    "session/models/engine/process.py": "the embedded engine, with an environment without keys",
    "session/models/system_keyring.py": "the user's key command and the keyring, in the home folder",
    "session/tools/mcp/program.py": "MCP servers: an environment of allowed names, a folder of their own",
    "session/partner/demo.py": "git, in a sample project that was just made",
    "session/partner/server/server.py": "the partner",
    "session/checks/sandbox/bubblewrap.py": "bubblewrap, to try whether it works; it runs nothing",
    "session/checks/sandbox/fence.py": "becomes the command behind a fence",
    "session/checks/sandbox/namespaces.py": "becomes the command in a sandbox",
    "session/tools/command/process.py": "commands and checks, with an environment of allowed names",
    "session/tools/command/supervisor.py": "becomes the command that it watches",
    "tui/screen/clipboard.py": "tmux, to copy",
    "tui/screen/terminal/lending.py": "the user's editor",
    "session/base/programs.py": "what opens the browser, with the address to sign in at",
}
_STARTS = {
    *("Popen", "create_subprocess_exec", "create_subprocess_shell", "getoutput", "getstatusoutput"),
    *("check_call", "check_output", "system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"),
    *("execl", "execle", "execlp", "execlpe", "execv", "execve", "execvp", "execvpe", "startfile"),
    *("stdio_client", "open_process", "ProcessPoolExecutor", "spawnv", "spawnvp"),
}
_OF_MODULES = {("subprocess", "run"), ("subprocess", "call"), ("webbrowser", "open"), ("pty", "spawn")}
_SHELLS = {"create_subprocess_shell", "getoutput", "getstatusoutput", "system", "popen"}


def starts(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """The calls that start a process, each with whether a shell reads it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called, name, owner = node.func, "", ""
        if isinstance(called, ast.Attribute):
            name = called.attr
            owner = called.value.id if isinstance(called.value, ast.Name) else ""
        elif isinstance(called, ast.Name):
            name = called.id
        if name in _STARTS or (owner, name) in _OF_MODULES:
            yield name, name in _SHELLS or any(each.arg == "shell" for each in node.keywords)


def test_processes_are_started_in_few_places_and_by_argument_lists() -> None:
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for file, code in code_with(package, _STARTS | {module for module, _ in _OF_MODULES}):
            for name, shell in starts(code):
                assert not shell, f"{file}: {name} gives a line to a shell"
                found.setdefault(file, []).append(name)
    assert sorted(found) == sorted(PLACES), "say here what is started, and what it gets of the environment"


@pytest.mark.parametrize(
    ("line", "shell"),
    [
        ("subprocess.Popen(['a'])", False),
        ("subprocess.run('a', shell=True)", True),
        ("await asyncio.create_subprocess_shell('a')", True),
        ("os.system('a')", True),
        ("os.execvp(a, b)", False),
        ("mcp.stdio_client(a)", False),
    ],
)
def test_such_a_line_is_found(line: str, shell: bool) -> None:
    assert [each for _, each in starts(ast.parse(line))] == [shell]
