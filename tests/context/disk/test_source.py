from __future__ import annotations

import os
from pathlib import Path

import pytest

from context.disk.source import LARGEST, Source, Unread, decode, name_problem, read, shown_name


def text_of(root: Path, path: str) -> str:
    source = read(root, path)
    assert isinstance(source, Source), source
    return source.text


def why(root: Path, path: str) -> str:
    source = read(root, path)
    assert isinstance(source, Unread), source
    return source.why


def test_encodings_and_line_ends(tmp_path: Path) -> None:
    (tmp_path / "bom").write_bytes(b"\xef\xbb\xbfa\r\nb\n")
    (tmp_path / "utf16").write_bytes("é\nß".encode("utf-16"))
    assert text_of(tmp_path, "bom") == "a\nb\n"
    assert text_of(tmp_path, "utf16") == "é\nß"
    assert Source("x", "a\nb", "").lines == ["a", "b"] == Source("x", "a\nb\n", "").lines
    assert Source("x", "", "").lines == []


def test_an_encoding_that_a_file_names_in_its_first_two_lines() -> None:
    for text, encoding in (
        ("# -*- coding: latin-1 -*-\ncafé\n", "latin-1"),
        ("#!/x\n# vim: set fileencoding=koi8-r :\nпривет\n", "koi8-r"),
        ("<?xml version='1.0' encoding='windows-1251'?>\r<a>привет</a>\r", "cp1251"),
        ('@charset "shift_jis";\na::after { content: "あ" }\n', "shift_jis"),
    ):
        source = decode("f", text.encode(encoding))
        assert isinstance(source, Source) and source.text == text.replace("\r", "\n")
    for data in (b"# coding: utf-16\n\xff", b"# coding: zip\n\xff", b"\n\n# coding: latin-1\n\xff"):
        unread = decode("f", data)
        assert isinstance(unread, Unread) and unread.why == "not UTF-8 text"


def test_a_file_without_text_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\x7fELF\0\0")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    (tmp_path / "huge").write_bytes(b"x" * (LARGEST + 1))
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    assert "binary" in why(tmp_path, "binary.py")
    assert "UTF-8" in why(tmp_path, "latin")
    assert "too large" in why(tmp_path, "huge")
    assert "repository of its own" in why(tmp_path, "folder")
    assert "symbolic link" in why(tmp_path, "loop")
    assert "not a regular file" in why(tmp_path, "pipe")
    gone = read(tmp_path, "missing/file")
    assert isinstance(gone, Unread) and gone.gone


def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    root = tmp_path / "project"
    root.mkdir()
    (root / "link.py").symlink_to("../secret")
    assert "link" in why(root, "link.py")


def test_permission_denied(tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("c")
    (tmp_path / "closed").chmod(0)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read every file, so permission cannot be denied")
    assert why(tmp_path, "closed") == "permission denied"


def test_names() -> None:
    assert name_problem("a b/ünï.py") is None
    assert name_problem("a\nb") and name_problem("a\x1b[2J") and name_problem(os.fsdecode(b"\xff.py"))
    assert shown_name(os.fsdecode(b"a\n\xff")) == "a\\n\ufffd"


@pytest.mark.parametrize("path", ["docs/config", "docs/deep/config", "src/docs/config"])
def test_a_folder_that_became_a_link_is_not_followed(tmp_path: Path, path: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root, outside):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(f"{folder.name}\n")
    assert text_of(root, path) == "project\n"
    linked = next(part for part in (root / path).parents if part.name == "docs")
    linked.rename(tmp_path / "before")
    linked.symlink_to(outside / linked.relative_to(root))
    assert (root / path).read_text() == "outside\n"
    assert isinstance(read(root, path), Unread)


def test_reading_leaves_no_descriptor_open(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c").write_text("x")
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ("a/b/c", "a/b/gone", "a/gone/c", "a/b/c/d", "a/b"):
        read(tmp_path, path)
    assert len(list(Path("/dev/fd").iterdir())) == before
