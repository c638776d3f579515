"""What spark keeps lies in no folder that another user owns or may write, and the mend is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from session.base.storage.folders import OthersFolderError, refuse_others
from session.project.workspace import WorkspaceError, open_workspace

STRANGER = 54_321


def environ(base: Path) -> dict[str, str]:
    return {f"XDG_{kind}_HOME": str(base / kind.lower()) for kind in ("STATE", "CONFIG", "CACHE")}


@pytest.mark.parametrize(
    ("path", "mode", "words"),
    [
        ("base/state", 0o777, "every user; close it with: chmod o-w "),
        ("base", 0o777, "every user; close it with: chmod o-w "),
        ("base", 0o703, "every user; close it with: chmod o-w "),
        ("base/state", 0o1777, ""),
        ("base/state", 0o755, ""),
        ("base/state", 0o700, ""),
    ],
)
def test_a_folder_that_others_may_write_is_refused_with_the_mend(
    tmp_path: Path, path: str, mode: int, words: str
) -> None:
    base = tmp_path / "base"
    (base / "state" / "spark").mkdir(parents=True)
    (tmp_path / path).chmod(mode)
    if not words:
        refuse_others(base / "state" / "spark" / "projects")
        return
    with pytest.raises(OthersFolderError, match=words):
        refuse_others(base / "state" / "spark" / "projects")
    (tmp_path / "project").mkdir()
    with pytest.raises(WorkspaceError, match=words):
        open_workspace(tmp_path / "project", environ(base))
    assert list((base / "state" / "spark").iterdir()) == [], "nothing was kept there"


def test_a_link_that_leads_through_such_a_folder_is_refused(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "mine").mkdir(parents=True)
    shared.chmod(0o777)
    (tmp_path / "state").symlink_to(shared / "mine")
    with pytest.raises(OthersFolderError, match="every user"):
        refuse_others(tmp_path / "state" / "spark")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_refused_with_the_mend(tmp_path: Path) -> None:
    for name in ("base/state/spark", "base/state", "base"):
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        os.chown(folder, STRANGER, 0)
        with pytest.raises(OthersFolderError, match=f"the user {STRANGER}; make it yours with: sudo"):
            refuse_others(tmp_path / "base" / "state" / "spark")
        os.chown(folder, os.geteuid(), 0)
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    os.lchown(link, STRANGER, 0)
    with pytest.raises(OthersFolderError, match="is a link of the user"):
        refuse_others(link / "base")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to a group")
def test_a_group_of_others_may_not_write_and_the_users_own_may(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o775)
    os.chown(folder, 0, 0)
    refuse_others(folder)
    os.chown(folder, 0, STRANGER)
    with pytest.raises(OthersFolderError, match="a group of users; close it with: chmod g-w"):
        refuse_others(folder)
