"""Runs git so that nothing in a repository can run a program, prompt, lock or block.

This is the only place where git is run on a user's project. Git sees a private git directory instead of
the repository's own (:mod:`context.disk.private_git_dir`), so that no program named by a repository is run,
whatever a later version of git may support. ``docs/security.md`` says what is defended and how.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from time import monotonic

from context.disk.git_process import (
    MOST_OUTPUT,
    TooMuchError,
    communicate,
    find_pipe,
    limit_memory,
    names_at_least,
)
from context.disk.private_git_dir import (
    PrivateGitDir,
    allowed_config,
    excludes_file,
    is_on,
    is_partial,
    parse_settings,
    unknown_extension,
)
from context.disk.programs import find_program, plain_environment
from context.disk.repository import GitUnavailable, Repository, find_repository, owner_elsewhere, read_regular

__all__ = ["Git", "GitUnavailable"]

TIMEOUT = 20.0
"""Seconds a git command may take before it counts as failed."""
HELPFUL = 5.0
"""Seconds for what only helps to find files: past commits, and what a branch changed. One small commit can
stand for names without end, and the project is not complete before these are read or given up."""
_LOOKING = 3.0
"""Seconds to look at the trees of a commit that git is slow to list."""
_MOST_NAMES = 10_000_000
"""The most names that a commit may hold. The largest known repositories have a third of it."""
_LARGEST_TREE = 1_000_000
"""The largest folder in bytes that is looked at."""
_PATIENCE = 2.0
"""Seconds after which it is looked for what git may be waiting for."""
_LARGEST_CONFIG = 1_000_000
"""Largest size of a repository's configuration in bytes."""


class Git:
    """Read-only access to the repository of the folder ``root``. Use :meth:`open` to make one."""

    def __init__(self, root: Path, repository: Repository, private: PrivateGitDir, *, partial: bool) -> None:
        self.root = root
        self.prefix = repository.prefix
        """The path of ``root`` inside the work tree: empty, or with a ``/`` at its end."""
        self.folder = repository.git_dir
        """Where git keeps this work tree's HEAD and index."""
        self.partial = partial
        """Whether old contents may be missing from the repository; they are never fetched."""
        self.environment = _environment(private.path) | {"GIT_WORK_TREE": str(repository.top)}
        """The environment for :meth:`command`."""
        self._data = repository.data
        self._private = private
        self._running: set[subprocess.Popen[bytes]] = set()
        self._starting = threading.Lock()
        self._stopped = False

    @classmethod
    def open(cls, root: Path) -> Git:
        """Find the repository of ``root``. Raises GitUnavailable."""
        try:
            return cls._open(root)
        except OSError as problem:
            raise GitUnavailable(f"git cannot be used here: {problem}") from problem

    @classmethod
    def _open(cls, root: Path) -> Git:
        repository = find_repository(root)
        private = PrivateGitDir(repository)
        user = _user_settings(private, root)
        own = _repository_settings(repository, private, root)
        bare = is_on(own, "core.bare") or "core.bare" not in own
        if (owner := owner_elsewhere(repository, own.get("core.worktree"), bare=bare)) is not None:
            raise GitUnavailable(f"the repository that {repository.top / '.git'} leads to is that of {owner}")
        if is_on(own, "core.bare") and repository.git_dir == repository.common_dir:
            raise GitUnavailable("the repository has no work tree", expected=True)
        if (extension := unknown_extension(own)) is not None:
            raise GitUnavailable(f"the repository needs the extension {extension!r}, which spark cannot read")
        private.configure(allowed_config(user, own), excludes_file(user, own, repository.top))
        return cls(root, repository, private, partial=is_partial(own))

    def run(
        self, *arguments: str, stdin: bytes = b"", seconds: float | None = None, look: bool = True
    ) -> bytes:
        """The standard output of a git command in ``root``, which may take ``seconds``, and at most
        :data:`TIMEOUT`. With ``look``, spark looks for what holds up a slow command while it runs. Raises
        GitUnavailable when it fails."""
        self._private.refresh()
        begun = monotonic()
        try:
            return _call(
                self.root,
                self.environment,
                arguments,
                stdin,
                seconds=TIMEOUT if seconds is None else min(seconds, TIMEOUT),
                look=lambda: self._look(arguments) if look else None,
                started=self._started,
            )
        except GitUnavailable as problem:
            problem.slow = monotonic() - begun > min(_PATIENCE, TIMEOUT)
            # The user knows the repository's own folder, and not the private one.
            problem.args = (str(problem).replace(str(self._private.path), str(self.folder)),)
            raise

    def ask(self, *arguments: str, stdin: bytes = b"", seconds: float | None = None) -> bytes | None:
        """Like :meth:`run`; None where git answers no. Raises GitUnavailable when it gives no answer."""
        try:
            return self.run(*arguments, stdin=stdin, seconds=seconds)
        except GitUnavailable as problem:
            if problem.silent:
                return None
            raise

    def may_skip(self) -> bool:
        """Whether the index may have files that git skips in the work tree. One of the version 2, the usual
        one, has none (gitformat-index(5))."""
        return read_regular(self.folder / "index", 8, begins=True) != b"DIRC\0\0\0\2"

    def _look(self, arguments: tuple[str, ...]) -> None:
        """Where git takes long, look at what it may be waiting for or lost in. Raises GitUnavailable."""
        if (pipe := find_pipe(self.root, self._data)) is not None:
            raise GitUnavailable(f"cannot be used here: {pipe} is a named pipe")
        if arguments[0] == "status" and self._names_of_head() > _MOST_NAMES:
            raise GitUnavailable(
                f"cannot list the commit HEAD: few folders, each in many others, stand for more than "
                f"{_MOST_NAMES // 1_000_000} million files"
            )

    def _names_of_head(self) -> int:
        """How many names the commit HEAD has below ``root`` at least, as far as that is soon known."""
        latest = monotonic() + _LOOKING
        head = ("rev-parse", "--verify", "--quiet", f"HEAD:{self.prefix}")
        try:
            top = self.run(*head, seconds=_LOOKING, look=False)
        except GitUnavailable:
            return 0  # The command that is looked at will say it.

        def read(names: list[str]) -> dict[str, bytes]:
            try:
                left = max(0.0, latest - monotonic())
                return self._objects("tree", names, _LARGEST_TREE, seconds=left, look=False)
            except GitUnavailable:
                return {}

        return names_at_least(top.decode("ascii").strip(), read, _MOST_NAMES, latest)

    def stop(self) -> None:
        """End the commands that run in other threads, which take seconds on a large project. :meth:`run`
        raises GitUnavailable there, and from now on."""
        self._stopped = True
        for process in list(self._running):
            process.kill()

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        with self._starting:
            self._running = {each for each in self._running if each.returncode is None} | {process}
        if self._stopped:
            process.kill()

    def command(self, *arguments: str) -> list[str]:
        """The command line of a git command in ``root``, to be run with :attr:`environment` while this
        object exists.

        Raises FileNotFoundError where git is gone by now, GitUnavailable where the repository is.
        """
        self._private.refresh()
        return _command(self.root, arguments)

    def blobs(self, names: Iterable[str], largest: int) -> dict[str, bytes]:
        """The contents of the named objects that are blobs of at most ``largest`` bytes.

        Raises GitUnavailable.
        """
        return self._objects("blob", names, largest)

    def _objects(
        self,
        kind: str,
        names: Iterable[str],
        largest: int,
        seconds: float | None = None,
        *,
        look: bool = True,
    ) -> dict[str, bytes]:
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        asked = "".join(f"{name}\n" for name in wanted).encode()
        about = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        sized = self.run("cat-file", about, stdin=asked, seconds=seconds, look=look)
        small = []
        for line in sized.decode("ascii", "replace").splitlines():
            name, _, rest = line.partition(" ")
            its_kind, _, size = rest.partition(" ")
            if its_kind == kind and int(size) <= largest:
                small.append(name)
        asked = "".join(f"{name}\n" for name in small).encode()
        out = self.run("cat-file", "--batch", stdin=asked, seconds=seconds, look=look)
        contents: dict[str, bytes] = {}
        at = 0
        for name in small:
            head_end = out.find(b"\n", at)
            size_now = out[at:head_end].rpartition(b" ")[2]
            if head_end < 0 or not size_now.isdigit():
                raise GitUnavailable(f"git cat-file failed: the object {name} vanished while it was read")
            contents[name] = out[head_end + 1 : head_end + 1 + int(size_now)]
            at = head_end + 2 + int(size_now)
        return contents


def _user_settings(private: PrivateGitDir, root: Path) -> dict[str, str]:
    """The settings of the user's own configuration, read in a folder that is in no repository."""
    environment = plain_environment() | {"GIT_CEILING_DIRECTORIES": str(private.path)}
    listed = _call(root, environment, ("config", "--list", "--includes", "-z"), folder=private.path / "info")
    return parse_settings(listed)


def _repository_settings(repository: Repository, private: PrivateGitDir, root: Path) -> dict[str, str]:
    """The settings of the repository's configuration. Git gets its text, and follows no include in it."""
    settings: dict[str, str] = {}
    files = [repository.common_dir / "config"]
    while files:
        file = files.pop()
        data = read_regular(file, _LARGEST_CONFIG)
        if data is None:
            if os.path.lexists(file):
                raise GitUnavailable(f"{file} cannot be read, or is too large")
            continue
        arguments = ("config", "--file", "-", "--no-includes", "--list", "-z")
        environment = _environment(private.path)
        try:
            listed = _call(root, environment, arguments, data, folder=private.path / "info")
        except GitUnavailable as problem:
            raise GitUnavailable(f"{problem} ({file})") from problem
        found = parse_settings(listed)
        if not settings and is_on(found, "extensions.worktreeconfig"):
            files.append(repository.git_dir / "config.worktree")
        settings |= found
    return settings


def _environment(git_dir: Path) -> dict[str, str]:
    """The environment of a git command: no keys, no other configuration, no prompts and no transports."""
    return plain_environment() | {
        "HOME": str(git_dir),
        "XDG_CONFIG_HOME": str(git_dir),
        "LC_ALL": "C",
        "GIT_DIR": str(git_dir),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
    }


def _command(root: Path, arguments: tuple[str, ...]) -> list[str]:
    program = find_program("git", root)
    if program is None:
        raise FileNotFoundError("git")
    options = (
        "--no-optional-locks",
        "--no-pager",
        "--literal-pathspecs",
        "-c",
        "safe.bareRepository=explicit",
    )
    return [program, *options, *arguments]


def _call(
    root: Path,
    environment: Mapping[str, str],
    arguments: tuple[str, ...],
    stdin: bytes = b"",
    folder: Path | None = None,
    seconds: float | None = None,
    look: Callable[[], None] = lambda: None,
    started: Callable[[subprocess.Popen[bytes]], None] = lambda process: None,
) -> bytes:
    try:
        process = subprocess.Popen(
            _command(root, arguments),
            cwd=folder or root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except FileNotFoundError as problem:
        if not root.is_dir():
            raise GitUnavailable(f"{root} is not a folder") from problem
        raise GitUnavailable("git is not installed") from problem
    except (OSError, ValueError) as problem:
        raise GitUnavailable(f"git cannot be run: {problem}") from problem
    seconds = TIMEOUT if seconds is None else seconds
    with process:
        try:
            limit_memory(process)
            started(process)
            patience = min(_PATIENCE, seconds)
            out, err = communicate(process, stdin, seconds=seconds, patience=patience, look=look)
        except (GitUnavailable, TimeoutError, TooMuchError) as problem:
            raise GitUnavailable(f"git {arguments[0]} {_said(problem, seconds)}") from problem
        finally:
            process.kill()  # no-op once it has ended
    if process.returncode != 0:
        why = err.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        failure = GitUnavailable(f"git {arguments[0]} failed: {why[0]}")
        failure.silent = process.returncode == 1 and not err.strip() and not out
        raise failure
    return out


def _said(problem: Exception, seconds: float) -> str:
    match problem:
        case TooMuchError():
            return f"printed more than {MOST_OUTPUT // 1_000_000} MB"
        case TimeoutError():
            return f"took more than {seconds:.0f} s"
        case _:
            return str(problem)
