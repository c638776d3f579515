"""What spark keeps is private to the user, whatever the umask, and mended where it was left open."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from context.project.project import Project
from session.base.storage.folders import project_folders
from session.project.workspace import open_workspace


@pytest.fixture
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def environ(tmp_path: Path) -> dict[str, str]:
    return {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}


@pytest.mark.usefixtures("no_umask")
def test_state_and_cache_are_made_private(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n")
    open_workspace(root, environ(tmp_path))
    project = Project(root, project_folders(root, environ(tmp_path)).cache)
    project.scan()
    project.close()
    for name in ("state", "cache"):
        made = [tmp_path / name, *(tmp_path / name).rglob("*")]
        assert len(made) > 3
        assert [path for path in made if mode(path) & 0o077 and not path.is_symlink()] == []


@pytest.mark.usefixtures("no_umask")
def test_what_was_left_open_is_mended(tmp_path: Path) -> None:
    for name in ("state", "config", "cache"):
        (tmp_path / name / "spark").mkdir(parents=True)
        (tmp_path / name).chmod(0o755)
    root = tmp_path / "project"
    root.mkdir()
    open_workspace(root, environ(tmp_path))
    assert {mode(tmp_path / name / "spark") for name in ("state", "config", "cache")} == {0o700}
    assert mode(tmp_path / "state") == 0o755, "a folder that is not spark's own stays as it is"


@pytest.mark.usefixtures("no_umask")
def test_a_link_to_a_folder_of_the_users_stays_as_it_is(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (tmp_path / "config").mkdir(0o755)
    (tmp_path / "config" / "spark").symlink_to(dotfiles)
    dotfiles.chmod(0o750)
    root = tmp_path / "project"
    root.mkdir()
    open_workspace(root, environ(tmp_path))
    assert mode(dotfiles) == 0o750
