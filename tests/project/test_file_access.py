"""The project's files are opened, made, moved and deleted in one place: ``edits/files``, by descriptor.

Every other file (or room) of ``edits`` and ``session`` that calls the file system is listed here with what
it opens. A new entry must not be about the user's project: use :class:`edits.files.tree.Tree` for that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.project.source import code_with

PACKAGES = ("edits", "session")

CHOKE_POINT = {
    "edits/files/path_jail.py": "opens folders and files by descriptor",
    "edits/files/durable.py": "replaces and overwrites a file of an opened folder",
    "edits/files/tree.py": "the project's files",
    "edits/files/replacing.py": "replaces files of spark's own",
}
OTHERS = {
    "edits/ledger/blobs.py": "the ledger",
    "edits/ledger/hunk_ids.py": "the ledger",
    "edits/ledger/journal_file.py": "the ledger",
    "edits/ledger/ledger.py": "the ledger",
    "session/checks/known_checks.py": "the project's manifests, to read only, and what the user agreed to",
    "session/race/kept_race.py": "the attempts of the last race, in the state folder",
    "session/race/cluster/worker.py": "copies of projects, in a worker's own folder",
    "session/ways/": "copies of past commits, in a folder that was just made",
    "session/setup/doctor_setup.py": "a file without a name in the state folder: is there room",
    "session/models/engine/model.py": "local models",
    "session/models/engine/model_store.py": "local models",
    "session/models/engine/pull.py": "local models",
    "session/partner/demo.py": "a sample project in a folder that was just made",
    "session/partner/load_script.py": "a script that the user names",
    "session/partner/server/scripted_model.py": "a script of spark's own",
    "session/project/locks.py": "the project's locks, in the state folder",
    "session/project/prompts.py": "drafts and past prompts, in the state folder",
    "session/project/unsaved_texts.py": "texts that are not saved yet, in the state folder",
    "session/assist/side_requests.py": "the answer about requests that cost money, in the state folder",
    "session/assist/review/open_findings.py": "the findings that the user dismissed, in the state folder",
    "session/checks/sandbox/": "copies of the project, made for commands, and what these wrote there",
    "session/tools/command/rules.py": "the user's rules for commands, in the state folder",
    "session/models/token_ratios.py": "the measured counts of tokens, in the state folder",
    "session/models/rows/": "spark's own rows, by a contributor's command",
    "session/setup/default_model.py": "the model that was found for each server's address",
    "session/record/sharing/": "locks and sockets of open sessions, in the state folder",
    "session/base/storage/folders.py": "the state folder, and /proc",
    "session/base/storage/private_files.py": "the state folder",
    "session/tools/command/supervisor.py": "/dev/null and /proc",
    "session/tools/search.py": "temporary files without a name",
    "session/project/trust.py": "the answers about the project's instructions, in the state folder",
    "session/record/usage_log.py": "the log of usage, in the state folder",
}

_OS = {
    *("open", "rename", "renames", "replace", "unlink", "remove", "rmdir", "removedirs", "mkdir", "makedirs"),
    *("link", "symlink", "truncate", "chmod", "chown", "utime", "mkfifo", "mknod", "setxattr"),
}
_PATH = {
    *("write_text", "write_bytes", "read_text", "read_bytes", "unlink", "rmdir", "mkdir", "touch"),
    *("symlink_to", "hardlink_to", "chmod", "rename"),
}
_MODES = frozenset("rwxabt+")
# A Tree, and the data of a package.
_NOT_A_PATH = re.compile(r"(^|\.)_?tree$|^Tree\(|^resources\.files\(|^Path\(__file__\)")


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _touches_files(node):
            yield node


def _touches_files(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(id="open"):
            return True
        case ast.Attribute(value=ast.Name(id="os"), attr=name):
            return name in _OS
        case ast.Attribute(value=ast.Name(id="shutil"), attr=name):
            return name in ("copy", "copy2", "copyfile", "copytree", "move", "rmtree")
        case ast.Attribute(value=ast.Name(id="tempfile")):
            return True
        case ast.Attribute(attr="open"):
            mode = call.args[0] if call.args else None
            return isinstance(mode, ast.Constant) and bool(mode.value) and _MODES.issuperset(str(mode.value))
        case ast.Attribute(attr="replace"):  # `str.replace` takes two arguments, `Path.replace` one
            return len(call.args) == 1 and not call.keywords
        case ast.Attribute(value=value, attr=name) if name in _PATH:
            return not _NOT_A_PATH.search(ast.unparse(value))
    return False


def found() -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for package in PACKAGES:
        for file, code in code_with(package, {"open", "replace", "shutil", "tempfile", *_OS, *_PATH}):
            if lines := [call.lineno for call in calls(code)]:
                places[file] = lines
    return places


def test_project_files_are_touched_in_one_place() -> None:
    allowed = (*CHOKE_POINT, *OTHERS)
    places = found()
    strangers = {file: lines for file, lines in places.items() if not file.startswith(allowed)}
    assert strangers == {}, "open a project's files with edits.files.tree.Tree, or say here what is opened"
    assert [name for name in allowed if not any(file.startswith(name) for file in places)] == []


@pytest.mark.parametrize(
    "line",
    [
        "open('a')",
        "path.open('rb')",
        "path.write_text('x')",
        "os.replace(a, b)",
        "temporary.replace(path)",
        "target.real.read_bytes()",
        "shutil.move(a, b)",
        "tempfile.mkstemp()",
    ],
)
def test_such_a_line_is_found(line: str) -> None:
    assert list(calls(ast.parse(line)))


@pytest.mark.parametrize(
    "line", ["text.replace('a', 'b')", "tree.read_text('a')", "parser.open(path, kind)", "os.stat(a)"]
)
def test_such_a_line_is_not(line: str) -> None:
    assert not list(calls(ast.parse(line)))
