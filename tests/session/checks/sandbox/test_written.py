"""What a command in a sandbox wrote to the project: read from an overlay's layer, and from a copy."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from session.checks.sandbox import written as written_files
from session.checks.sandbox.command import Command
from session.checks.sandbox.sandbox import Sandbox, Sandboxes
from session.checks.sandbox.written import Written, WrittenFile
from tests.session.checks.sandbox.shell import a_copy, needs_landlock


async def _overlay(root: Path) -> Sandbox:
    return await Sandboxes(root, os.environ).make()


async def _copy(root: Path) -> Sandbox:
    made = a_copy(root)
    made.fill()
    return made


@pytest.fixture(params=["overlay", pytest.param("copy", marks=needs_landlock)])
async def sandbox(request: pytest.FixtureRequest, root: Path) -> AsyncIterator[Sandbox]:
    (root / "sub").mkdir()
    (root / "sub" / "one.txt").write_text("one\n")
    (root / "sub" / "two.txt").write_text("two\n")
    (root / "gone.txt").write_text("gone\n")
    (root / "link").symlink_to("app.py")
    (root / ".gitignore").write_text("*.log\nbuild/\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    made = await (_overlay if request.param == "overlay" else _copy)(root)
    yield made
    await made.remove()


async def run(sandbox: Sandbox, line: str) -> Written:
    output = bytearray()
    command = Command(["/bin/sh", "-c", line], 60.0, {"PATH": os.environ["PATH"]}, keeps=True)

    def take(piece: bytes) -> bool:
        output.extend(piece)
        return True

    outcome = await sandbox.run(command, take)
    assert outcome.code == 0, output
    return await sandbox.written()


CHANGES: dict[str, tuple[str, tuple[WrittenFile, ...]]] = {
    "a changed file": ("echo new > app.py", (WrittenFile("app.py", b"print('as it is')\n", b"new\n"),)),
    "a new file in a new folder": ("mkdir -p a/b; echo x > a/b/c", (WrittenFile("a/b/c", None, b"x\n"),)),
    "a deleted file": ("rm gone.txt", (WrittenFile("gone.txt", b"gone\n", None),)),
    "a deleted folder": (
        "rm -r sub",
        (WrittenFile("sub/one.txt", b"one\n", None), WrittenFile("sub/two.txt", b"two\n", None)),
    ),
    "a folder that is made anew": (
        "rm -r sub; mkdir sub; echo one > sub/one.txt",
        (WrittenFile("sub/two.txt", b"two\n", None),),
    ),
    "a folder in place of a file": (
        "rm gone.txt; mkdir gone.txt; echo x > gone.txt/in",
        (WrittenFile("gone.txt", b"gone\n", None), WrittenFile("gone.txt/in", None, b"x\n")),
    ),
    "a file in place of a folder": (
        "rm -r sub; echo x > sub",
        (
            WrittenFile("sub", None, b"x\n"),
            WrittenFile("sub/one.txt", b"one\n", None),
            WrittenFile("sub/two.txt", b"two\n", None),
        ),
    ),
    "a moved file": (
        "mv gone.txt there.txt",
        (WrittenFile("gone.txt", b"gone\n", None), WrittenFile("there.txt", None, b"gone\n")),
    ),
    "a moved folder": (
        "mv sub there",
        tuple(
            WrittenFile(f"{folder}/{name}.txt", *both)
            for folder in ("sub", "there")
            for name in ("one", "two")
            for text in [f"{name}\n".encode()]
            for both in [(text, None) if folder == "sub" else (None, text)]
        ),
    ),
    "nothing": ("cat app.py sub/*", ()),
    "the same text again": ("cp app.py x; cat x > app.py; rm x; touch sub/one.txt", ()),
    "caches of tools": (
        "mkdir -p __pycache__ sub/.pytest_cache; echo x | tee __pycache__/a sub/.pytest_cache/b",
        (),
    ),
    "an empty folder": ("mkdir empty", ()),
}


@pytest.mark.parametrize("kind", CHANGES)
async def test_changes_are_files_before_and_after(sandbox: Sandbox, root: Path, kind: str) -> None:
    line, files = CHANGES[kind]
    assert await run(sandbox, line) == Written(files)
    assert (root / "app.py").read_text() == "print('as it is')\n" and (root / "gone.txt").exists()


LEFT = {
    "a link": ("ln -s /etc/passwd evil", ("evil is a link",)),
    "a link in place of a file": ("ln -sf /etc/passwd app.py", ("app.py is a link",)),
    "another target": ("ln -sfn /etc/passwd link", ("link is a link that leads elsewhere now",)),
    "a deleted link": ("rm link", ("link was deleted, and is no plain file",)),
    "a pipe": ("mkfifo pipe", ("pipe is a pipe",)),
    "a mode": ("chmod +x app.py", ("app.py was made executable, which no edit does",)),
    "a name": ("echo x > \"$(printf 'a\\nb')\"", ("a\nb has a name that cannot be shown",)),
    "a large file": (
        "head -c 1000001 /dev/zero > large",
        ("large is larger than 1,000,000 bytes, or cannot be read",)),
    "an unreadable file": ("echo x > dark; chmod 000 dark", ()),
}  # fmt: skip


@pytest.mark.parametrize("kind", LEFT)
async def test_what_is_no_edit_is_left_and_said(sandbox: Sandbox, kind: str) -> None:
    line, left = LEFT[kind]
    found = await run(sandbox, line)
    if kind == "an unreadable file":  # who is user 0 reads it
        assert found.files or found.left == ("dark is larger than 1,000,000 bytes, or cannot be read",)
    else:
        assert (found.files, found.left) == ((), left)


async def test_folders_without_end_are_not_looked_into(sandbox: Sandbox) -> None:
    found = await run(
        sandbox, "echo x > a; i=0; while [ $i -lt 70 ]; do mkdir d; cd d; echo x > f; i=$((i+1)); done"
    )
    assert WrittenFile("a", None, b"x\n") in found.files and len(found.files) <= written_files.DEEPEST + 2


async def test_ignored_files_are_counted(sandbox: Sandbox) -> None:
    assert await run(sandbox, "echo x > a.log; mkdir -p build; echo x > build/b") == Written((), (), 2)


async def test_many_files_are_not_taken_over(sandbox: Sandbox) -> None:
    found = await run(
        sandbox, f"i=0; while [ $i -le {written_files.MOST_FILES} ]; do echo x > $i; i=$((i+1)); done"
    )
    assert found.files == () and "none is taken over" in found.left[0]


async def test_a_file_that_is_saved_meanwhile_is_left(sandbox: Sandbox, root: Path) -> None:
    line = "echo theirs > app.py; echo theirs > gone.txt; echo ready"
    command = Command(["/bin/sh", "-c", line], 60.0, {"PATH": os.environ["PATH"]}, keeps=True)

    def save(piece: bytes) -> bool:
        (root / "app.py").write_text("mine\n")
        return True

    await sandbox.run(command, save)
    found = await sandbox.written()
    assert [file.path for file in found.files] == ["gone.txt"]
    assert found.left == ("app.py was saved by somebody while the command ran: run it again",)


async def test_the_repository_is_left(root: Path) -> None:
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    sandbox = await _overlay(root)
    found = await run(
        sandbox,
        "echo x > .git/hooks/post-checkout; rm .git/HEAD; mkdir -p sub/.git; echo x > sub/.git/config",
    )
    await sandbox.remove()
    assert found.files == () and found.left == (
        ".git belongs to the repository",
        "sub/.git belongs to the repository",
    )
