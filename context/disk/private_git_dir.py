"""Makes a git directory of spark's own, which git is given instead of the repository's.

Git runs what a repository's configuration and hooks folder name: monitors, filters, hooks, signature
checkers, transports and more with each version. It is therefore never pointed at either. A temporary
folder takes their place: links to the data (objects, refs, index, ignore rules), a copy of ``HEAD``, and
a configuration of allowed settings only.

The allowed settings are those that affect how files are compared and listed. None of them can name a program.
Values are checked too, as they are written into a configuration file.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from context.disk.repository import GitUnavailable, Repository, read_head

_OF_ALL_WORK_TREES = (
    "objects",
    "refs",
    "reftable",
    "packed-refs",
    "shallow",
    "info/exclude",
    "info/attributes",
)
_OF_THIS_WORK_TREE = ("index", "info/sparse-checkout")
_FOLDERS = frozenset({"objects", "refs", "reftable"})


_PREFIX = "spark-git-"
_LOCK = "lock"
_YOUNG = 60.0
"""Seconds in which a folder may still be without its lock."""


@cache
def remove_abandoned() -> None:
    """Remove, once a process, what killed processes of this user left in the temporary folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            about = folder.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.geteuid():
                continue
            if time.time() - about.st_mtime > _YOUNG and _is_abandoned(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # its owner has just removed it


def _is_abandoned(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


class PrivateGitDir:
    """A temporary git directory, deleted when this object is. Any thread may call its methods."""

    def __init__(self, repository: Repository) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # Held as long as this process lives, whatever ends it: a folder whose lock is free is abandoned.
        self._held = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        self._remove = weakref.finalize(self, _remove, self.path, self._held)
        self._repository = repository
        self._head = b""
        self._lock = threading.Lock()
        (self.path / "info").mkdir()
        (self.path / "git").mkdir()
        for name in _OF_ALL_WORK_TREES:
            self._link(repository.common_dir / name, name)
        for name in _OF_THIS_WORK_TREE:
            self._link(repository.git_dir / name, name)
        for shared in repository.git_dir.glob("sharedindex.*"):
            self._link(shared, shared.name)
        self.refresh()

    def configure(self, config: str, excludes_file: Path) -> None:
        """Write its settings, and link the user's ignore rules at git's default place for them."""
        (self.path / "config").write_text(config, "ascii")
        self._link(excludes_file, "git/ignore")

    def refresh(self) -> None:
        """Copy ``HEAD`` anew if it changed: git does not follow a link there. Raises GitUnavailable."""
        head = read_head(self._repository.git_dir)
        if head is None:
            raise GitUnavailable(f"there is no repository in {self._repository.git_dir}: HEAD is damaged")
        with self._lock:
            if head == self._head:
                return
            # Replaced in one step, since another thread's git may be reading it.
            prepared = self.path / "HEAD.new"
            try:
                prepared.write_bytes(head)
                prepared.replace(self.path / "HEAD")
            except OSError as problem:
                raise GitUnavailable(
                    f"the temporary folder {self.path} cannot be used: {problem}"
                ) from problem
            self._head = head

    def _link(self, real: Path, name: str) -> None:
        """Link to ``real``, which may appear later; not to a named pipe, on which git would wait."""
        wanted = real.is_dir() if name in _FOLDERS else real.is_file()
        if wanted or not os.path.lexists(real):
            (self.path / name).symlink_to(real)


_BOOLEAN = "|".join(("true", "false", "yes", "no", "on", "off", "0", "1"))
_TRUE = frozenset({"true", "yes", "on", "1"})
_COMPARING = {
    "core.autocrlf": f"{_BOOLEAN}|input",
    "core.checkstat": "default|minimal",
    "core.eol": "lf|crlf|native",
    "core.filemode": _BOOLEAN,
    "core.ignorecase": _BOOLEAN,
    "core.precomposeunicode": _BOOLEAN,
    "core.symlinks": _BOOLEAN,
    "core.trustctime": _BOOLEAN,
}
"""Settings that the user's own configuration may give as well."""
_REPOSITORY = _COMPARING | {
    "core.repositoryformatversion": "0|1",
    "core.sparsecheckout": _BOOLEAN,
    "core.sparsecheckoutcone": _BOOLEAN,
    "extensions.objectformat": "sha1|sha256",
    "extensions.refstorage": "files|reftable",
}
_HARMLESS_EXTENSIONS = frozenset(
    {"compatobjectformat", "noop", "noop-v1", "partialclone", "preciousobjects", "relativeworktrees"}
    | {"worktreeconfig"}
)
"""Extensions of the repository format that can be passed over, as spark only reads."""

_FIXED = {
    "core.bare": "false",
    "core.quotepath": "false",
    "core.untrackedcache": "false",
    "core.fsmonitor": "false",
}


def parse_settings(listed: bytes) -> dict[str, str]:
    """Parses the output of ``git config --list -z``. The last value of a key counts."""
    settings = {}
    for entry in listed.decode("utf-8", "surrogateescape").split("\0"):
        key, stands, value = entry.partition("\n")
        if key:
            settings[key] = value if stands else "true"
    return settings


def is_on(settings: Mapping[str, str], key: str) -> bool:
    """Whether a boolean setting is given and true."""
    return settings.get(key, "").lower() in _TRUE


def is_partial(repository: Mapping[str, str]) -> bool:
    """Whether objects may be missing from the repository, to be fetched when needed."""
    return "extensions.partialclone" in repository or any(key.endswith(".promisor") for key in repository)


def unknown_extension(repository: Mapping[str, str]) -> str | None:
    """An extension of the repository's format that spark does not know, if there is one."""
    if repository.get("core.repositoryformatversion", "0") == "0":
        return None
    for key in repository:
        section, _, name = key.partition(".")
        if section == "extensions" and key not in _REPOSITORY and name not in _HARMLESS_EXTENSIONS:
            return name
    return None


def allowed_config(user: Mapping[str, str], repository: Mapping[str, str]) -> str:
    """A configuration file of the settings that count: the user's, the repository's, and fixed ones."""
    settings = _allowed(user, _COMPARING) | _allowed(repository, _REPOSITORY) | _FIXED
    lines: list[str] = []
    for key, value in settings.items():
        section, _, name = key.partition(".")
        lines += [f"[{section}]", f"\t{name} = {value}"]
    return "\n".join([*lines, ""])


def excludes_file(user: Mapping[str, str], repository: Mapping[str, str], top: Path) -> Path:
    """The path of the user's own ignore rules; git's default for them where nothing is set."""
    home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
    named = repository.get("core.excludesfile") or user.get("core.excludesfile") or f"{home}/git/ignore"
    try:
        return top / Path(named).expanduser()
    except RuntimeError:  # It begins with the name of an unknown user.
        return top / named


def _allowed(given: Mapping[str, str], allowed: Mapping[str, str]) -> dict[str, str]:
    return {
        key: given[key]
        for key, values in allowed.items()
        if key in given and re.fullmatch(values, given[key], re.IGNORECASE | re.ASCII)
    }
