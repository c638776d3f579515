"""The tools themselves: on real files, with real search programs, and without them."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from context.disk.programs import find_program
from context.project.project import Project
from session.base.text.tables import TableError
from session.setup.session_tools import project_tools
from session.tools.look import ListTool, OutlineTool, ReadTool
from session.tools.search import SearchTool
from session.tools.settings import Running, ToolSettings, read_tool_settings
from session.tools.tool import CallContext, Tool, ToolResult, ToolSpec
from session.tools.toolbox import BadArguments, Toolbox, UnknownTool, read_arguments

PLENTY = CallContext(8_000, lambda text: len(text) // 4)
APP = '''"""An app."""

KEY = "sk-ant-api03-%s"


class App:
    def start(self) -> None:
        print("starting")

    def stop(self) -> None:
        print("stopping")
''' % ("a" * 95)


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src" / "deep" / "er").mkdir(parents=True)
    (folder / "src" / "app.py").write_text(APP)
    (folder / "src" / "deep" / "er" / "notes.txt").write_text("start here\r\nSTART again\r\nthe end\r\n")
    (folder / "empty.txt").write_text("")
    (folder / "build").mkdir()
    (folder / "build" / "out.py").write_text("start = 1\n")
    (folder / ".gitignore").write_text("build/\n")
    (folder / ".env").write_text("start=secret\n")
    (folder / "image.png").write_bytes(b"\x89PNG\0start")
    git(folder, "init", "-q")
    return folder


def scanned(root: Path) -> Project:
    project = Project(root)
    project.scan()
    return project


async def call(tool: Tool, around: CallContext = PLENTY, **arguments: Any) -> ToolResult:
    return await tool.call(arguments, around)


async def test_read_gives_the_lines_as_they_are_and_says_what_is_left(root: Path) -> None:
    tool = ReadTool(scanned(root))
    whole = await call(tool, path="src/app.py")
    assert "class App:\n    def start(self)" in whole.text and whole.readings[0].whole
    assert "sk-ant" not in whole.text and "masked" in whole.text and "masked" in whole.summary
    part = await call(tool, path="./src/app.py", first_line=6, last_line=7)
    assert part.text == (
        "## File: src/app.py (lines 6-7 of 11)\n\n```python\nclass App:\n    def start(self) -> None:\n```\n"
    )
    assert not part.readings[0].whole
    little = await call(tool, CallContext(85, len), path="src/app.py")
    assert "more lines: ask for them with first_line" in little.text and not little.readings[0].whole
    assert (await call(tool, path="empty.txt")).text == "empty.txt is empty."
    assert (await call(tool, path="src/app.py", first_line=12)).text == "src/app.py has only 11 lines."
    assert "before first_line" in (await call(tool, path="src/app.py", first_line=5, last_line=2)).text


async def test_read_sees_a_file_that_was_made_this_moment(root: Path) -> None:
    tool = ReadTool(scanned(root))
    (root / "src" / "new.py").write_text("fresh = True\n")
    assert "fresh = True" in (await call(tool, path="src/new.py")).text


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("build/out.py", "ignored"),
        (".env", "secret"),
        (".git/config", "ignored"),
        ("image.png", "binary"),
        ("src", "a folder"),
        ("link", "leads outside"),
        ("folder/x", "leads outside"),
        ("nothing.py", "There is no file"),
        ("\ud800", "no path"),
    ],
)
async def test_read_refuses_secret_ignored_and_outside_files(
    root: Path, tmp_path: Path, path: str, why: str
) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_text("secret\n")
    (root / "link").symlink_to(tmp_path / "outside" / "x")
    (root / "folder").symlink_to(tmp_path / "outside")
    result = await call(ReadTool(scanned(root)), path=path)
    assert not result.ok and why in result.text and "secret\n" not in result.text


async def test_read_follows_a_link_inside_the_project(root: Path) -> None:
    (root / "way").symlink_to("src/app.py")
    assert (await call(ReadTool(scanned(root)), path="way")).text.startswith("## File: src/app.py")


def only(*names: str) -> Callable[[Path], str]:
    """A search path with nothing but these programs on it."""

    def make(folder: Path) -> str:
        folder.mkdir()
        for name in names:
            (folder / name).symlink_to(str(shutil.which(name)))
        return str(folder)

    return make


ENGINES = {"ripgrep": only("rg", "git"), "git": only("git"), "neither": only()}
SEARCHED_BY = [
    pytest.param(
        "ripgrep",
        marks=pytest.mark.skipif(
            shutil.which("rg") is None, reason="no ripgrep here: install the package ripgrep to test with it"
        ),
    ),
    "git",
    "neither",
]


@pytest.mark.parametrize("engine", SEARCHED_BY)
@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (
            {"pattern": "start"},
            "3 matches in 2 files\n```\nsrc/app.py\n7:     def start(self) -> None:\n"
            '8:         print("starting")\nsrc/deep/er/notes.txt\n1: start here\n',
        ),
        ({"pattern": "^START", "ignore_case": True, "path": "*.txt"}, "1: start here\n2: START again\n"),
        ({"pattern": "def st(art|op)", "path": "src/"}, "2 matches in 1 file"),
        ({"pattern": "print(", "literal": True}, "2 matches in 1 file"),
        ({"pattern": "start", "path": "src/deep/er/notes.txt"}, "1 match in 1 file"),
        ({"pattern": "-e"}, "0 matches in 0 files"),
        ({"pattern": "nowhere at all"}, "0 matches in 0 files"),
    ],
)
async def test_search_answers_the_same_whoever_searches(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    engine: str,
    arguments: dict[str, Any],
    answer: str,
) -> None:
    project = scanned(root)
    monkeypatch.setenv("PATH", ENGINES[engine](tmp_path / "bin"))
    assert (find_program("rg", root) is not None) is (engine == "ripgrep")
    result = await call(SearchTool(project), **arguments)
    assert result.ok and answer in result.text
    assert "build/" not in result.text and ".env" not in result.text and "image" not in result.text


@pytest.mark.parametrize("engine", SEARCHED_BY)
async def test_search_says_what_is_wrong_with_a_pattern(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    project = scanned(root)
    monkeypatch.setenv("PATH", ENGINES[engine](tmp_path / "bin"))
    result = await call(SearchTool(project), pattern="(")
    assert not result.ok and "cannot be searched" in result.text


async def test_a_search_that_its_engine_gave_up_is_marked_incomplete(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a.txt").write_text("aaa\n")
    (root / "b.txt").write_text("a" * 200 + "!\n")
    project = scanned(root)
    monkeypatch.setenv("PATH", ENGINES["git"](tmp_path / "bin"))
    result = await call(SearchTool(project), pattern="^(a|aa)+$", path="*.txt")
    assert "1: aaa" in result.text and "given up before the end" in result.summary


async def test_search_masks_secrets_and_bounds_what_it_shows(root: Path) -> None:
    (root / "many.txt").write_text("needle " + "x" * 1000 + "\n" + "needle\n" * 5000)
    tool = SearchTool(scanned(root))
    assert "sk-ant" not in (await call(tool, pattern="KEY")).text
    result = await call(tool, pattern="needle")
    assert result.summary == "5,001 matches in 1 file"
    assert len(result.text) < 5_000 and "more matches here" in result.text and "not all of" in result.text


async def test_a_program_in_the_project_is_never_taken_for_a_search_program(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("rg", "git"):
        (root / name).write_text("#!/bin/sh\ntouch ran\n")
        (root / name).chmod(0o755)
    project = scanned(root)
    monkeypatch.setenv("PATH", os.pathsep.join([str(root), ".", os.environ["PATH"]]))
    monkeypatch.chdir(root)
    assert (await call(SearchTool(project), pattern="start")).ok
    assert not (root / "ran").exists()


async def test_a_search_that_takes_for_ever_can_be_stopped(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "evil.txt").write_text("a" * 40 + "\n")
    project = scanned(root)
    monkeypatch.setenv("PATH", ENGINES["neither"](tmp_path / "bin"))
    task = asyncio.create_task(call(SearchTool(project), pattern="(a+)+$b"))
    searching: set[str] = set()
    while not searching:
        searching = children()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() == set()


def children() -> set[str]:
    """The plain searches that this process has started and that still run."""
    listed = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = {pid for file in listed for pid in file.read_text().split()}
    return {pid for pid in pids if b"plain_search" in Path(f"/proc/{pid}/cmdline").read_bytes()}


async def test_list_folds_what_lies_deeper(root: Path) -> None:
    tool = ListTool(scanned(root))
    assert (await call(tool)).text == (
        ".: 6 files\n```\n.env (a secret file: never shown to the model)\n.gitignore\nempty.txt\n"
        "image.png (a binary file)\nsrc/app.py\nsrc/deep/ (1 file)\n```\n"
    )
    assert "src/deep/er/notes.txt" in (await call(tool, path="src", depth=3)).text
    assert (await call(tool, path="build")).text == "There are no files of this project in build."
    assert not (await call(tool, path="src/app.py")).ok and not (await call(tool, path="..")).ok


async def test_outline_gives_definitions_with_their_lines(root: Path) -> None:
    tool = OutlineTool(scanned(root))
    text = (await call(tool, path="src/app.py")).text
    assert "    6  class App\n" in text and "    7    def start(self) -> None\n" in text
    assert "sk-ant" not in text
    folder = (await call(tool, path="src")).text
    assert "src/app.py:" in folder and "class App" in folder
    assert not (await call(tool, path="build")).ok


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": None},
        {"properties": "a", "additionalProperties": False},
        {"required": True},
        {"required": [1, [], "a"]},
        {"properties": {"a": {"required": True, "properties": "b", "items": [1], "enum": 1}}},
        {"properties": {"a": {"items": {"required": 1, "minimum": "x"}}}},
    ],
)
@pytest.mark.parametrize("given", ['{"a": {"b": 1}}', '{"a": [{"b": 1}]}', '{"a": 1}', "{}"])
def test_a_malformed_schema_does_not_break_a_call(schema: dict[str, Any], given: str) -> None:
    try:
        assert isinstance(read_arguments(given, schema), dict)
    except BadArguments as problem:
        assert "a" in str(problem)


async def test_a_glob_with_many_stars_comes_to_an_end(root: Path) -> None:
    (root / ("a" * 120)).write_text("start\n")
    result = await call(SearchTool(scanned(root)), pattern="start", path="*a" * 40 + "b")
    assert not result.ok and "There are no files of this project in" in result.text


def test_arguments_are_checked_by_the_schema() -> None:
    schema = {
        "type": "object",
        "properties": {
            "kind": {"enum": ["a", "b"]},
            "n": {"type": "integer", "maximum": 3},
            "l": {"items": {"type": "string"}},
        },
        "required": ["kind"],
    }
    assert read_arguments('{"kind": "a", "n": null, "more": 1}', schema) == {"kind": "a", "more": 1}
    assert read_arguments(json.dumps('{"kind": "a"}'), schema) == {"kind": "a"}, "encoded twice"
    for text, why in [
        ('{"kind": "c"}', 'one of "a", "b"'),
        ('{"kind": "a", "n": true}', "a whole number"),
        ('{"kind": "a", "n": 4}', "at most 3"),
        ('{"kind": "a", "l": [1]}', "each of l must be a string"),
        ("[" * 100_000, "too deep"),
        ("", "kind is missing"),
        (" ", "kind is missing"),
        ('"a"', "a JSON object"),
        ('"{"', "not valid JSON"),
    ]:
        with pytest.raises(BadArguments, match=why):
            read_arguments(text, schema)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"run": "maybe"}, "must be"),
        ({"read": 1}, "must be"),
        ({"write": True}, "has no key 'write'"),
        ({"environment": "HOME"}, "must be a list of strings"),
        ({"environment": ["A B"]}, "'A B' is not the name of a variable"),
        ([], "a table"),
    ],
)
def test_settings_that_cannot_be_used_are_named(table: object, why: str) -> None:
    with pytest.raises(TableError, match=why):
        read_tool_settings(table)
    assert read_tool_settings({"run": "never", "read": False}) == ToolSettings(False, Running.NEVER)


class Echo:
    """A tool of another provider's."""

    spec = ToolSpec("echo", "Says it again.", {"type": "object", "properties": {"text": {"type": "string"}}})

    def label(self, arguments: Mapping[str, Any]) -> str:
        return "echo"

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        return ""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        return ToolResult(arguments["text"])


class Echoes:
    async def tools(self) -> list[Tool]:
        return [Echo()]


async def test_another_provider_can_bring_tools_of_its_own(root: Path) -> None:
    own = project_tools(scanned(root), read=True)
    toolbox = Toolbox(own)
    toolbox.add(Echoes())
    assert toolbox.names == ("read", "search", "list", "outline")
    await toolbox.refresh()
    assert "echo" in toolbox.names and toolbox.definitions()[-1]["name"] == "echo"
    tool = toolbox.find("echo")
    assert (await tool.call(toolbox.arguments(tool, '{"text": "hi"}'), PLENTY)).text == "hi"
    with pytest.raises(UnknownTool, match="there are read, search, list, outline, echo"):
        toolbox.find("Echo")
