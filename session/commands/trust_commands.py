"""Asking whether a project's files may instruct the model or set something, and the user's answer.

Every such file of a project is found as well for who asks without a session.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from context.disk.repository import GitUnavailable, find_repository
from context.disk.source import (
    INSTRUCTIONS_FILE,
    LINK,
    Source,
    Unread,
    instructions_of,
    is_instructions,
    read,
)
from context.project.snapshot import Snapshot
from context.window.preamble import of_root, outer_instructions, read_instructions
from session.base.events import (
    Event,
    FileSaved,
    FilesChanged,
    HunkLanded,
    InstructionsUnused,
    Notice,
    TrustAnswered,
    TrustAsked,
)
from session.base.storage.folders import state_folder
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.project.indexing import ProjectReading
from session.project.trust import (
    NAME,
    SETTINGS_FILE,
    AnswerFile,
    Answers,
    Candidate,
    ProjectTrust,
    Standing,
    read_answers,
    read_settings_file,
)
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder

NOT_USED = "{files}: not used, since nobody has agreed to what {they} here (spark trust shows and asks)"
"""The line where nobody can be asked."""
NEXT_START = f"{SETTINGS_FILE} is used from the next start on"


class TrustCommands:
    """The question about this project's files. Where nobody can be asked, one line tells that they are not
    used; nothing is ever trusted without the user's word."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        InstructionsUnused,
        FilesChanged,
        HunkLanded,
        FileSaved,
    )
    """The events that :meth:`take` looks at."""

    def __init__(
        self,
        trust: ProjectTrust,
        reading: ProjectReading,
        recorder: Recorder,
        tasks: BackgroundTasks,
        *,
        attended: bool,
    ) -> None:
        self._trust = trust
        self._reading = reading
        self._recorder = recorder
        self._tasks = tasks
        self._attended = attended
        self._near: tuple[str, ...] = ()
        """Instructions of folders that a request was about."""
        self._later: set[tuple[str, str]] = set()
        """Contents about which the user does not want to be asked in this session."""
        self._told: set[str] = set()
        self._looking = asyncio.Lock()
        self.asked: tuple[Candidate, ...] = ()
        """What the user is asked about now, with what the files say."""

    def start(self) -> None:
        """Ask as soon as the project's files are known. Where nobody can be asked, tell of its settings now,
        and of instructions when a request goes out without them."""
        if self._trust.whole:
            return
        if self._attended:
            self._tasks.start(self._first(), "looking for the project's instructions")
        else:
            self._tell(self._settings())

    def take(self, event: Event) -> None:
        """Look again when a file changes that was, or could be, agreed to."""
        match event:
            case InstructionsUnused(paths=paths):
                self._unused(paths)
                return
            case FilesChanged(paths=paths):
                pass
            case HunkLanded(path=path, moved_to=moved):
                paths = (path, moved or "")
            case FileSaved(path=path):
                paths = (path,)
            case _:
                return
        if any(is_instructions(path) or path.rpartition("/")[2] == SETTINGS_FILE for path in paths):
            self.look()

    def _unused(self, paths: tuple[str, ...]) -> None:
        if not self._attended:
            self._tell(self._instructions(self._reading.snapshot, paths))
        elif set(paths) - set(self._near):
            self._near = tuple(dict.fromkeys((*self._near, *paths)))
            self.look()

    def look(self) -> None:
        """Look at the files again, in the background."""
        if self._attended and not self._trust.whole:
            self._tasks.start(self._look(), "looking at the project's instructions")

    async def answer(self, *, agreed: bool, seen: tuple[Candidate, ...] | None = None) -> str:
        """Keep the user's answer about what is asked; a line for the user, or nothing.

        ``seen`` is what the user was shown: what changed meanwhile is not answered but asked again. Raises
        StoreError where it cannot be kept.
        """
        answered = self.asked if seen is None else seen
        if not answered:
            return "nothing is asked about this project's files"
        contents = {each.path: each.digest for each in answered}
        await asyncio.to_thread(self._trust.answer, contents, agreed=agreed)
        self._ask(())
        self._recorder.publish(TrustAnswered(paths=tuple(map(clean_line, contents)), agreed=agreed))
        self.look()
        return NEXT_START if agreed and SETTINGS_FILE in contents else ""

    async def ask_again(self) -> str:
        """Ask about every file that is not trusted, also those that were declined. Returns a line for the
        user where there is none."""
        self._later.clear()
        found = await asyncio.to_thread(self._candidates, self._reading.snapshot)
        wanted = tuple(each for each in found if each.standing is not Standing.TRUSTED)
        self._ask(wanted)
        if wanted:
            return ""
        return "all of it is trusted already" if found else "this project has no AGENTS.md and no .spark.toml"

    def later(self) -> None:
        """Ask no more in this session about what is asked now; it is not used meanwhile."""
        self._later |= {(each.path, each.digest) for each in self.asked}
        self._ask(())

    async def _first(self) -> None:
        await self._reading.known.wait()
        await self._look()

    async def _look(self) -> None:
        async with self._looking:
            found = await asyncio.to_thread(self._candidates, self._reading.snapshot)
        later = self._later
        self._ask(tuple(each for each in found if each.unanswered and (each.path, each.digest) not in later))

    def _candidates(self, snapshot: Snapshot) -> list[Candidate]:
        """The files as they are now. Read in a thread."""
        paths = dict.fromkeys((*outer_instructions(snapshot), *self._near))
        return [*self._settings(), *self._instructions(snapshot, paths)]

    def _settings(self) -> list[Candidate]:
        source = read_settings_file(self._trust.root)
        return [self._trust.candidate(source)] if isinstance(source, Source) else []

    def _instructions(self, snapshot: Snapshot, paths: Iterable[str]) -> list[Candidate]:
        read = ((path, read_instructions(snapshot, path)) for path in paths)
        return [self._trust.candidate(source, path) for path, source in read if isinstance(source, Source)]

    def _ask(self, wanted: tuple[Candidate, ...]) -> None:
        if wanted == self.asked:
            return
        self.asked = wanted
        paths = tuple(clean_line(each.path) for each in wanted)
        changed = any(each.standing is Standing.CHANGED for each in wanted)
        self._recorder.publish(TrustAsked(paths=paths, changed=changed))

    def _tell(self, found: list[Candidate]) -> None:
        """Tell, once for each, which files are not used."""
        untold = [each.path for each in found if each.unanswered and each.path not in self._told]
        if untold:
            self._told.update(untold)
            text = NOT_USED.format(
                files=clean_line(", ".join(untold)), they="it says" if len(untold) == 1 else "they say"
            )
            self._recorder.publish(Notice(level="warning", text=text))


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
    above = [f"{'../' * level}{INSTRUCTIONS_FILE}" for level in range(levels, 0, -1)]
    folders = {path.rpartition("/")[0] for path in listed if is_instructions(path)} - {""}
    inner = {instructions_of(folder, listed.__contains__) for folder in folders} - {""}
    root_files = of_root(root)
    return [*above, *root_files, *sorted(inner - set(root_files))]


def _read(root: Path, path: str, listed: frozenset[str]) -> Source | Unread:
    """The file; a link is followed to a file that the project lists, as in a session."""
    source = read(root, path)
    if isinstance(source, Unread) and source.why == LINK:
        inside = os.path.relpath(os.path.realpath(root / path), root)
        return read(root, inside) if inside in listed else source
    return source
