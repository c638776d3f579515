"""What a sandbox shows and hides."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from session.checks.sandbox.plan import view


def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    for name in (".ssh", ".cache", ".config/gh", "work/project"):
        (folder / name).mkdir(parents=True)
    for name in (".env", "id_rsa", "notes.txt"):
        (folder / name).write_text("x")
    return folder


def test_what_holds_keys_is_hidden_and_only_what_is_there(tmp_path: Path) -> None:
    folder = home(tmp_path)
    (folder / ".state/spark").mkdir(parents=True)
    seen = view(folder / "work/project", folder, {}, [folder / ".config/spark", folder / ".state/spark"])
    hidden = {
        folder / ".ssh",
        folder / ".config/gh",
        folder / ".env",
        folder / "id_rsa",
        folder / ".state/spark",
    }
    assert set(seen.hidden) == set(map(str, hidden))
    assert "/home" in seen.elsewhere and not {"/usr", "/tmp", "/proc"} & set(seen.elsewhere)
    assert seen.caches == (str(folder / ".cache"),)


def test_a_project_in_a_hidden_folder_or_in_a_cache_is_still_seen(tmp_path: Path) -> None:
    folder = home(tmp_path)
    (folder / ".ssh/project").mkdir()
    assert str(folder / ".ssh") not in view(folder / ".ssh/project", folder, {}, []).hidden
    (folder / ".cache/project").mkdir()
    assert view(folder / ".cache/project", folder, {}, []).caches == ()


def test_a_project_that_holds_a_cache_has_no_second_overlay_in_it(tmp_path: Path) -> None:
    folder = home(tmp_path)
    assert view(folder, folder, {}, []).caches == ()


def test_the_tools_that_path_names_are_shown(tmp_path: Path) -> None:
    assert tmp_path.is_relative_to("/tmp"), "pytest's folders are under /tmp here"
    (tmp_path / "venv/bin").mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    environ = {"PATH": f"/usr/bin:{tmp_path}/venv/bin:{tmp_path}/scripts:relative:{tmp_path}/missing"}
    shown = view(tmp_path, tmp_path, environ, []).shown
    assert shown[:2] == (str(tmp_path / "venv"), str(tmp_path / "scripts"))
    assert set(shown[2:]) <= {sys.prefix}


def test_a_whole_temporary_folder_is_never_shown() -> None:
    assert "/tmp" not in view(Path("/"), Path("/nowhere"), {"PATH": "/tmp:/tmp/bin"}, []).shown


@pytest.mark.parametrize(("home", "shown"), [("/usr", "/usr"), ("/", ""), ("/tmp/me", ""), ("/nowhere", "")])
def test_a_home_is_shown_unless_all_or_nothing_would_be(home: str, shown: str) -> None:
    assert view(Path("/project"), Path(home), {}, []).home == shown
    assert view(Path("/usr"), Path("/usr"), {}, []).home == "", "the project is shown"
