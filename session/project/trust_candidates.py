"""Every file of a project that would instruct the model or set something, for who asks without a session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from context.disk.repository import GitUnavailable, find_repository
from context.disk.source import INSTRUCTIONS_FILE, LINK, Source, Unread, read
from session.base.storage.folders import state_folder
from session.project.project_trust import Candidate, ProjectTrust, read_settings_file
from session.project.trust_answers import NAME, AnswerFile, Answers, read_answers
from session.project.workspace import Workspace


def trust_of(workspace: Workspace) -> tuple[ProjectTrust, list[Candidate]]:
    """The project's trust, and every file in it that would instruct the model or set something.

    Raises StoreError where the answers cannot be read.
    """
    file = AnswerFile(workspace.folders.state, workspace.root)
    trust = ProjectTrust(workspace.root, file, file.read())
    settings = read_settings_file(workspace.root)
    found = [trust.candidate(settings)] if isinstance(settings, Source) else []
    listed = frozenset(workspace.files())
    for path in _paths(workspace.root, listed):
        source = _read(workspace.root, path, listed)
        if isinstance(source, Source):
            found.append(trust.candidate(source, path))
    return trust, found


def trusted_projects() -> Iterator[tuple[str, Answers]]:
    """Every project folder in which something was agreed to, with the answers. Raises StoreError."""
    for file in sorted((state_folder() / "projects").glob(f"*/{NAME}")):
        found = read_answers(file)
        if found is not None and found[1].agreed():
            yield found


def _paths(root: Path, listed: frozenset[str]) -> list[str]:
    """Where instructions may be: in the repository's folders down to the root, the outermost first, whether
    or not git ignores them, and in every folder below as git lists it."""
    try:
        levels = find_repository(root).prefix.count("/")
    except GitUnavailable:
        levels = 0
    outer = [f"{'../' * level}{INSTRUCTIONS_FILE}" for level in range(levels, -1, -1)]
    inner = sorted(path for path in listed if path.endswith(f"/{INSTRUCTIONS_FILE}"))
    return outer + inner


def _read(root: Path, path: str, listed: frozenset[str]) -> Source | Unread:
    """The file; a link is followed to a file that the project lists, as in a session."""
    source = read(root, path)
    if isinstance(source, Unread) and source.why == LINK:
        inside = os.path.relpath(os.path.realpath(root / path), root)
        return read(root, inside) if inside in listed else source
    return source
