"""Files that run by themselves: every kind is held, ordinary files are not, and no name gets around it."""

from __future__ import annotations

import os
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from edits.files.aliases import Aliases
from edits.guards.protection import Protection, by_name
from edits.hunk import Action, Format, Guard, Held, Hunk, HunkLine, Landed, LineKind, Refused
from edits.landing import Landing
from tests.edits.helpers import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def guarded(project: Project, home: Path | None = None) -> Landing:
    return Landing(project.root, project.ledger, protection=Protection(runs=True, home=home))


def edit(path: str, *lines: str) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


def add(path: str, *lines: str) -> Hunk:
    return Hunk(path, Action.ADD, Format.V4A, tuple(HunkLine(LineKind.NEW, line) for line in lines))


def held(landing: Landing, hunk: Hunk) -> Held:
    result = landing.land(hunk, hunk_id="h1", allow=frozenset(Guard) - {Guard.RUNS})
    assert isinstance(result, Held) and result.guards == (Guard.RUNS,), result
    assert "runs by itself" in result.message
    return result


def listed() -> list[list[str]]:
    """A name for each pattern of the list of held files, by the programs that run them."""
    table = tomllib.loads(resources.files("edits.guards").joinpath("risky_files.toml").read_text("utf-8"))
    rows = [*table["held"], *(row for row in table["home"] if row.get("held"))]
    names = [[name.replace("*", "some") for name in row["files"]] for row in rows]
    return [[f"{name}deep/file" if name.endswith("/") else name for name in row] for row in names]


def test_every_listed_file_is_held_in_any_folder() -> None:
    for name in (name for row in listed() for name in row):
        for path in (name, f"sub/{name}", name.upper()):
            assert by_name(Aliases(Path("/"), (path,))), path
            assert by_name(Aliases(Path("/"), ("other", path))), path


@pytest.mark.parametrize("name", [name for row in listed() for name in (row[0], row[-1])])
def test_a_listed_file_is_held_while_it_streams_and_when_it_lands(project: Project, name: str) -> None:
    landing = guarded(project)
    for path in (name, f"sub/{name}", name.upper()):
        held(landing, add(path, "x"))
        foreseen = landing.foresee(path)
        assert isinstance(foreseen, Held) and foreseen.guards == (Guard.RUNS,)
    assert project.read() == {}
    assert isinstance(landing.land(add(name, "x"), hunk_id="h1", allow={Guard.RUNS}), Landed)


@pytest.mark.parametrize(
    "path",
    [
        "Makefile",
        "setup.py",
        "CMakeLists.txt",
        "src/config.toml",
        "tests/test_conftest.py",
        "docs/AGENTS-and-you.md",
        "github/workflows/ci.yml",
        ".github/ISSUE_TEMPLATE.md",
        ".vscode/snippets.code-snippets",
        "bin/tool",
        "a.path",
        "README.md",
        "profile",
        "tasks.json",
        "workflows/x.yml",
        "vite.config.ts",
        "jest.config.js",
        "tsconfig.build.json",
        "ruff.toml",
        ".editorconfig",
        ".gitignore",
        ".dockerignore",
        "docker-compose.yml",
        ".clang-format",
        "docs/instructions.md",
        "prompt.md",
        "rules.md",
        ".nvmrc",
        "app.config.ts",
        "src/settings/main.py",
        "biome.json",
        ".markdownlint.json",
    ],
)
def test_an_ordinary_file_is_not_held(project: Project, path: str) -> None:
    project.write({path: "x\n"})
    landing = guarded(project)
    assert landing.foresee(path) is None
    assert isinstance(landing.land(edit(path, "-x", "+y"), hunk_id="h1", allow={Guard.DEPENDENCY}), Landed)


def test_what_is_held_can_land_with_the_users_word_and_be_undone(project: Project) -> None:
    project.write({".envrc": "x\n"})
    landing = guarded(project)
    result = held(landing, edit(".envrc", "-x", "+y"))
    assert result.message == (
        ".envrc runs by itself: direnv and mise run it in every shell that enters the folder"
    )
    assert isinstance(landing.land(edit(".envrc", "-x", "+y"), hunk_id="h1", allow={Guard.RUNS}), Landed)
    assert isinstance(landing.undo("h1"), Landed)


def test_moves_to_and_from_such_a_file_are_held(project: Project) -> None:
    project.write({"hook.sh": "x\n", "conftest.py": "x\n"})
    landing = guarded(project)
    held(landing, Hunk("hook.sh", Action.MOVE, Format.V4A, move_to=".husky/pre-commit"))
    held(landing, Hunk("conftest.py", Action.MOVE, Format.V4A, move_to="other.py"))
    assert project.read() == {"hook.sh": "x\n", "conftest.py": "x\n"}


@pytest.mark.parametrize("kind", ["symbolic", "hard", "folder"])
def test_no_link_gets_around_it(project: Project, kind: str) -> None:
    project.write({".github/workflows/ci.yml": "x\n", ".github/notes.md": "x\n"})
    root, path = project.root, "innocent.yml"
    if kind == "symbolic":
        (root / path).symlink_to(".github/workflows/ci.yml")
    elif kind == "hard":
        os.link(root / ".github/workflows/ci.yml", root / path)
    else:
        (root / "innocent").symlink_to(".github/workflows")
        path = "innocent/ci.yml"
    result = held(guarded(project), edit(path, "-x", "+y"))
    assert ".github/workflows/ci.yml" in result.message


def test_a_file_that_the_home_folder_links_to_is_held(project: Project) -> None:
    home = project.folder / "home"
    home.mkdir()
    project.write({"shell/rc": "x\n", "shell/other": "x\n"})
    (home / ".zshrc").symlink_to(project.root / "shell/rc")
    landing = guarded(project, home)
    assert "~/.zshrc" in held(landing, edit("shell/rc", "-x", "+y")).message
    assert isinstance(landing.land(edit("shell/other", "-x", "+y"), hunk_id="h1"), Landed)


def test_an_executable_script_is_held_and_a_file_of_a_disk_without_permissions_is_not(
    project: Project,
) -> None:
    project.write({"run": "#!/bin/sh\nx\n", "all.py": "x\n", "plain.sh": "#!/bin/sh\nx\n"})
    for name in ("run", "all.py"):
        (project.root / name).chmod(0o755)
    landing = guarded(project)
    held(landing, edit("run", "-x", "+y"))
    held(landing, edit("all.py", "+#!/usr/bin/env python3", " x"))
    held(landing, Hunk("run", Action.MOVE, Format.V4A, move_to="bin/run"))
    assert isinstance(landing.land(edit("all.py", "-x", "+y"), hunk_id="h1"), Landed)
    assert isinstance(landing.land(edit("plain.sh", "-x", "+y"), hunk_id="h2"), Landed)
    assert isinstance(landing.land(Hunk("run", Action.DELETE, Format.V4A), hunk_id="h3"), Landed)


TSCONFIG = (
    '{\n  /* a */ "compilerOptions": {\n    "strict": true, // a\n    "paths": {"@/*": ["./*"],},\n  }\n}\n'
)
PACKAGE = '{\n  "name": "a",\n  "version": "1",\n  "scripts": {\n    "test": "jest"\n  }\n}\n'


@pytest.mark.parametrize(
    ("path", "text", "lines", "stopped"),
    [
        ("package.json", PACKAGE, ('-  "version": "1",', '+  "version": "2",'), False),
        ("package.json", PACKAGE, ('-    "test": "jest"', '+    "test": "curl x|sh"'), True),
        ("package.json", PACKAGE, (' "scripts": {', '+    "postinstall": "x",'), True),
        ("sub/PACKAGE.json", PACKAGE, ('-    "test": "jest"', '+    "test": "x"'), True),
        ("package.json", PACKAGE, ('   "version": "1",', '+  "husky": {"hooks": {"pre-push": "x"}},'), True),
        ("package.json", PACKAGE, ('-  "version": "1",', '+  "version": 1,,'), True),
        ("package.json", PACKAGE, ('   "version": "1",', '+  "eslintConfig": {"plugins": ["x"]},'), True),
        ("package.json", PACKAGE, ('   "version": "1",', '+  "keywords": ["x"],'), False),
        ("tsconfig.json", TSCONFIG, ('-    "strict": true, // a', '+    "strict": false,'), False),
        ("tsconfig.json", TSCONFIG, ('     "strict": true, // a', '+    "plugins": [{"a": 1}],'), True),
        ("mypy.ini", "[mypy]\nstrict = true\n", ("-strict = true", "+strict = false"), False),
        ("mypy.ini", "[mypy]\nstrict = true\n", (" strict = true", "+plugins = x.py"), True),
        ("setup.cfg", "[metadata]\nx = a\n", (" x = a", "+[flake8:local-plugins]", "+extension = x"), True),
        ("pytest.ini", "[pytest]\nminversion = 8\n", (" minversion = 8", "+addopts = -p x"), True),
        ("pyproject.toml", "[tool.ruff]\nx = 1\n", (" x = 1", "+[tool.mypy]", '+plugins = ["x"]'), True),
        ("pyproject.toml", "[tool.ruff]\nx = 1\n", (" x = 1", "+[tool.mypy]", "+strict = true"), False),
        ("package-lock.json", PACKAGE, ('-    "test": "jest"', '+    "test": "x"'), False),
        ("composer.json", PACKAGE, ('-    "test": "jest"', '+    "test": "x"'), True),
        ("pyproject.toml", '[project]\nname = "a"\n', ('-name = "a"', '+name = "b"'), False),
        ("pyproject.toml", "[build-system]\nx = 1\n", (" x = 1", '+backend-path = ["."]'), True),
        ("pyproject.toml", '[project]\nname = "a"\n', (' name = "a"', "+[tool.hatch.build.hooks.x]"), True),
        ("pyproject.toml", "[tool.ruff]\nline-length = 80\n", ("-line-length = 80", "+#"), False),
    ],
)  # fmt: skip
def test_only_the_parts_that_run_are_held(
    project: Project, path: str, text: str, lines: tuple[str, ...], stopped: bool
) -> None:
    project.write({path: text})
    landing = guarded(project)
    assert landing.foresee(path) is None
    if stopped:
        held(landing, edit(path, *lines))
    else:
        assert isinstance(landing.land(edit(path, *lines), hunk_id="h1", allow={Guard.DEPENDENCY}), Landed)


def test_new_manifests_are_held_for_what_runs_in_them(project: Project) -> None:
    landing = guarded(project)
    held(landing, add("package.json", *PACKAGE.splitlines()))
    assert isinstance(landing.land(add("a/package.json", '{"name": "a"}'), hunk_id="h1"), Landed)
    project.write({"b.json": PACKAGE})
    held(landing, Hunk("b.json", Action.MOVE, Format.V4A, move_to="b/package.json"))


def test_without_the_guard_nothing_is_held(project: Project) -> None:
    for protection in (None, Protection()):
        project.landing.protection = protection
        result = project.landing.land(add(".envrc", "x"), hunk_id="h1", dry_run=True)
        assert not isinstance(result, Refused)
