"""Finds folders that another user owns or may write, and so could read or replace what spark keeps there.

A folder counts with all that are above it, since whoever may write one of these can put another in its place.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
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
