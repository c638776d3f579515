"""Asking git, so that nothing in a repository can run anything, prompt, lock or block.

A repository's own configuration can name programs: hooks, file-system monitors, clean filters, text
conversions, transports. Each call here switches them off; filters have no switch, so the ones the
repository itself defines are found once and emptied. Filters the user configured globally stay: they
are the user's own, and without them large-file storage would look changed everywhere.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from context.disk.programs import find_program

TIMEOUT = 20.0
"""Seconds a git command may take before it counts as failed."""

_SAFE = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.quotePath=false",
    "core.untrackedCache=false",
    "submodule.recurse=false",
)


class GitUnavailable(Exception):
    """There is no git to ask here: not installed, not a repository, refused or too slow.

    ``expected`` is true when the folder simply is not in a repository.
    """

    def __init__(self, message: str, *, expected: bool = False) -> None:
        super().__init__(message)
        self.expected = expected


class Git:
    """The repository that holds the folder ``root``. Made by :meth:`open`."""

    def __init__(self, root: Path, prefix: str, folder: Path, settings: tuple[str, ...]) -> None:
        self.root = root
        self.prefix = prefix
        """The path of ``root`` inside the repository: empty, or with a ``/`` at its end."""
        self.folder = folder
        """Where git keeps this work tree's HEAD and index."""
        self._settings = settings

    @classmethod
    def open(cls, root: Path) -> Git:
        """Find the repository of ``root``. Raises GitUnavailable."""
        try:
            found = _call(
                root, _SAFE, ("rev-parse", "--show-prefix", "--absolute-git-dir", "--is-inside-work-tree")
            )
        except GitUnavailable as problem:
            if problem.expected and os.path.lexists(root / ".git"):
                raise GitUnavailable(
                    f"git finds no repository in {root / '.git'}: it is damaged"
                ) from problem
            raise
        answer = os.fsdecode(found).split("\n")
        if len(answer) < 3 or answer[2] != "true":
            raise GitUnavailable("the folder is not in a git work tree", expected=True)
        listed = _call(root, _SAFE, ("config", "--list", "--show-scope", "--includes", "-z"))
        return cls(root, answer[0], Path(answer[1]), (*_SAFE, *_emptied_filters(listed)))

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """The standard output of a git command in ``root``. Raises GitUnavailable when it fails."""
        return _call(self.root, self._settings, arguments, stdin)

    def command(self, *arguments: str) -> list[str]:
        """The command line of a git command in ``root``, to be run with :func:`safe_environment`.

        Raises FileNotFoundError where git is gone by now.
        """
        return _command(self.root, self._settings, arguments)

    def blobs(self, names: Iterable[str], largest: int) -> dict[str, bytes]:
        """The contents of the named objects that are blobs of at most ``largest`` bytes."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        asked = "".join(f"{name}\n" for name in wanted).encode()
        sized = self.run("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=asked)
        small = []
        for line in sized.decode("ascii", "replace").splitlines():
            name, _, rest = line.partition(" ")
            kind, _, size = rest.partition(" ")
            if kind == "blob" and int(size) <= largest:
                small.append(name)
        out = self.run("cat-file", "--batch", stdin="".join(f"{name}\n" for name in small).encode())
        contents: dict[str, bytes] = {}
        at = 0
        for name in small:
            head_end = out.index(b"\n", at)
            size_now = int(out[at:head_end].rsplit(b" ", 1)[1])
            contents[name] = out[head_end + 1 : head_end + 1 + size_now]
            at = head_end + 2 + size_now
        return contents


def _emptied_filters(listed: bytes) -> list[str]:
    """Settings that switch off the filters defined by the repository's own configuration."""
    fields = listed.decode("utf-8", "surrogateescape").split("\0")
    settings = []
    for scope, entry in zip(fields[::2], fields[1::2], strict=False):
        key = entry.partition("\n")[0]
        section, _, last = key.rpartition(".")
        if scope in ("local", "worktree") and section.startswith("filter.") and last in ("clean", "process"):
            settings += [f"{section}.clean=", f"{section}.process=", f"{section}.required=false"]
    return settings


def _command(root: Path, settings: tuple[str, ...], arguments: tuple[str, ...]) -> list[str]:
    program = find_program("git", root)
    if program is None:
        raise FileNotFoundError("git")
    command = [program, "--no-optional-locks", "--no-pager", "--literal-pathspecs"]
    for setting in settings:
        command += ["-c", setting]
    return [*command, *arguments]


def _call(root: Path, settings: tuple[str, ...], arguments: tuple[str, ...], stdin: bytes = b"") -> bytes:
    try:
        done = subprocess.run(
            _command(root, settings, arguments),
            cwd=root,
            env=safe_environment(),
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT,
            start_new_session=True,
            check=False,
        )
    except FileNotFoundError as problem:
        if not root.is_dir():
            raise GitUnavailable(f"{root} is not a folder") from problem
        raise GitUnavailable("git is not installed") from problem
    except (OSError, ValueError) as problem:
        raise GitUnavailable(f"git cannot be run: {problem}") from problem
    except subprocess.TimeoutExpired as problem:
        raise GitUnavailable(f"git {arguments[0]} took more than {TIMEOUT:.0f} s") from problem
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        expected = any("not a git repository" in line for line in said)
        remedy = ""
        if "dubious ownership" in said[0]:
            remedy = f" (git config --global --add safe.directory {root} allows it)"
        raise GitUnavailable(f"git {arguments[0]} failed: {said[0]}{remedy}", expected=expected)
    return done.stdout


def safe_environment() -> dict[str, str]:
    """The caller's environment without what redirects git, and with every prompt and transport off."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "LC_ALL": "C",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
    }
