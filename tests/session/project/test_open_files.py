from __future__ import annotations

import asyncio
import os
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edits.ledger.ledger import Ledger
from session.base.events import Event, FileSaved
from session.project.edit_thread import EditThread
from session.project.open_files import ProjectFiles
from session.project.opened import FileProblem
from session.project.workspace import open_workspace
from tests.session.recording import recorder_for


class Shelf:
    """A project's files, and the events they sent."""

    def __init__(self, root: Path) -> None:
        self.workspace = open_workspace(root)
        self.root = self.workspace.root
        self.sent: list[Event] = []
        self.thread = ThreadPoolExecutor(1)
        self.files = ProjectFiles(
            self.workspace,
            EditThread(self.thread),
            recorder_for(self.workspace.folders.sessions, self.sent.append),
        )

    def put(self, path: str, data: bytes) -> Path:
        file = self.root / path
        file.write_bytes(data)
        return file

    async def edit(self, path: str, old: str, new: str) -> bytes:
        """Open, replace ``old`` by ``new``, save, and give the bytes then on disk."""
        opened = self.files.open(path)
        assert old in opened.text
        await self.files.save(opened, opened.text.replace(old, new))
        return (self.root / path).read_bytes()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    root = tmp_path / "project"
    root.mkdir()
    shelf = Shelf(root)
    yield shelf
    shelf.thread.shutdown()


def test_the_list_is_the_projects(shelf: Shelf) -> None:
    shelf.put("b.txt", b"")
    shelf.put("a.txt", b"")
    assert shelf.files.list() == ("a.txt", "b.txt")


def test_a_file_is_opened_with_plain_endings_and_what_must_be_known_to_save_it(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\r\ntwo\r\n")
    opened = shelf.files.open("a.txt")
    assert (opened.path, opened.text, opened.encoding, opened.newline, opened.read_only) == (
        "a.txt",
        "one\ntwo\n",
        "utf-8",
        "\r\n",
        False,
    )
    assert len(opened.version) == 64


SAMPLES = {
    "unix": b"one\ntwo\nthree\n",
    "windows": b"one\r\ntwo\r\nthree\r\n",
    "old mac": b"one\rtwo\rthree\r",
    "mixed": b"one\ntwo\r\nthree\n",
    "mixed, last bare": b"one\r\ntwo\nthree",
    "no final newline": b"one\ntwo\nthree",
    "windows, no final newline": b"one\r\ntwo\r\nthree",
    "empty lines": b"\n\none\n\ntwo\n\n",
    "only newlines": b"\r\n\n\r\n",
    "empty": b"",
    "one line": b"two",
    "utf-8 with a mark": b"\xef\xbb\xbfone\ntwo \xc3\xa9\n",
    "utf-16 little": "\ufeffone\r\ntwo é\r\n".encode("utf-16-le"),
    "utf-16 big": "\ufeffone\ntwo é\n".encode("utf-16-be"),
    "latin-1": b"one caf\xe9\ntwo\n",
    "form feed and separators": "one\x0c\ntwo\u2028still two\x85\nthree\n".encode(),
}


@pytest.mark.parametrize("data", SAMPLES.values(), ids=SAMPLES.keys())
async def test_saving_what_was_opened_changes_no_byte(shelf: Shelf, data: bytes) -> None:
    file = shelf.put("a.txt", data)
    opened = shelf.files.open("a.txt")
    again = await shelf.files.save(opened, opened.text)
    assert file.read_bytes() == data
    assert again == opened


@pytest.mark.parametrize("name", [name for name, data in SAMPLES.items() if b"t" in data])
async def test_saving_touches_only_the_text_that_changed(shelf: Shelf, name: str) -> None:
    encoding = {"utf-16 little": "utf-16-le", "utf-16 big": "utf-16-be"}.get(name, "utf-8")
    old, new = "two".encode(encoding), "2".encode(encoding)
    shelf.put("a.txt", SAMPLES[name])
    assert old in SAMPLES[name]
    assert await shelf.edit("a.txt", "two", "2") == SAMPLES[name].replace(old, new)


async def test_new_lines_get_the_files_usual_ending_and_old_ones_keep_their_own(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\r\ntwo\nthree\r\nfour\r\n")
    assert await shelf.edit("a.txt", "two\n", "two\nnew\n") == b"one\r\ntwo\nnew\r\nthree\r\nfour\r\n"
    assert await shelf.edit("a.txt", "one\n", "") == b"two\nnew\r\nthree\r\nfour\r\n"


async def test_a_final_newline_can_be_added_and_taken_away(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\r\ntwo")
    assert await shelf.edit("a.txt", "two", "two\n") == b"one\r\ntwo\r\n"
    assert await shelf.edit("a.txt", "two\n", "two") == b"one\r\ntwo"


async def test_everything_can_be_deleted_and_typed_anew(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\r\ntwo\r\n")
    emptied = await shelf.files.save(shelf.files.open("a.txt"), "")
    assert (shelf.root / "a.txt").read_bytes() == b""
    await shelf.files.save(emptied, "new\n")
    assert (shelf.root / "a.txt").read_bytes() == b"new\n"


async def test_saving_sends_the_event_and_gives_the_new_version(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    saved = await shelf.files.save(opened, "two\n")
    assert shelf.sent == [FileSaved("a.txt")]
    assert saved.version != opened.version
    assert (await shelf.files.save(saved, "three\n")).text == "three\n"


async def test_a_path_with_control_characters_is_shown_clean(shelf: Shelf) -> None:
    shelf.put("a\u202eb.txt", b"one\n")
    await shelf.files.save(shelf.files.open("a\u202eb.txt"), "two\n")
    assert shelf.sent == [FileSaved("a\ufffdb.txt")]


def refused(shelf: Shelf, path: str) -> str:
    with pytest.raises(FileProblem) as caught:
        shelf.files.open(path)
    return str(caught.value)


@pytest.mark.parametrize("change", [b"theirs\n", b"", None])
async def test_a_file_that_changed_on_disk_is_not_overwritten(shelf: Shelf, change: bytes | None) -> None:
    file = shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    if change is None:
        file.unlink()
    else:
        file.write_bytes(change)
    with pytest.raises(FileProblem, match=r"a\.txt changed on disk since it was read; nothing was saved"):
        await shelf.files.save(opened, "mine\n")
    assert (file.read_bytes() if file.exists() else None) == change
    assert shelf.sent == []
    assert sorted(path.name for path in shelf.root.iterdir()) == ([] if change is None else ["a.txt"])


async def test_after_a_change_on_disk_a_merge_can_be_saved(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\ntwo\nthree\n")
    opened = shelf.files.open("a.txt")
    file.write_bytes(b"ONE\ntwo\nthree\n")
    fresh = shelf.files.open("a.txt")
    merged = await shelf.files.merge(opened.text, "one\ntwo\nTHREE\n", fresh.text)
    assert (merged.text, merged.conflicts) == ("ONE\ntwo\nTHREE\n", ())
    await shelf.files.save(fresh, merged.text)
    assert file.read_bytes() == b"ONE\ntwo\nTHREE\n"


async def test_a_read_only_file_can_be_read_and_not_saved(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\n")
    file.chmod(0o444)
    opened = shelf.files.open("a.txt")
    assert opened.read_only
    with pytest.raises(FileProblem, match=r"a\.txt is read-only"):
        await shelf.files.save(opened, "two\n")
    assert file.read_bytes() == b"one\n"
    assert shelf.sent == []


async def test_the_mode_of_a_file_is_kept(shelf: Shelf) -> None:
    file = shelf.put("run.sh", b"one\n")
    file.chmod(0o751)
    await shelf.edit("run.sh", "one", "two")
    assert stat.S_IMODE(file.stat().st_mode) == 0o751


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF\0\0", "binary"),
        (b"\xff\xfe\x00\x00a\0\0\0", "UTF-32"),
        (b"\x80\x81\x82 odd", "not UTF-8"),
        (b"\xff\xfea", "not valid utf-16-le"),
    ],
)
def test_a_file_that_is_not_text_is_refused_by_name(shelf: Shelf, data: bytes, said: str) -> None:
    shelf.put("a.bin", data)
    message = refused(shelf, "a.bin")
    assert "a.bin" in message and said in message


async def test_a_character_the_files_encoding_lacks_is_refused_and_nothing_written(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"caf\xe9\n")
    opened = shelf.files.open("a.txt")
    for text in ("日本\n", "\ud800\n"):
        with pytest.raises(FileProblem, match=r"which the file's encoding \(latin-1\) lacks"):
            await shelf.files.save(opened, text)
    assert file.read_bytes() == b"caf\xe9\n"


@pytest.mark.parametrize(
    "path", ["../out.txt", "/etc/passwd", "link.txt", "links/out.txt", "sub/../../out.txt"]
)
def test_a_file_outside_the_project_is_refused_also_through_a_link(shelf: Shelf, path: str) -> None:
    outside = shelf.root.parent / "out.txt"
    outside.write_text("private\n")
    (shelf.root / "sub").mkdir()
    (shelf.root / "link.txt").symlink_to(outside)
    (shelf.root / "links").symlink_to(shelf.root.parent)
    assert "outside the project" in refused(shelf, path)


async def test_a_link_redirected_outside_after_opening_is_not_followed(shelf: Shelf) -> None:
    outside = shelf.root.parent / "out.txt"
    outside.write_text("one\n")
    file = shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(FileProblem, match="outside the project"):
        await shelf.files.save(opened, "two\n")
    assert outside.read_text() == "one\n"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("none.txt", "does not exist"),
        ("folder", "is a folder"),
        ("pipe", "is not a regular file"),
        ("", "is not a file name"),
        ("a\0b", "is not a file name"),
        (".git/config", "belongs to git"),
        ("x" * 300, "cannot be opened: File name too long"),
    ],
)
def test_a_path_that_is_not_a_file_is_refused_with_the_reason(shelf: Shelf, path: str, said: str) -> None:
    (shelf.root / "folder").mkdir()
    os.mkfifo(shelf.root / "pipe")
    assert said in refused(shelf, path)


async def test_a_link_inside_the_project_is_written_through_and_stays_a_link(shelf: Shelf) -> None:
    shelf.put("real.txt", b"one\n")
    (shelf.root / "link.txt").symlink_to("real.txt")
    assert await shelf.edit("link.txt", "one", "two") == b"two\n"
    assert (shelf.root / "link.txt").is_symlink()
    assert (shelf.root / "real.txt").read_bytes() == b"two\n"


async def test_a_hard_link_is_kept(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\n")
    os.link(file, shelf.root / "b.txt")
    await shelf.edit("a.txt", "one", "a longer two")
    assert (shelf.root / "b.txt").read_bytes() == b"a longer two\n"
    assert file.stat().st_ino == (shelf.root / "b.txt").stat().st_ino


async def test_nothing_but_the_file_is_left_in_the_project(shelf: Shelf) -> None:
    shelf.put("a.txt", b"one\n")
    await shelf.edit("a.txt", "one", "two")
    assert [path.name for path in shelf.root.iterdir()] == ["a.txt"]


async def test_a_save_waits_for_a_landing_of_another_process(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    with Ledger(shelf.workspace.folders.ledger).exclusive():
        saving = asyncio.create_task(shelf.files.save(opened, "two\n"))
        await asyncio.sleep(0.1)
        assert file.read_bytes() == b"one\n" and not saving.done()
    assert (await saving).text == "two\n"
    assert file.read_bytes() == b"two\n"


async def test_a_save_comes_after_what_the_edit_thread_is_doing(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    landed = threading.Event()
    shelf.thread.submit(landed.wait)
    saving = asyncio.create_task(shelf.files.save(opened, "two\n"))
    await asyncio.sleep(0.1)
    assert file.read_bytes() == b"one\n"
    landed.set()
    await saving
    assert file.read_bytes() == b"two\n"


async def test_a_landing_that_came_first_is_not_overwritten_by_the_save(shelf: Shelf) -> None:
    file = shelf.put("a.txt", b"one\n")
    opened = shelf.files.open("a.txt")
    with Ledger(shelf.workspace.folders.ledger).exclusive():
        saving = asyncio.create_task(shelf.files.save(opened, "mine\n"))
        await asyncio.sleep(0.05)
        file.write_bytes(b"landed\n")
    with pytest.raises(FileProblem, match=r"a\.txt changed on disk"):
        await saving
    assert file.read_bytes() == b"landed\n" and shelf.sent == []
