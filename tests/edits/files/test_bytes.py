"""Bytes outside a hunk never change: encodings, endings, links, modes; and files that are refused."""

from __future__ import annotations

import codecs
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.files.path_jail import Changed
from edits.files.text import FileError, decode, joined, split
from edits.files.tree import Tree
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused, Rung
from edits.landing import Landing
from edits.placing import large_files
from edits.placing.found import Place
from edits.placing.large_files import change_exactly
from edits.placing.locate import locate
from edits.placing.splices import spliced, splices
from tests.edits.helpers import Project

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\n"), max_size=8)
ENDING = st.sampled_from(["\n", "\r\n", "\r"])


def hunk(path: str, *lines: str) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk(path, Action.UPDATE, Format.V4A, body)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@given(st.text(max_size=60))
def test_split_loses_nothing(text: str) -> None:
    assert joined(*split(text)) == text


@settings(deadline=None)
@given(
    before=st.lists(st.tuples(TEXT, ENDING), max_size=6),
    after=st.lists(st.tuples(TEXT, ENDING), max_size=6),
    new=st.lists(TEXT, max_size=3),
    final=st.booleans(),
    encoding=st.sampled_from(
        [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("utf-16-le", codecs.BOM_UTF16_LE)]
    ),
)
def test_all_but_the_replaced_line_keeps_its_bytes(
    before: list[tuple[str, str]],
    after: list[tuple[str, str]],
    new: list[str],
    final: bool,
    encoding: tuple[str, bytes],
) -> None:
    rows = [*before, ("TARGET", "\n"), *after]
    if not final:
        rows[-1] = (rows[-1][0] or "x", "")
    head = "".join(map("".join, rows[: len(before)]))
    tail = "".join(map("".join, rows[len(before) + 1 :]))
    ending = rows[len(before)][1]
    # A lone CR before an empty line that ends in LF is one CRLF: not what this test means to write.
    name, mark = encoding
    data = mark + f"{head}TARGET{ending}{tail}".encode(name)
    if "TARGET" in head + tail or "\r\n" in f"{head[-1:]}{tail[:1]}" or head[:1] == "\ufeff":
        return
    file = decode(data, "f")
    edit = hunk("f", "-TARGET", *(f"+{line}" for line in new))
    place = locate(file.lines, edit)
    assert isinstance(place, Place)
    out = file.encode(spliced(file, splices(file, place, "\n")))[len(mark) :].decode(name)
    assert out.startswith(head) and out.endswith(tail)
    middle = out[len(head) : len(out) - len(tail)]
    # An empty last line without a newline is no line.
    expected = new[:-1] if new and new[-1] == "" and not ending else new
    assert list(split(middle)[0]) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nC\r\nc\r\n"),
        (b"a\nb\r\nc\n", b"a\nB\r\nC\r\nc\n"),
        (b"a\rb\rc\r", b"a\rB\rC\rc\r"),
        (b"a\nb", b"a\nB\nC"),
        (b"b", b"B\nC"),
        (codecs.BOM_UTF8 + b"b\n", codecs.BOM_UTF8 + b"B\nC\n"),
        ("caf\xe9\nb\n".encode("latin-1"), "caf\xe9\nB\nC\n".encode("latin-1")),
        (
            "#!/x\n# coding: koi8-r\nпривет\nb\n".encode("koi8-r"),
            "#!/x\n# coding: koi8-r\nпривет\nB\nC\n".encode("koi8-r"),
        ),
        (
            codecs.BOM_UTF16_BE + "b\r\né\n".encode("utf-16-be"),
            codecs.BOM_UTF16_BE + "B\r\nC\r\né\n".encode("utf-16-be"),
        ),
        (b"\x0cform\nb\n\tfeed\n", b"\x0cform\nB\nC\n\tfeed\n"),
    ],
)
def test_endings_and_encoding_are_kept(project: Project, before: bytes, after: bytes) -> None:
    project.write({"f": before})
    assert isinstance(project.landing.land(hunk("f", "-b", "+B", "+C"), hunk_id="h1"), Landed)
    assert project.read_bytes() == {"f": after}
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read_bytes() == {"f": before}


@pytest.mark.parametrize(
    ("first", "encoding"),
    [
        ("# -*- coding: latin-1 -*-", "latin-1"),
        ("# coding: utf-8", "utf-8"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?>", "latin-1"),
        ('@charset "cp1252";', "cp1252"),
        ('charset = "latin-1"', "utf-8"),
        ("# coding: zip", "utf-8"),
        ("# coding: utf-16", "utf-8"),
    ],
)
def test_a_new_character_is_written_in_the_encoding_that_the_file_names(
    project: Project, first: str, encoding: str
) -> None:
    project.write({"f": f"{first}\nb\n"})
    assert isinstance(project.landing.land(hunk("f", "-b", "+é"), hunk_id="h1"), Landed)
    assert project.read_bytes() == {"f": f"{first}\né\n".encode(encoding)}


def test_a_line_added_after_a_last_line_without_newline(project: Project) -> None:
    project.write({"f": b"a\nb"})
    assert isinstance(project.landing.land(hunk("f", " b", "+c"), hunk_id="h1"), Landed)
    assert project.read_bytes() == {"f": b"a\nb\nc"}
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read_bytes() == {"f": b"a\nb"}


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"b\n\0", RefusalCode.BINARY),
        (b"b\n\x81\x40\x82\xa0", RefusalCode.BINARY),
        ("b\nпривет\n".encode("koi8-r"), RefusalCode.BINARY),
        ("b\n".encode("utf-32"), RefusalCode.BINARY),
        (codecs.BOM_UTF16_LE + b"b", RefusalCode.BINARY),
    ],
)
def test_what_is_not_text_for_sure_is_refused(project: Project, data: bytes, code: RefusalCode) -> None:
    project.write({"f": data})
    refused = project.landing.land(hunk("f", "-b", "+B"), hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is code
    assert project.read_bytes() == {"f": data}


def test_a_character_the_encoding_has_not_is_refused(project: Project) -> None:
    project.write({"f": "caf\xe9\nb\n".encode("latin-1")})
    refused = project.landing.land(hunk("f", "-b", "+→"), hunk_id="h1")
    assert isinstance(refused, Refused) and "U+2192" in refused.message


def test_a_lone_surrogate_is_refused(project: Project) -> None:
    project.write({"f": "b\n"})
    for edit in (hunk("f", "-b", "+\ud800"), hunk("\ud800", "-b", "+c")):
        refused = project.landing.land(edit, hunk_id="h1")
        assert isinstance(refused, Refused) and refused.code is RefusalCode.MALFORMED


def test_mode_and_attributes_are_kept(project: Project) -> None:
    project.write({"f": "b\n"})
    path = project.root / "f"
    path.chmod(0o2754)
    try:
        os.setxattr(path, "user.note", b"kept")
        attributes = True
    except OSError:
        attributes = False
    assert isinstance(project.landing.land(hunk("f", "-b", "+c"), hunk_id="h1"), Landed)
    assert path.stat().st_mode & 0o7777 == 0o2754
    if attributes:
        assert os.getxattr(path, "user.note") == b"kept"


def test_a_read_only_file_is_refused_and_not_replaced_around(project: Project) -> None:
    project.write({"f": "b\n"})
    (project.root / "f").chmod(0o444)
    for edit in (
        hunk("f", "-b", "+c"),
        Hunk("f", Action.DELETE, Format.V4A),
        Hunk("f", Action.MOVE, Format.V4A, move_to="g"),
    ):
        refused = project.landing.land(edit, hunk_id="h1")
        assert isinstance(refused, Refused) and refused.code is RefusalCode.LOCKED
        assert "read-only" in refused.message
    assert project.read() == {"f": "b\n"}


def test_a_hard_linked_file_stays_linked(project: Project) -> None:
    project.write({"f": "b\n" * 3 + "c\n"})
    other = project.folder / "elsewhere"
    os.link(project.root / "f", other)
    assert isinstance(project.landing.land(hunk("f", "-c"), hunk_id="h1"), Landed)
    assert other.read_text() == "b\nb\nb\n" and other.samefile(project.root / "f")
    assert isinstance(project.landing.undo(), Landed)
    assert other.read_text() == "b\nb\nb\nc\n" and other.samefile(project.root / "f")


def test_a_link_within_the_project_is_written_through(project: Project) -> None:
    project.write({"real/f": "b\n"})
    (project.root / "link").symlink_to("real/f")
    assert isinstance(project.landing.land(hunk("link", "-b", "+c"), hunk_id="h1"), Landed)
    assert (project.root / "link").is_symlink() and (project.root / "real/f").read_text() == "c\n"
    refused = project.landing.land(Hunk("link", Action.DELETE, Format.V4A), hunk_id="h2")
    assert isinstance(refused, Refused) and "symbolic link" in refused.message


@pytest.mark.parametrize(
    "path",
    [
        "../out",
        "/etc/hostname",
        "a/../../out",
        "file-link",
        "folder-link/out",
        ".git/config",
        "x/.GIT/hooks/y",
    ],
)
def test_what_leaves_the_project_is_refused(project: Project, path: str) -> None:
    outside = project.folder / "outside"
    outside.mkdir()
    (outside / "out").write_text("b\n")
    (project.folder / "out").write_text("b\n")
    project.write({".git/config": "b\n"})
    (project.root / "file-link").symlink_to(outside / "out")
    (project.root / "folder-link").symlink_to(outside)
    add = Hunk(path, Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "x"),))
    for edit in (hunk(path, "-b", "+c"), add, Hunk(path, Action.DELETE, Format.V4A)):
        refused = project.landing.land(edit, hunk_id="h1")
        assert isinstance(refused, Refused) and refused.code is RefusalCode.OUTSIDE_PROJECT
    assert (outside / "out").read_text() == (project.folder / "out").read_text() == "b\n"
    assert (project.root / ".git/config").read_text() == "b\n"


@pytest.mark.parametrize("path", ["sub/f", "./sub/f", "sub\\f", "sub//f", "sub/../sub/f"])
def test_the_ways_models_write_a_path(project: Project, path: str) -> None:
    project.write({"sub/f": "b\n"})
    landed = project.landing.land(hunk(path, "-b", "+c"), hunk_id="h1")
    assert isinstance(landed, Landed) and landed.path == "sub/f"
    absolute = project.landing.land(hunk(str(project.root / "sub/f"), "-c", "+d"), hunk_id="h2")
    assert isinstance(absolute, Landed) and absolute.path == "sub/f"


@pytest.mark.parametrize("path", ["", " ", "a\nb", "sub/", ".", "a\0b"])
def test_what_is_no_file_name_is_refused(project: Project, path: str) -> None:
    project.write({"sub/f": "b\n"})
    refused = project.landing.land(hunk(path, "-b", "+c"), hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.MALFORMED


def test_a_name_the_system_refuses_is_said_without_the_place_of_the_project(project: Project) -> None:
    add = Hunk("n" * 300, Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "x"),))
    refused = project.landing.land(add, hunk_id="h1")
    assert isinstance(refused, Refused) and refused.code is RefusalCode.IO
    assert "too long" in refused.message and str(project.root) not in refused.message


def test_a_link_to_itself_is_refused(project: Project) -> None:
    (project.root / "loop").symlink_to("loop")
    assert isinstance(project.landing.land(hunk("loop", "-b", "+c"), hunk_id="h1"), Refused)


def test_folders_and_special_files_are_refused(project: Project) -> None:
    project.write({"sub/f": "b\n"})
    os.mkfifo(project.root / "pipe")
    for path in ("sub", "pipe"):
        refused = project.landing.land(hunk(path, "-b", "+c"), hunk_id="h1")
        assert isinstance(refused, Refused) and refused.code is RefusalCode.IO


def test_a_file_that_changes_before_the_replace_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old\n")
    tree = Tree(tmp_path)
    expected = tree.read_text("f").sha256

    def intrude(step: str) -> None:
        if step == "temporary written":
            path.write_text("theirs\n")

    with pytest.raises(Changed):
        tree.write("f", b"new\n", expected=expected, step=intrude)
    assert path.read_text() == "theirs\n" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(Changed):
        tree.remove("f", expected)
    with pytest.raises(Changed):
        tree.write("f", b"new\n", expected=None)


def test_reading_says_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(FileError) as missing:
        Tree(tmp_path).read_text("none", "src/none")
    assert missing.value.code is RefusalCode.MISSING_FILE and "src/none" in missing.value.message


@pytest.fixture
def soon_large(monkeypatch: pytest.MonkeyPatch) -> int:
    """Files of this many bytes are large."""
    monkeypatch.setattr(large_files, "LARGE", 400_000)
    return large_files.LARGE


def large(tail: str = "", lines: int = 12_000) -> str:
    return "".join(f"line number {number:06d} of a large file, \u00e9\n" for number in range(lines)) + tail


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_large_file_lands_the_same_as_a_small_one_and_holds_three_copies_at_most(
    project: Project, newline: str
) -> None:
    data = large(lines=120_000).replace("\n", newline).encode()
    assert len(data) > large_files.LARGE
    project.write({"f": data})
    old = "line number 060000 of a large file, \u00e9"
    edit = hunk("f", " line number 059999 of a large file, \u00e9", f"-{old}", "+one", "+two")
    tracemalloc.start()
    landed = project.landing.land(edit, hunk_id="h1")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(landed, Landed) and (landed.start, landed.end, landed.rung) == (
        60_001,
        60_003,
        Rung.EXACT,
    )
    assert project.read_bytes() == {"f": data.replace(old.encode(), f"one{newline}two".encode())}
    assert peak < 3.2 * len(data)
    assert isinstance(project.landing.undo("h1"), Landed)
    assert project.read_bytes() == {"f": data}


def test_what_is_not_plain_in_a_large_file_is_placed_as_text(project: Project, soon_large: int) -> None:
    edit = hunk("f", "-the very last line", "+the end")
    for tail, landed in (
        ("the very last line\n", True),
        ("the very last line", True),
        ("the very last line\r\n", True),
        ("the very last line\nthe very last line\n", False),
        ("a word more than the very last line\n", False),
        ("the very last line\n\0", False),
    ):
        project.write({"f": large(tail)})
        assert len(large(tail)) > soon_large
        result = project.landing.land(edit, hunk_id="h1", dry_run=True)
        assert isinstance(result, Landed) is landed, tail
        before = large(tail)
        change = change_exactly(before.encode(), edit)
        assert (change is not None) == (tail == "the very last line\n")
        if change is not None:
            assert change[1].decode() == large("the end\n")
        # A dry run sees what an earlier one left: each file is planned by a landing of its own.
        project.landing = Landing(project.root, project.ledger)
