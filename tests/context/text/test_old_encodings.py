"""Tests which bytes say what encoding they are in, and that none are read wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from context.disk.source import Source, Unread, read, text_in_old_encoding

WORDS = "Schreibe Grüße an den Anfang. MARKWORT\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (WORDS.encode("latin-1"), WORDS),
        ("“Grüße” – 5 €\n".encode("cp1252"), "“Grüße” – 5 €\n"),
        (WORDS.encode("utf-16-le"), WORDS),
        (WORDS.encode("utf-16-be"), WORDS),
        (WORDS.encode("utf-16"), WORDS),
        (WORDS.encode("utf-32"), WORDS),
        ("Привет, мир\n".encode("koi8-r"), None),
        ("日本語のメモ\n".encode("shift-jis"), None),
        ("中文说明\n".encode("gbk"), None),
        (b"\x7fELF\0\0\0\1" * 9, None),
        (b"caf\xe9\0", None),
        (b"\x81\x8d", None),
        (b"", ""),
    ],
)
def test_what_bytes_say(data: bytes, text: str | None) -> None:
    assert text_in_old_encoding(data) == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-le", "utf-32"])
def test_instructions_are_read_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "in").mkdir()
    for name in ("AGENTS.md", "in/AGENTS.md"):
        (tmp_path / name).write_bytes(WORDS.replace("\n", "\r\n").encode(encoding))
        source = read(tmp_path, name)
        assert isinstance(source, Source) and source.text == WORDS


def test_other_files_are_read_as_they_can_be_edited(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(WORDS.encode("latin-1"))
    assert read(tmp_path, "notes.md") == Unread("notes.md", "not UTF-8 text")
    (tmp_path / "AGENTS.md").write_bytes("日本語のメモ\n".encode("shift-jis"))
    assert read(tmp_path, "AGENTS.md") == Unread("AGENTS.md", "not UTF-8 text")
