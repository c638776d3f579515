"""Repositories that each try to have a program run in one way.

Each has files, a history and uncommitted changes, so that everything spark asks of git is asked. The
program is ``trap.sh``: it notes that it ran in the file ``ran``.
"""

from __future__ import annotations

import atexit
import os
import pty
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_IDENTITY = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
_SIGNATURES = {"openpgp": "PGP SIGNATURE", "ssh": "SSH SIGNATURE", "x509": "SIGNED MESSAGE"}


class Hostile:
    """A repository being built in ``base``, to be opened at :attr:`opened`."""

    def __init__(self, base: Path, ran: Path) -> None:
        self.base = base
        self.root = base / "project"
        self.opened = self.root
        self.ran = ran
        self.trap = self.root / "trap.sh"

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def git(self, *arguments: str, folder: Path | None = None, given: str = "", check: bool = True) -> str:
        done = subprocess.run(
            ["git", *_IDENTITY, *arguments],
            cwd=folder or self.root,
            input=given,
            capture_output=True,
            text=True,
            check=check,
        )
        return done.stdout.strip()

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def config(self, *settings: str, file: Path | None = None) -> None:
        """Set ``key=value``; a value of ``TRAP`` stands for the program."""
        where = ("--file", str(file)) if file else ("--local",)
        for setting in settings:
            key, _, value = setting.partition("=")
            self.git("config", *where, key, str(self.trap) if value == "TRAP" else value)

    def touch(self) -> None:
        """Change files without changing their size, so that git has to compare contents."""
        self.write("a.txt", "two\n")
        self.write("new.py", "needle = 3\n")
        os.utime(self.root / "a.txt", (1, 1))

    def plain_git(self, command: tuple[str, ...]) -> None:
        """Run git as a user would, on a terminal, and let it fail."""
        leader, follower = pty.openpty()
        settings = {"PAGER": "cat", "EDITOR": "true", "GIT_TERMINAL_PROMPT": "0", "TERM": "xterm-256color"}
        environment = os.environ | settings
        with tempfile.TemporaryFile() as given:
            given.write(b"protocol=https\nhost=example.org\n\nq\n")
            given.seek(0)
            process = subprocess.Popen(
                ["git", *_IDENTITY, *command],
                cwd=self.opened,
                env=environment,
                stdin=given,
                stdout=follower,
                stderr=follower,
                start_new_session=True,
            )
        os.close(follower)
        try:
            while os.read(leader, 65_536):
                pass
        except OSError:
            pass  # The terminal is closed once all programs on it have ended.
        process.wait(timeout=30)
        os.close(leader)


@cache
def _plain() -> Hostile:
    """A repository with a history, in which nothing runs yet: all others are copies of it."""
    base = Path(tempfile.mkdtemp(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")))
    atexit.register(shutil.rmtree, base, ignore_errors=True)
    made = Hostile(base, base / "ran")
    made.root.mkdir()
    made.git("init", "-q", "-b", "main")
    made.write("trap.sh", f"#!/bin/sh\necho \"$0 $@\" >> '{made.ran}'\n")
    made.trap.chmod(0o755)
    made.write("a.txt", "one\n")
    made.write("b.py", "def needle():\n    return 1\n")
    made.commit("first")
    made.git("checkout", "-q", "-b", "work")
    made.write("b.py", "def needle():\n    return 2\n")
    made.commit("second")
    return made


@dataclass(frozen=True, slots=True)
class Vector:
    """One way. ``fires`` are git commands, of which at least one makes plain git run the program; none
    where this version of git is not known to run it at all."""

    name: str
    build: Callable[[Hostile], None]
    fires: tuple[tuple[str, ...], ...]


def configured(name: str, fires: tuple[str, ...] | None, *settings: str, attributes: str = "") -> Vector:
    """A repository whose own configuration names the program."""

    def build(hostile: Hostile) -> None:
        if attributes:
            hostile.write(".gitattributes", attributes)
            hostile.commit("attributes")
        hostile.config(*settings)

    return Vector(name, build, (fires,) if fires else ())


def _sign(hostile: Hostile, kind: str) -> None:
    """Give the newest commit a signature, which git passes to the program of its kind."""
    text = hostile.git("cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    mark = _SIGNATURES[kind]
    given = f"{head}\ngpgsig -----BEGIN {mark}-----\n \n AAAA\n -----END {mark}-----\n\n{message}\n"
    name = hostile.git("hash-object", "-t", "commit", "-w", "--stdin", given=given)
    hostile.git("update-ref", "HEAD", name)


def _signed(kind: str) -> Vector:
    program = "gpg.program" if kind == "openpgp" else f"gpg.{kind}.program"

    def build(hostile: Hostile) -> None:
        _sign(hostile, kind)
        hostile.config(f"{program}=TRAP", "log.showSignature=true", "gpg.ssh.allowedSignersFile=/dev/null")

    return Vector(f"{program} with log.showSignature", build, (("log", "-1"),))


def _hook(hostile: Hostile) -> None:
    shutil.copy(hostile.trap, hostile.root / ".git" / "hooks" / "post-index-change")


def _hooks_path(hostile: Hostile) -> None:
    hostile.write("hooks/post-index-change", hostile.trap.read_text())
    (hostile.root / "hooks" / "post-index-change").chmod(0o755)
    # Git writes the index, and runs the hook, where a file's time differs from the one it knows.
    os.utime(hostile.root / "a.txt", (0, 0))
    hostile.config("core.hooksPath=hooks")


def _watchman(hostile: Hostile) -> None:
    shutil.copy(hostile.trap, hostile.root / ".git" / "hooks" / "fsmonitor-watchman")
    hostile.config("core.fsmonitor=.git/hooks/fsmonitor-watchman")


def _include(hostile: Hostile) -> None:
    hostile.config("core.fsmonitor=TRAP", file=hostile.root / "settings.cfg")
    hostile.config("include.path=../settings.cfg")


def _worktree_elsewhere(hostile: Hostile) -> None:
    hostile.config(f"core.worktree={hostile.base}", "core.fsmonitor=TRAP")


def _attributes_file(hostile: Hostile) -> None:
    hostile.write("rules", "* filter=evil\n")
    hostile.config("core.attributesFile=rules", "filter.evil.clean=TRAP")


def _worktree_config(hostile: Hostile) -> None:
    hostile.config("core.repositoryFormatVersion=1", "extensions.worktreeConfig=true")
    hostile.config("core.fsmonitor=TRAP", file=hostile.root / ".git" / "config.worktree")


def _linked_worktree(hostile: Hostile) -> None:
    hostile.opened = hostile.base / "linked"
    hostile.git("worktree", "add", "-q", str(hostile.opened), "main")
    hostile.config("core.fsmonitor=TRAP")


def _git_file(hostile: Hostile) -> None:
    hostile.config("core.fsmonitor=TRAP")
    (hostile.root / ".git").rename(hostile.root / "store")
    hostile.write(".git", "gitdir: store\n")


def _bare(hostile: Hostile) -> Path:
    """A bare repository as tracked files, with the folder it lies in for its work tree."""
    _sign(hostile, "openpgp")
    bare = hostile.root / "pkg"
    hostile.git("clone", "-q", "--bare", ".", str(bare))
    hostile.git("read-tree", "HEAD", folder=bare)
    hostile.config("core.bare=false", "core.worktree=.", "core.fsmonitor=TRAP", file=bare / "config")
    hostile.config("gpg.program=TRAP", "log.showSignature=true", file=bare / "config")
    shutil.copy(hostile.trap, bare / "hooks" / "post-index-change")
    (bare / "a.txt").write_text("two\n")
    return bare


def _bare_opened(hostile: Hostile) -> None:
    hostile.opened = _bare(hostile)
    shutil.rmtree(hostile.root / ".git")


def _bare_in_project(hostile: Hostile) -> None:
    hostile.opened = _bare(hostile)


def _below_bare(hostile: Hostile) -> None:
    hostile.opened = _bare(hostile) / "src"
    hostile.opened.mkdir()


def _submodule(hostile: Hostile) -> None:
    hostile.git("clone", "-q", ".", str(hostile.base / "library"))
    hostile.git("submodule", "--quiet", "add", str(hostile.base / "library"), "library")
    hostile.write(".gitmodules", (hostile.root / ".gitmodules").read_text() + "\tignore = none\n")
    hostile.commit("submodule")
    hostile.config("core.fsmonitor=TRAP", file=hostile.root / ".git/modules/library/config")
    hostile.write("library/a.txt", "two\n")


def _submodule_opened(hostile: Hostile) -> None:
    _submodule(hostile)
    hostile.opened = hostile.root / "library"


def _promisor(hostile: Hostile) -> None:
    """A repository in which an old file is missing, and would be fetched by a program of its own."""
    hostile.config("core.repositoryFormatVersion=1", "extensions.partialClone=origin", "core.sshCommand=TRAP")
    hostile.config("remote.origin.url=ssh://nowhere.invalid/x", "remote.origin.promisor=true")
    name = hostile.git("rev-parse", "HEAD:a.txt")
    (hostile.root / ".git" / "objects" / name[:2] / name[2:]).unlink()


def _alternates(hostile: Hostile) -> None:
    hostile.config("core.alternateRefsCommand=TRAP")
    outside = hostile.base / "outside"
    (hostile.root / ".git" / "objects").rename(outside)
    hostile.write(".git/objects/info/alternates", f"{outside}\n")


STATUS, DIFF, LOG = ("status",), ("diff",), ("log", "-p")
VECTORS = (
    _signed("openpgp"),
    _signed("ssh"),
    _signed("x509"),
    configured("fsmonitor", STATUS, "core.fsmonitor=TRAP"),
    configured("filter.clean", STATUS, "filter.evil.clean=TRAP", attributes="* filter=evil\n"),
    configured(
        "filter.smudge", ("checkout", "a.txt"), "filter.evil.smudge=TRAP", attributes="* filter=evil\n"
    ),
    configured("filter.process", STATUS, "filter.evil.process=TRAP", attributes="* filter=evil\n"),
    Vector(
        "filter with an equals sign in its name",
        lambda hostile: _named_filter(hostile, "a=b"),
        (STATUS,),
    ),
    Vector("filter with a quote in its name", lambda hostile: _named_filter(hostile, 'a"b'), (STATUS,)),
    Vector("filter with a backslash in its name", lambda hostile: _named_filter(hostile, "a\\b"), (STATUS,)),
    configured("textconv", LOG, "diff.evil.textconv=TRAP", attributes="* diff=evil\n"),
    configured("diff driver", DIFF, "diff.evil.command=TRAP", attributes="* diff=evil\n"),
    configured("diff.external", DIFF, "diff.external=TRAP"),
    configured("core.pager", LOG, "core.pager=TRAP"),
    configured("pager of one command", STATUS, "pager.status=TRAP"),
    configured("core.editor", ("commit", "--amend"), "core.editor=TRAP"),
    configured("sequence.editor", ("rebase", "--autostash", "-i", "HEAD~1"), "sequence.editor=TRAP"),
    configured("interactive.diffFilter", ("add", "-p"), "interactive.diffFilter=TRAP"),
    configured("credential.helper", ("credential", "fill"), "credential.helper=TRAP"),
    configured("alias", ("st",), "alias.st=!./trap.sh", "alias.status=!./trap.sh", "alias.log=!./trap.sh"),
    configured("core.sshCommand", ("ls-remote", "ssh://nowhere.invalid/x"), "core.sshCommand=TRAP"),
    configured("core.gitProxy", ("ls-remote", "git://nowhere.invalid/x"), "core.gitProxy=TRAP"),
    configured("core.askPass", None, "core.askPass=TRAP"),
    configured("uploadpack.packObjectsHook", None, "uploadpack.packObjectsHook=TRAP"),
    configured("merge driver", ("merge", "side"), "merge.evil.driver=TRAP", attributes="* merge=evil\n"),
    Vector("hook in .git/hooks", _hook, (STATUS,)),
    Vector("hook in core.hooksPath", _hooks_path, (STATUS,)),
    Vector("fsmonitor-watchman hook", _watchman, (STATUS,)),
    Vector("include.path", _include, (STATUS,)),
    Vector("core.worktree elsewhere", _worktree_elsewhere, (STATUS,)),
    Vector("core.attributesFile", _attributes_file, (STATUS,)),
    Vector("extensions.worktreeConfig", _worktree_config, (STATUS,)),
    Vector("linked work tree", _linked_worktree, (STATUS,)),
    Vector(".git file that points elsewhere", _git_file, (STATUS,)),
    Vector("bare repository opened as the project", _bare_opened, (STATUS,)),
    Vector("bare repository in the project", _bare_in_project, (STATUS,)),
    Vector("folder in a bare repository", _below_bare, (STATUS,)),
    Vector("submodule", _submodule, (STATUS,)),
    Vector("submodule opened as the project", _submodule_opened, (STATUS,)),
    Vector("promisor remote with core.sshCommand", _promisor, (("cat-file", "-p", "HEAD:a.txt"),)),
    Vector("objects outside with core.alternateRefsCommand", _alternates, ()),
)


def _named_filter(hostile: Hostile, name: str) -> None:
    hostile.write(".gitattributes", f"* filter={name}\n")
    hostile.commit("attributes")
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    with (hostile.root / ".git" / "config").open("a") as config:
        config.write(f'[filter "{quoted}"]\n\tclean = {hostile.trap}\n\trequired = true\n')


def make(vector: Vector, base: Path) -> Hostile:
    """Build the repository of a vector in the empty folder ``base``."""
    hostile = Hostile(base, _plain().ran)
    shutil.copytree(_plain().root, hostile.root, symlinks=True)
    if vector.name == "merge driver":
        hostile.git("checkout", "-q", "-b", "side", "main")
        hostile.write("b.py", "def needle():\n    return 3\n")
        hostile.commit("third")
        hostile.git("checkout", "-q", "work")
    vector.build(hostile)
    hostile.touch()
    hostile.ran.unlink(missing_ok=True)
    return hostile
