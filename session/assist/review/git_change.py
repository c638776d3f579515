"""Reads the change to review from git: what is not committed, or what a range of commits changed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from context.disk.changes import Status
from context.disk.git import Git
from context.disk.git_changes import git_changes
from context.disk.repository import GitUnavailable
from context.disk.source import LARGEST, decode, is_inside, name_problem, read, shown_name
from session.assist.review.change import LeftOut, ReviewedChange, ReviewedFile, lines_in, reviewable
from session.base.text.sanitize import clean_line

_MISSING = "0"
_FILE_MODES = ("100644", "100755")
_OTHERS = {"120000": "a link", "160000": "a submodule"}
_GENERATED = ("linguist-generated", "linguist-vendored")
_SET = ("set", "true")
_PATHS_AT_ONCE = 500
_UNDER_WAY = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "index.lock")
"""What git has in its folder while it is in the middle of something."""


class RangeError(ValueError):
    """The range cannot be reviewed; the message says why."""


class NoRepositoryError(Exception):
    """Git cannot be asked here; the message says why."""


def uncommitted(root: Path) -> ReviewedChange:
    """The staged, unstaged and untracked changes below ``root`` against HEAD. Raises NoRepositoryError."""
    with _repository(root) as git:
        return _uncommitted(root, git)


def of_range(root: Path, wanted: str) -> ReviewedChange:
    """What the commits of ``wanted`` changed below ``root``: ``A..B``, ``A...B`` (since they parted), or the
    one commit ``A``. Raises RangeError and NoRepositoryError."""
    with _repository(root) as git:
        return _of_range(git, wanted)


@dataclass(frozen=True, slots=True)
class Committed:
    """The commit ``head``, empty where there is none, and the lines of files that it has."""

    head: str
    texts: Mapping[str, tuple[str, ...]]


def committed(root: Path, paths: Collection[str]) -> Committed | None:
    """What HEAD has of the files ``paths``; None in the middle of a merge or a rebase. Raises
    NoRepositoryError."""
    with _repository(root) as git:
        if any((git.folder / name).exists() for name in _UNDER_WAY):
            return None
        try:
            head = _commit(git, "HEAD")
        except RangeError:
            return Committed("", {})
        found = _contents(git, _head_blobs(git, sorted(paths)))
        lines = {path: lines_in(path, data) for path, data in found.items()}
        return Committed(head, {path: each for path, each in lines.items() if each is not None})


@contextmanager
def _repository(root: Path) -> Iterator[Git]:
    try:
        yield Git.open(root)
    except GitUnavailable as problem:
        raise NoRepositoryError(clean_line(str(problem))) from problem


def _uncommitted(root: Path, git: Git) -> ReviewedChange:
    found = git_changes(git)
    origins = {change.renamed_from or path: path for path, change in found.items()}
    tracked = [name for name, path in origins.items() if found[path].status is not Status.UNTRACKED]
    before = _contents(git, _head_blobs(git, tracked))
    files: list[ReviewedFile | LeftOut] = []
    for origin, path in origins.items():
        if found[path].status is Status.DELETED:
            files.append(LeftOut(path, "it was deleted"))
        else:
            files.append(reviewable(path, lines_in(origin, before.get(origin)), read(root, path)))
    return _change(files, git)


def _of_range(git: Git, wanted: str) -> ReviewedChange:
    old, new = _ends(git, wanted)
    out = git.run("diff-tree", "-r", "-z", "--raw", "--find-renames", "--end-of-options", old, new, "--", ".")
    entries = list(_entries(out, git.prefix))
    names = {name for _, mode, was, now in entries if mode in _FILE_MODES for name in (was, now)}
    blobs = _contents(git, {name: name for name in names if name.strip(_MISSING)})
    files: list[ReviewedFile | LeftOut] = []
    for path, mode, was, now in entries:
        if not now.strip(_MISSING):
            files.append(LeftOut(path, "it was deleted"))
        elif mode not in _FILE_MODES:
            files.append(LeftOut(path, _OTHERS.get(mode, "no file")))
        elif now not in blobs:
            files.append(LeftOut(path, "not a text of at most 1 MB"))
        else:
            files.append(reviewable(path, lines_in(path, blobs.get(was)), decode(path, blobs[now])))
    return _change(files, git)


def _ends(git: Git, wanted: str) -> tuple[str, str]:
    for dots in ("...", ".."):
        first, found, second = wanted.partition(dots)
        if found:
            old, new = _commit(git, first or "HEAD"), _commit(git, second or "HEAD")
            return (_base(git, old, new) if dots == "..." else old), new
    commit = _commit(git, wanted)
    return _parent(git, wanted, commit) or _empty_tree(git), commit


def _parent(git: Git, wanted: str, commit: str) -> str:
    """The first parent of a commit as it names it, empty for a first commit: of the last commit of a shallow
    clone, git itself says that it has none."""
    head = git.run("cat-file", "commit", commit).partition(b"\n\n")[0].decode("utf-8", "replace")
    parent = next((line.split()[1] for line in head.splitlines() if line.startswith("parent ")), "")
    if parent:
        try:
            _commit(git, parent)
        except RangeError:
            told = "what is before it is not in this clone (git fetch --deepen 1)"
            raise RangeError(f"{clean_line(wanted)}: {told}") from None
    return parent


def _commit(git: Git, name: str) -> str:
    try:
        out = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except GitUnavailable as problem:
        if problem.slow:
            raise
        raise RangeError(f"there is no commit {clean_line(name)!r} in this repository") from None
    return out.decode("ascii").strip()


def _base(git: Git, old: str, new: str) -> str:
    found = git.ask("merge-base", old, new)
    if found is None:
        raise RangeError("these commits have no common ancestor: name them with two dots")
    return found.decode("ascii").split()[0]


def _empty_tree(git: Git) -> str:
    return git.run("hash-object", "-t", "tree", "--stdin").decode("ascii").strip()


def _entries(out: bytes, prefix: str) -> Iterator[tuple[str, str, str, str]]:
    """Path below the folder, mode, old and new object of each changed file of ``git diff-tree --raw -z``."""
    fields = iter(os.fsdecode(out).split("\0"))
    for about in fields:
        if not about.startswith(":"):
            continue
        path = next(fields, "")
        _, mode, was, now, how = about.split(" ", 4)
        if how.startswith("R"):  # the old name came first
            path = next(fields, "")
        if path.startswith(prefix) and is_inside(path):
            yield path.removeprefix(prefix), mode, was, now


def _head_blobs(git: Git, paths: list[str]) -> dict[str, str]:
    """The objects of ``paths`` (below the folder) in HEAD."""
    if not paths or git.ask("rev-parse", "--verify", "--quiet", "HEAD") is None:
        return {}  # nothing is committed yet
    out = git.run("ls-tree", "-z", "HEAD", "--", *paths)
    blobs = {}
    for entry in os.fsdecode(out).split("\0"):
        about, tab, path = entry.partition("\t")
        if tab:
            blobs[path] = about.split(" ")[2]
    return blobs


def _contents(git: Git, names: Mapping[str, str]) -> dict[str, bytes]:
    found = git.blobs(names.values(), LARGEST)
    return {key: found[name] for key, name in names.items() if name in found}


def _change(files: Sequence[ReviewedFile | LeftOut], git: Git) -> ReviewedChange:
    generated = _said_generated(git, [each.path for each in files if isinstance(each, ReviewedFile)])
    found = [_checked(each, generated) for each in files]
    found.sort(key=lambda each: each.path)
    return ReviewedChange(
        tuple(each for each in found if isinstance(each, ReviewedFile) and each.changes),
        tuple(each for each in found if isinstance(each, LeftOut)),
    )


def _checked(each: ReviewedFile | LeftOut, generated: Collection[str]) -> ReviewedFile | LeftOut:
    if (why := name_problem(each.path)) is not None:
        return LeftOut(shown_name(each.path), why)
    return LeftOut(each.path, "the project says that it is generated") if each.path in generated else each


def _said_generated(git: Git, paths: Sequence[str]) -> set[str]:
    """Those of ``paths`` (below the folder) that ``.gitattributes`` call generated or vendored."""
    said: set[str] = set()
    for at in range(0, len(paths), _PATHS_AT_ONCE):
        some = paths[at : at + _PATHS_AT_ONCE]
        out = git.run("check-attr", "-z", *_GENERATED, "--", *some)
        fields = os.fsdecode(out).split("\0")
        said.update(path for path, value in zip(fields[::3], fields[2::3], strict=False) if value in _SET)
    return said
