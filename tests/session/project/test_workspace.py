from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from session.project.workspace import WorkspaceError, open_workspace


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"nowhere cannot be opened: No such file"):
        open_workspace(tmp_path / "nowhere")


def test_a_file_cannot_be_opened_as_a_project(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorkspaceError, match="file is not a folder"):
        open_workspace(tmp_path / "file")


def test_links_that_run_in_a_circle_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(WorkspaceError, match="cannot be opened"):
        open_workspace(tmp_path / "a")


def test_a_path_with_a_nul_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be opened"):
        open_workspace(Path(f"{tmp_path}/a\0b"))


def test_the_root_is_resolved_and_nothing_is_written_into_the_project(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    workspace = open_workspace(tmp_path / "link")
    assert workspace.root == tmp_path / "real"
    assert list((tmp_path / "real").iterdir()) == []


def test_the_state_of_a_project_is_private_to_the_user(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        folders = open_workspace(tmp_path).folders
    finally:
        os.umask(old)
    for folder in (folders.state, folders.state.parent, folders.state.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_state_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    environ = {"XDG_STATE_HOME": str(tmp_path / "taken")}
    problem = r"taken/spark.* cannot be made \(.*/taken: File exists\); point XDG_STATE_HOME"
    with pytest.raises(WorkspaceError, match=problem):
        open_workspace(tmp_path, environ)
