from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from session.base.storage.folders import (
    cache_folder,
    config_folder,
    private_folder,
    project_folders,
    state_folder,
)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_the_xdg_folders_are_taken_from_the_environment() -> None:
    environ = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "XDG_CACHE_HOME": "/k"}
    assert config_folder(environ) == Path("/c/spark")
    assert state_folder(environ) == Path("/s/spark")
    assert cache_folder(environ) == Path("/k/spark")


@pytest.mark.parametrize("value", ["", "relative/path", "./x"])
def test_an_empty_or_relative_xdg_variable_is_ignored(value: str, own_folders: Path) -> None:
    assert config_folder({"XDG_CONFIG_HOME": value}) == own_folders / ".config" / "spark"
    assert state_folder({"XDG_STATE_HOME": value}) == own_folders / ".local" / "state" / "spark"
    assert cache_folder({"XDG_CACHE_HOME": value}) == own_folders / ".cache" / "spark"


def test_projects_of_one_name_have_different_folders(tmp_path: Path) -> None:
    one, other = tmp_path / "a" / "app", tmp_path / "b" / "app"
    first, second = project_folders(one), project_folders(other)
    assert first != second
    assert first.state.name.startswith("app-")
    assert first.ledger.parent == first.sessions.parent == first.state


def test_a_project_reached_through_a_link_has_the_same_folders(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert project_folders(tmp_path / "link") == project_folders(real)


@pytest.mark.parametrize("name", [b"caf\xe9", b"a b/c\nd", b"x" * 200, b"..."])
def test_any_folder_name_gives_a_plain_state_folder_name(tmp_path: Path, name: bytes) -> None:
    root = tmp_path / os.fsdecode(name)
    made = project_folders(root).state
    assert len(made.name) <= 60
    assert made.name.encode("utf-8").decode().isprintable()
    assert " " not in made.name and "/" not in made.name


def test_the_root_of_the_filesystem_has_a_name() -> None:
    assert project_folders(Path("/")).state.name.startswith("root-")


def test_private_folders_are_closed_to_others_with_every_parent_that_was_made(tmp_path: Path) -> None:
    old = os.umask(0o000)
    try:
        private_folder(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(old)
    for folder in ("a", "a/b", "a/b/c"):
        assert mode(tmp_path / folder) == 0o700


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there").chmod(0o755)
    assert private_folder(tmp_path / "there") == tmp_path / "there"
    assert mode(tmp_path / "there") == 0o755
