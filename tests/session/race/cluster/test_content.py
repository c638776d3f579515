"""A project's content: packed here, unpacked there, the same files; only what changed travels again."""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from session.race.cluster.content import Content, ContentReader, pack, unpacked
from session.race.cluster.worker import MOST_BASES, Bases, Kept
from tests.thorough import share


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "app.py").write_text("print('as it is')\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("src/app.py")
    return folder


def files(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else (path.read_bytes(), mode(path))
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def unpack(content: Content, bases: Bases) -> Path:
    return bases.unpack(content.key, content.manifest, content.packs.values()).root


def test_what_is_unpacked_is_the_project(root: Path, tmp_path: Path) -> None:
    content = ContentReader(root).read()
    there = unpack(content, Bases(tmp_path / "worker"))
    assert there.name == "project" and files(there) == files(root)
    assert ContentReader(root).read().key == content.key


@settings(max_examples=share(25, 8), deadline=None)
@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["a", "b", "ü"]), st.sampled_from(["x", "y.py", "z z"])).map("/".join),
        st.binary(max_size=40),
        max_size=6,
    ),
    st.dictionaries(
        st.sampled_from(["a/x", "b/y.py", "ü/z z", "new"]), st.none() | st.binary(max_size=9), max_size=4
    ),
)
def test_any_state_after_any_other_is_unpacked_as_it_is(
    before: dict[str, bytes], changes: dict[str, bytes | None]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        root.mkdir()
        reader, bases = ContentReader(root), Bases(Path(folder) / "worker")
        for state in (before, changes):
            for path, content in state.items():
                (root / path).parent.mkdir(exist_ok=True)
                if content is None:
                    (root / path).unlink(missing_ok=True)
                else:
                    (root / path).write_bytes(content)
            assert files(unpack(reader.read(), bases)) == files(root)


def test_only_packs_with_changed_files_have_a_new_name_and_what_stays_is_shared(
    root: Path, tmp_path: Path
) -> None:
    for number in range(200):
        (root / f"{number}.txt").write_text(f"{number}\n")
    reader, bases = ContentReader(root), Bases(tmp_path / "worker")
    first = reader.read()
    before = unpack(first, bases)
    (root / "7.txt").write_text("changed\n")
    second = reader.read()
    assert len(first.packs) > 20 and len(second.packs.keys() - first.packs.keys()) == 1
    after = unpack(second, bases)
    assert (after / "8.txt").stat().st_ino == (before / "8.txt").stat().st_ino
    assert (before / "7.txt").read_text() == "7\n" and (after / "7.txt").read_text() == "changed\n"


def test_keys_and_ignored_folders_stay_here_unless_they_are_named(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    key = "sk-ant-api03-" + "a1B2" * 24
    texts = {
        ".env": "A=1",
        "notes.txt": f"key = {key}",
        "server.pem": "x",
        ".gitignore": "node_modules\nlog\n",
    }
    for name, text in texts.items():
        (root / name).write_text(text)
    for folder in ("node_modules/left", "log"):
        (root / folder).mkdir(parents=True)
        (root / folder / "index.js").write_text("1\n")
    content = ContentReader(root, ["node_modules"]).read()
    there = unpack(content, Bases(root.parent / "worker"))
    assert sorted(files(there)) == [
        ".gitignore",
        "link",
        "node_modules/left/index.js",
        "run.sh",
        "src/app.py",
    ]
    assert content.held_back == 3


def test_a_state_in_use_stays_and_old_ones_go(root: Path, tmp_path: Path) -> None:
    reader, bases = ContentReader(root), Bases(tmp_path / "worker")
    kept = []
    for number in range(MOST_BASES + 3):
        (root / "n").write_text(f"{number}")
        content = reader.read()
        base = bases.unpack(content.key, content.manifest, content.packs.values())
        base.users += number == 0
        kept.append(base.root)
    assert kept[0].is_dir() and not kept[1].exists() and kept[-1].is_dir()
    assert len(bases.kept) == MOST_BASES


async def test_an_unpacking_that_nobody_wants_any_more_does_not_disturb_the_next_one(
    root: Path, tmp_path: Path
) -> None:
    for number in range(400):
        (root / f"{number}.txt").write_text(f"{number}")
    content, kept = ContentReader(root).read(), Kept(Bases(tmp_path / "worker"))

    async def checked() -> dict[str, object]:
        async with kept.base(content.key, content.manifest, list(content.packs.values())) as base:
            assert base.users
            return files(base.root)

    unwanted = asyncio.create_task(checked())
    while not (tmp_path / "worker").exists():
        await asyncio.sleep(0)
    unwanted.cancel()
    assert await checked() == files(root)
    assert [each.users for each in kept.bases.kept.values()] == [0]


@pytest.mark.parametrize("path", ["../out", "/etc/out", "a/../../out"])
def test_a_manifest_cannot_lead_out_of_its_folder(path: str, tmp_path: Path) -> None:
    import json
    import zlib

    manifest = zlib.compress(json.dumps({"name": "p", "files": {path: ["file", "00", 0o644]}}).encode())
    with pytest.raises(ValueError, match="not a path in a project"):
        Bases(tmp_path / "worker").unpack("key", manifest, [])
    assert not (tmp_path / "worker").exists()


def test_damaged_content_is_refused_and_leaves_nothing(root: Path, tmp_path: Path) -> None:
    content = ContentReader(root).read()
    bases = Bases(tmp_path / "worker")
    with pytest.raises(ValueError, match="did not come"):
        bases.unpack(content.key, content.manifest, [])
    with pytest.raises(ValueError, match="no pack"):
        bases.unpack(content.key, content.manifest, [b"nonsense"])
    with pytest.raises(ValueError, match="no manifest"):
        bases.unpack(content.key, b"nonsense", [])
    assert not bases.kept and not any((tmp_path / "worker").iterdir())
    import zlib

    raw = bytearray(zlib.decompress(pack({"0" * 64: b"text"})))
    with pytest.raises(ValueError, match="damaged"):
        list(unpacked(zlib.compress(bytes(raw))))


def test_a_folder_that_became_a_link_does_not_travel(root: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", root], check=True)
    subprocess.run(["git", "-C", root, "add", "-A"], check=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "app.py").write_text("not of this project\n")
    (root / "src").rename(tmp_path / "before")
    (root / "src").symlink_to(outside)
    content = ContentReader(root).read()
    there = unpack(content, Bases(tmp_path / "worker"))
    assert "src/app.py" not in files(there)
    assert not any(b"not of this" in text for each in content.packs.values() for _, text in unpacked(each))
