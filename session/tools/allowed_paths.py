"""Checks the paths a model names: inside the project, also through links, and allowed to be shown."""

from __future__ import annotations

import os
import posixpath
from dataclasses import dataclass

from context.disk.source import Source, Unread, name_problem
from context.project.snapshot import ReadsProject, Snapshot
from context.text.secrets import is_secret_file

_LIKE = 3
"""Most files of the same name that are suggested for a path that does not exist."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A path that cannot be used; ``why`` is a sentence for the model."""

    why: str


def resolve(project: ReadsProject, given: str) -> str | Refusal:
    """``given`` relative to the project's root, with links followed; the root itself is ``.``."""
    path = given.strip().removeprefix("@")
    if problem := name_problem(path):
        return Refusal(f"That is no path of this project: {problem}.")
    if posixpath.isabs(path):
        path = posixpath.relpath(path, project.root.as_posix())
    path = posixpath.normpath(path or ".")
    outside = Refusal(f"{path} is outside the project; paths are relative to the project's root.")
    if path == ".." or path.startswith("../"):
        return outside
    try:
        real = os.path.relpath(os.path.realpath(project.root / path), project.root)
    except (OSError, ValueError):
        return Refusal(f"{path} is no path.")
    if real == ".." or real.startswith("../"):
        return Refusal(f"{path} leads outside the project.")
    return real


def read_file(project: ReadsProject, given: str) -> Source | Refusal:
    """The file that a model names, by the window's rules: not ignored, secret, binary or too large.

    Blocks on the disk, and on git for a file that the snapshot does not have, so it runs in a thread.
    """
    path = resolve(project, given)
    if isinstance(path, Refusal):
        return path
    if is_secret_file(path):
        return Refusal(f"{path} is a secret file: it is never shown.")
    if (project.root / path).is_dir():
        return Refusal(f"{path} is a folder; use list to see what is in it.")
    snapshot = known(project, path)
    if path not in snapshot.paths:
        return _absent(project, snapshot, path)
    source = snapshot.read(path)
    if isinstance(source, Unread):
        return _absent(project, snapshot, path) if source.gone else Refusal(f"{path}: {source.why}.")
    return source


def known(project: ReadsProject, path: str) -> Snapshot:
    """The newest snapshot, updated if ``path`` is on disk and not yet in it."""
    snapshot = project.snapshot
    if path not in snapshot.paths and (project.root / path).is_file():
        snapshot = project.update([path])
    return snapshot


def _absent(project: ReadsProject, snapshot: Snapshot, path: str) -> Refusal:
    if os.path.lexists(project.root / path):
        return Refusal(f"{path} is ignored by this project (git leaves it out), so it is not shown.")
    name = posixpath.basename(path)
    like = [other for other in snapshot.paths if posixpath.basename(other) == name][:_LIKE]
    hint = f" Of that name there is {', '.join(like)}." if like else " Use list or search to find it."
    return Refusal(f"There is no file {path}.{hint}")
