"""The folders in which spark keeps its files: the XDG folders, and one state folder per project.

Nothing but the user's edits is ever written into a project. Source: the XDG Base Directory Specification
0.8; a relative path in one of its variables is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from session.base.storage.others import refuse_others


def _base(environ: Mapping[str, str], variable: str, *default: str) -> Path:
    value = environ.get(variable, "")
    base = Path(value) if Path(value).is_absolute() else Path.home().joinpath(*default)
    return base / "spark"


def config_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """The user's settings, credentials and themes."""
    return _base(environ, "XDG_CONFIG_HOME", ".config")


def state_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Journals and drafts, which must survive a restart."""
    return _base(environ, "XDG_STATE_HOME", ".local", "state")


def cache_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Files that can be made again, such as outlines."""
    return _base(environ, "XDG_CACHE_HOME", ".cache")


@dataclass(frozen=True, slots=True)
class ProjectFolders:
    """The folders of one project, and that of the settings. They may not exist yet."""

    state: Path
    cache: Path
    config: Path
    """The user's settings; no edit of a model may change any of these folders."""

    @property
    def ledger(self) -> Path:
        """The journal of landed hunks, shared by every command that lands edits in the project."""
        return self.state / "ledger"

    @property
    def sessions(self) -> Path:
        """One journal file per session."""
        return self.state / "sessions"

    @property
    def live(self) -> Path:
        """The sessions that are open in some process."""
        return self.state / "live"

    @property
    def error_log(self) -> Path:
        """The log of faults of spark itself."""
        return self.state / "errors.log"

    @property
    def usage(self) -> Path:
        """The usage of all projects, by month."""
        return self.shared_state / "usage"

    @property
    def shared_state(self) -> Path:
        """spark's state folder, which all projects share."""
        return self.state.parent.parent

    @property
    def own(self) -> tuple[Path, ...]:
        """All that is spark's own, of this and of other projects."""
        return self.config, self.shared_state, self.cache.parent.parent


def project_folders(root: Path, environ: Mapping[str, str] = os.environ) -> ProjectFolders:
    """The folders of the project at ``root``. Their names have its name and a hash of its full path."""
    resolved = root.resolve()
    digest = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:12]
    name = "".join(char if char.isalnum() or char in "-_." else "-" for char in resolved.name)[:40] or "root"
    unique = f"{name}-{digest}"
    return ProjectFolders(
        state=state_folder(environ) / "projects" / unique,
        cache=cache_folder(environ) / "projects" / unique,
        config=config_folder(environ),
    )


def mend_folders(environ: Mapping[str, str] = os.environ) -> None:
    """Take from others what they may do in spark's own folders, where an earlier version, another program or
    the umask left them open. Links are left as they are: what they lead to is the user's."""
    for folder in (config_folder(environ), state_folder(environ), cache_folder(environ)):
        try:
            about = folder.lstat()
        except OSError:
            continue  # it is not there, or whoever uses it says why it cannot be
        mode = stat.S_IMODE(about.st_mode)
        if stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid() and mode & 0o077:
            with contextlib.suppress(OSError):  # a read-only file system keeps the mode
                folder.chmod(mode & 0o700)


def private_folder(folder: Path) -> Path:
    """Make ``folder`` with its parents, readable only by its owner, and return it.

    Existing folders keep their permissions. Raises OSError if it cannot be made, and OthersFolderError where
    it is not the user's alone.
    """
    refuse_others(folder)
    # Path.mkdir(parents=True) would give the parents the permissions of the umask.
    for parent in (*reversed(folder.parents), folder):
        if not parent.is_dir():
            parent.mkdir(mode=0o700, exist_ok=True)
    return folder
