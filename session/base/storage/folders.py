"""The folders in which spark keeps its files: the XDG folders, and one state folder per project.

Nothing but the user's edits is ever written into a project. Source: the XDG Base Directory Specification
0.8; a relative path in one of its variables is ignored.

A folder that another user owns or may write is found, since that user could read or replace what spark keeps
there. It counts with all that are above it, since whoever may write one of these can put another in its
place.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_OVERFLOW = 65_534
"""Who owns what belongs to no user of a user namespace (user_namespaces(7))."""
_ALL = ["0", "0", "4294967295"]


class OthersFolderError(OSError):
    """A folder that is not the user's alone; ``strerror`` says whose it is and what to do."""


def refuse_others(folder: Path) -> None:
    """Raise OthersFolderError where another user owns ``folder`` or one above it, or may write there.

    Root is no other user. In a folder with the sticky bit, others can replace only what is their own.
    """
    for path in _with_parents(folder):
        try:
            about = path.lstat()
        except OSError:
            continue  # it is made, or whoever makes it says why it cannot be
        if stat.S_ISLNK(about.st_mode):
            if not _is_ours(about.st_uid):
                raise _refusal(path, f"is a link of the user {_user(about.st_uid)}", "remove it")
        elif not _is_ours(about.st_uid):
            mend = f"make it yours with: sudo chown {os.geteuid()} {path}"
            raise _refusal(path, f"belongs to the user {_user(about.st_uid)}", mend)
        elif stat.S_ISDIR(about.st_mode) and not about.st_mode & stat.S_ISVTX:
            if about.st_mode & stat.S_IWOTH:
                raise _refusal(path, "can be written by every user", f"close it with: chmod o-w {path}")
            if about.st_mode & stat.S_IWGRP and _has_others(about.st_gid):
                raise _refusal(path, "can be written by a group of users", f"close it with: chmod g-w {path}")


def _with_parents(folder: Path) -> Iterator[Path]:
    """The folder and all above it, as they are written and where links lead."""
    real = folder.resolve()
    yield from dict.fromkeys((folder, *folder.parents, real, *real.parents))


def _refusal(path: Path, why: str, mend: str) -> OthersFolderError:
    return OthersFolderError(errno.EPERM, f"it {why}; {mend}", str(path))


def _is_ours(user: int) -> bool:
    return user in (0, os.geteuid()) or (user == _OVERFLOW and _is_in_namespace())


@lru_cache(maxsize=1)
def _is_in_namespace() -> bool:
    """Whether this process sees only some of the machine's users: the others all look like one."""
    try:
        return Path("/proc/self/uid_map").read_text("ascii").split() != _ALL
    except OSError:
        return False


@lru_cache(maxsize=64)
def _has_others(group: int) -> bool:
    """Whether a group may have members besides this user and root: many systems give each user a group of the
    same name."""
    import grp

    if group == 0:
        return False
    try:
        found = grp.getgrgid(group)
    except KeyError:
        return group != os.getegid()
    me = _user(os.geteuid())
    return found.gr_name != me or bool(set(found.gr_mem) - {me, "root"})


def _user(user: int) -> str:
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)


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
