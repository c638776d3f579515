"""A project folder with the ledger of its hunks and the landing that works on it.

Every command that lands or undoes edits opens the same workspace for the same folder, so that a hunk can
be undone whichever of them landed it. Landings that a killed process left open are settled, and the user is
told about those that cannot be.

Of files that are not in the work tree, git is asked for the ends of a new one's lines and for what is left
out, and only where a file is new or missing. Without git or a repository there are no rules. Source:
gitattributes(5) for ``text``, ``eol`` and ``core.autocrlf``; git-ls-files(1) for the mark of entries that a
sparse checkout leaves out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from session.base.storage.folders import (
    OthersFolderError,
    ProjectFolders,
    mend_folders,
    private_folder,
    project_folders,
    refuse_others,
)
from session.base.text.sanitize import clean_line

if TYPE_CHECKING:
    from context.disk.git import Git
    from edits.landing import Landing
    from edits.ledger.ledger import Ledger
    from edits.placing.anchors import Symbol
    from session.base.events import Notice


CRLF, LF = "\r\n", "\n"


def line_ending(attributes: Mapping[str, str], autocrlf: str, eol: str) -> str | None:
    """The line ending that git gives a file in the work tree; None where it leaves it as it is.

    ``attributes`` holds ``text`` and ``eol`` of the file as ``git check-attr`` prints them; ``autocrlf`` and
    ``eol`` are the values of ``core.autocrlf`` and ``core.eol``, empty where they are not set.
    """
    text, named = attributes.get("text", "unspecified"), attributes.get("eol", "unspecified")
    if text == "unset":
        return None
    if named in ("crlf", "lf"):
        return CRLF if named == "crlf" else LF
    autocrlf = autocrlf.lower()
    if autocrlf in ("true", "yes", "on", "1"):
        return CRLF
    if text in ("set", "auto"):
        return CRLF if autocrlf != "input" and eol.lower() == "crlf" else LF
    return LF if autocrlf == "input" else None


class GitRules:
    """The rules of the project at ``root``. Called in the edit thread."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def _git(self) -> Git | None:
        from context.disk.git import Git, GitUnavailable

        try:
            return Git.open(self._root)
        except GitUnavailable:
            return None

    def newline(self, path: str) -> str | None:
        """The line ending of a new file; None where nothing is said."""
        printed = self._asked(lambda git: git.run("check-attr", "-z", "text", "eol", "--", path))
        fields = printed.decode("utf-8", "replace").split("\0")
        attributes = dict(zip(fields[1::3], fields[2::3], strict=False))
        return line_ending(attributes, self._setting("core.autocrlf"), self._setting("core.eol"))

    def left_out(self, path: str, *, there: bool) -> str:
        """Why git leaves a file of its index out of the work tree; empty for others."""
        if there and (self._git is None or not self._git.may_skip()):
            return ""
        listed = self._asked(lambda git: git.run("ls-files", "-t", "-z", "--", path))
        if not listed.startswith(b"S "):
            return ""
        if there:
            return (
                f"{path} is marked skip-worktree in git, which would not see the edit; "
                f"`git update-index --no-skip-worktree '{path}'` takes the mark away"
            )
        folder = path.rpartition("/")[0] or path
        return (
            f"{path} is in git, but a sparse checkout leaves it out of this folder; "
            f"`git sparse-checkout add '{folder}'` brings it"
        )

    def _setting(self, name: str) -> str:
        return (
            self._asked(lambda git: git.ask("config", "--get", name) or b"")
            .decode("utf-8", "replace")
            .strip()
        )

    def _asked(self, ask: Callable[[Git], bytes]) -> bytes:
        """The answer of git; nothing where it gives none."""
        from context.disk.git import GitUnavailable

        if self._git is None:
            return b""
        try:
            return ask(self._git)
        except GitUnavailable:
            return b""


LOST = "{hunk}: spark was stopped while writing {path}, and the file has changed since; it is left as it is"
DAMAGED = (
    "the record of past edits is damaged: {count} of its lines were set aside in {file}; "
    "edits that they are about cannot be undone, all others can"
)

LONGEST_WAIT = 2.0
"""Seconds to wait for another process that uses the ledger. Later landings settle what is open as well."""


class WorkspaceError(Exception):
    """The folder cannot be worked in; the message says why."""


class NoFolderError(WorkspaceError):
    """There is no such folder, or it cannot be opened."""


class Workspace:
    """An open project folder. ``root`` has no links in it. The ledger and the landing are made when they
    are first asked for."""

    def __init__(self, root: Path, folders: ProjectFolders) -> None:
        self.root = root
        self.folders = folders
        self.files: Callable[[], Iterable[str]] = self._listed
        """Lists the project's files, relative to the root. A session replaces it by what it has read."""

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger of the project's hunks."""
        from edits.ledger.ledger import Ledger

        return Ledger(self.folders.ledger)

    @cached_property
    def landing(self) -> Landing:
        """Lands hunks in the project."""
        return self._make_landing()

    def rehearsal(self) -> Landing:
        """A landing for dry runs that build on each other, under the guards that hold now."""
        made = self._make_landing()
        made.protection = self.landing.protection
        return made

    def _make_landing(self) -> Landing:
        from edits.guards.off_limits import OffLimits
        from edits.landing import Landing

        off_limits = OffLimits(self.folders.own, Path.home())
        return Landing(
            self.root,
            self.ledger,
            files=self._nameable,
            symbols=_symbols,
            checker=_checker,
            off_limits=off_limits,
            git=GitRules(self.root),
        )

    def _nameable(self) -> Iterable[str]:
        """The files that a message to the model may name: none that is ignored or holds secrets."""
        from context.text.secrets import is_secret_file

        return (path for path in self.files() if not is_secret_file(path))

    def _listed(self) -> Iterable[str]:
        from context.disk.file_list import list_git, list_walk
        from context.disk.git import Git, GitUnavailable

        try:
            return list_git(Git.open(self.root)).files
        except GitUnavailable:
            return list_walk(self.root).files


def open_workspace(folder: Path, environ: Mapping[str, str] = os.environ) -> Workspace:
    """Open the project at ``folder`` and make its state folder, private to the user.

    Raises WorkspaceError where there is no such folder, or where no state can be kept.
    """
    try:
        root = folder.resolve(strict=True)
    except (OSError, RuntimeError, ValueError) as problem:
        raise NoFolderError(f"{folder} cannot be opened: {_reason(problem)}") from problem
    if not root.is_dir():
        raise NoFolderError(f"{folder} is not a folder")
    folders = project_folders(root, environ)
    mend_folders(environ)
    try:
        for own in folders.own:
            refuse_others(own)
        private_folder(folders.ledger)
    except OthersFolderError as problem:
        raise WorkspaceError(
            f"spark keeps nothing in {problem.filename}, since {problem.strerror}; "
            "or point XDG_STATE_HOME, XDG_CONFIG_HOME and XDG_CACHE_HOME at folders of your own"
        ) from problem
    except OSError as problem:
        raise WorkspaceError(
            f"the state folder {folders.state} cannot be made ({problem.filename}: {problem.strerror}); "
            "point XDG_STATE_HOME at a folder that can be written"
        ) from problem
    return Workspace(root, folders)


def settle_interrupted(ledger: Ledger) -> list[Notice]:
    """Settle the landings that are open in ``ledger``. Returns a warning for each hunk that can be neither
    finished nor undone, and one for damaged records; or one that says who keeps the ledger. Raises OSError if
    the ledger cannot be read or written."""
    from edits.ledger.entry import State
    from edits.ledger.shared_lock import LockHeldError
    from session.base.events import Notice

    known = ledger.set_aside
    try:
        recovered = ledger.recover(LONGEST_WAIT)
    except LockHeldError as held:
        return [Notice(level="warning", text=clean_line(f"edits have to wait: {held.message}"))]
    lost = [left for left in recovered if left.state is State.LOST]
    told = [LOST.format(hunk=left.hunk, path=left.path) for left in lost]
    damaged = ledger.set_aside - known
    if damaged:
        told.append(DAMAGED.format(count=damaged, file=ledger.damaged_file))
    return [Notice(level="warning", text=clean_line(text)) for text in told]


def _symbols(path: str, text: str) -> Sequence[Symbol]:
    """The definitions in a file, asked for only where they decide a hunk's place."""
    from context.index.outliner import OUTLINER

    return OUTLINER.outline(path, text).symbols


def _checker(path: str, text: str) -> str | None:
    """What is wrong with a file's text, asked for only where a hunk's place is not certain."""
    from context.code.parsing import parse_error

    return parse_error(path, text)


def _reason(problem: Exception) -> str:
    if isinstance(problem, ValueError):
        return "its name holds a character that no path has"
    return (isinstance(problem, OSError) and problem.strerror) or "its links run in a circle"
