"""What a person gets by ``pip install``: flat packages that clash with nothing, and every data file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.checkout import ROOT

PACKAGES = ("edits", "context", "session", "tui", "themes")


def dependency_tree(name: str) -> set[str]:
    """Every distribution that installing ``name`` brings along, for this interpreter."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for text in distribution(waiting.pop()).requires or []:
            requirement = Requirement(text)
            key = re.sub(r"[-_.]+", "-", requirement.name).lower()
            if key in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
                continue
            found.add(key)
            waiting.append(requirement.name)
    return found


def test_no_dependency_ships_a_package_of_our_names() -> None:
    try:
        ours = dependency_tree("spark")
    except PackageNotFoundError:
        pytest.skip("spark itself is not installed here; python3 -m pip install '.[dev]' first")
    assert {"textual", "websockets", "watchdog", "tree-sitter", "tiktoken"} <= ours
    owners = packages_distributions()
    for package in (*PACKAGES, "tests"):
        clashing = {re.sub(r"[-_.]+", "-", owner).lower() for owner in owners.get(package, [])} & ours
        assert not clashing, f"{package} is also shipped by {clashing}"


TOP_LEVEL = {".ci", ".gitignore", "AGENTS.md", "CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md"} | {
    "docs",
    "pyproject.toml",
    "tests",
    *PACKAGES,
}


def test_nothing_strays_into_the_top_level() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode:
        pytest.skip("not a git checkout, so what is tracked cannot be told")
    tops = {name.split("/")[0] for name in os.fsdecode(listed.stdout).split("\0") if name}
    assert tops == TOP_LEVEL


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a clean copy of what git tracks, so that no stray file can help it."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout, so what belongs in the wheel cannot be told")
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--quiet",
        "--wheel-dir",
        str(out),
        str(source),
    ]
    subprocess.run(build, check=True, capture_output=True, text=True)
    (built,) = out.glob("spark-*.whl")
    return built


@pytest.mark.long
def test_the_wheel_holds_every_data_file_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {name.split("/")[0] for name in names} == set(PACKAGES)
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z", *PACKAGES],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    tracked = {name for name in os.fsdecode(listed.stdout).split("\0") if name and (ROOT / name).is_file()}
    assert names == tracked


@pytest.mark.long
def test_the_wheel_works_away_from_the_checkout(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True, text=True)
    state = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}
    environment = {**os.environ, "PYTHONPATH": str(target), **state}
    run = subprocess.run(
        [str(target / "bin" / "spark"), "context", "--json", "-C", str(tmp_path), "hello"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert '"kind": "instructions"' in run.stdout or '"kind":"instructions"' in run.stdout
