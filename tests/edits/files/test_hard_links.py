"""The other names of a file with several hard links are found, however they came to be."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from edits.files import aliases as names
from edits.files.aliases import HardLinks, aliases
from edits.files.path_jail import Target, as_listed
from edits.hunk import Refused
from tests.edits.helpers import Project


def found(links: HardLinks, file: Path) -> set[str]:
    return set(links.names(file.stat()))


def expected(root: Path, file: Path) -> set[str]:
    """The names by a look at every file; none for a file with only one."""
    if file.stat().st_nlink < 2:
        return set()
    return {
        path.relative_to(root).as_posix() for path in root.rglob("*") if path.exists() and path.samefile(file)
    }


@pytest.mark.parametrize("old", [True, False])
def test_names_are_found_whatever_happens_between_two_looks(tmp_path: Path, old: bool) -> None:
    """``old``: time stamps as of folders that have not changed for a while, so that what is known is used."""
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    folders = [root / name for name in ("", "a", "a/b", "a/b/c", "d", ".git/objects")]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "other").write_text("x")
    file = outside / "file"
    file.write_text("x")
    links, chance = HardLinks(root), random.Random(1)
    stamp = 1_000_000_000
    for step in range(300):
        place = chance.choice([*folders, outside]) / f"name{chance.randint(0, 3)}"
        match chance.randint(0, 3):
            case 0 if not os.path.lexists(place):
                os.link(file, place)
            case 1 if place.exists():
                place.unlink()
            case 2 if place.exists():
                place.rename(place.with_name("moved"))
            case _:
                moved = root / "moved-folder"
                (root / "d").rename(moved) if not moved.exists() else moved.rename(root / "d")
                folders = [root / name for name in ("", "a", "a/b", "a/b/c", ".git/objects")]
        if old:
            for folder in [root, *(path for path in root.rglob("*") if path.is_dir())]:
                if folder.stat().st_mtime > 1_000_010_000:
                    stamp += 1
                    os.utime(folder, (stamp, stamp))
        assert found(links, file) == expected(root, file), step


def test_a_file_with_one_name_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("x")
    (tmp_path / "link").symlink_to("one")
    assert found(HardLinks(tmp_path), tmp_path / "one") == set()
    assert aliases(tmp_path, "link", "one").names == ("link", "one")


def test_a_name_that_comes_in_from_outside_is_found(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.write_text("x")
    os.link(outside, root / "first")
    links = HardLinks(root)
    assert found(links, outside) == {"first"}
    outside.rename(root / "second")
    assert found(links, root / "first") == {"first", "second"}


def test_all_spellings_of_a_name_are_known_where_case_is_ignored(tmp_path: Path) -> None:
    """Links from the other spelling make this folder behave as a file system that ignores case."""
    (tmp_path / "Src").mkdir()
    (tmp_path / "sRC").symlink_to("Src")
    (tmp_path / "Src/\u00e9.env").write_text("x")
    (tmp_path / "Src/\u00c9.ENV").symlink_to("\u00e9.env")
    file = aliases(tmp_path, "Src/\u00e9.env")
    assert file.ignores_case
    assert file.is_called("SRC/E\u0301.env") and file.is_within("src")


def test_where_case_is_ignored_an_edit_is_of_the_file_that_its_folder_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file system here folds names, so the part is driven that decides, with the folders as they are."""
    project = Project(tmp_path)
    project.write({"Src/README.md": "one\n", "Src/caf\u00e9.md": "one\n"})
    target = Target("src/cafe\u0301.md", "SRC/cafe\u0301.md", linked=False, typed="x")
    assert target.as_listed(project.root) == Target(
        "Src/caf\u00e9.md", "Src/caf\u00e9.md", linked=False, typed="x"
    )
    assert as_listed(project.root, "src/new/readme.md") == "Src/new/readme.md"
    monkeypatch.setattr(names, "_ignores_case", lambda *_: True)
    project.apply("src/readme.md\n<<<<<<< SEARCH\n=======\ntwo\n>>>>>>> REPLACE\n")
    (refused,) = project.refusals
    assert isinstance(refused, Refused) and refused.path == "Src/README.md" and refused.code == "exists"
    project.apply("SRC/new.md\n<<<<<<< SEARCH\n=======\ntwo\n>>>>>>> REPLACE\n")
    assert project.read()["Src/new.md"] == "two\n" and project.landed[0].path == "Src/new.md"
