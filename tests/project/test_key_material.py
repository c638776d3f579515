"""One list of key material: what hides, covers and refuses it misses none of the others' names."""

from __future__ import annotations

from pathlib import Path

import pytest

from context.text.key_material import key_material
from context.text.secrets import is_secret_file
from edits.guards.risky_files import refused, refused_at_home
from session.checks.sandbox.plan import view

KEYS = key_material()


def file_of(name: str) -> str:
    name = name.replace("*", "")
    return f"{name}deep/file" if name.endswith("/") else name


@pytest.mark.parametrize("name", KEYS.anywhere)
def test_what_is_key_material_anywhere_is_hidden_and_refused_anywhere(name: str) -> None:
    for path in (file_of(name), f"sub/{file_of(name)}", file_of(name).upper()):
        assert is_secret_file(path) and refused(path) == "key material"


@pytest.mark.parametrize("name", [*KEYS.home, *KEYS.home_only])
def test_what_is_key_material_in_the_home_folder_is_refused_there(name: str) -> None:
    assert (refused_at_home(file_of(name)) or refused(file_of(name))) == "key material"
    assert is_secret_file(f"x/{file_of(name)}") or name in KEYS.home_only


def test_all_of_it_is_covered_in_a_sandbox(tmp_path: Path) -> None:
    names = [*KEYS.anywhere, *KEYS.home, *KEYS.home_only, *KEYS.covered]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("/"):
            (tmp_path / name).mkdir(exist_ok=True)
        elif not (tmp_path / name).exists():
            (tmp_path / name).touch()
    hidden = [Path(path) for path in view(tmp_path / "project", tmp_path, {}, []).hidden]
    for name in names:
        assert any((tmp_path / name).is_relative_to(one) for one in hidden), name
    assert not any(one in two.parents for one in hidden for two in hidden), "no cover within another"
