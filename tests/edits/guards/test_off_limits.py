"""What no edit of a model may touch, whatever the project is: spark's own files, git's, and keys."""

from __future__ import annotations

import itertools
import os
import subprocess
from pathlib import Path

import pytest

from edits.guards.off_limits import OffLimits
from edits.hunk import Action, Format, Guard, Held, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused
from edits.landing import Landing
from tests.edits.helpers import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def at_home(project: Project) -> Landing:
    """A landing whose project is the user's home folder."""
    own = [project.root / name for name in (".config/spark", ".local/state/spark", ".cache/spark")]
    return Landing(project.root, project.ledger, off_limits=OffLimits(own, project.root))


def hunks(path: str, old: str = "x") -> tuple[Hunk, ...]:
    """Every way to touch a file."""
    line = (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, "y"))
    return (
        Hunk(path, Action.UPDATE, Format.V4A, line),
        Hunk(path, Action.ADD, Format.V4A, line[1:]),
        Hunk(path, Action.UPDATE, Format.WHOLE, line[1:]),
        Hunk(path, Action.DELETE, Format.V4A),
        Hunk(path, Action.MOVE, Format.V4A, move_to="moved.txt"),
        Hunk("other.txt", Action.MOVE, Format.V4A, move_to=path),
    )


def refused(project: Project, landing: Landing, path: str) -> None:
    """Nothing can be done to ``path``, not even with every guard allowed."""
    project.write({"other.txt": "x\n"})
    before = project.read_bytes()
    for hunk in hunks(path):
        result = landing.land(hunk, hunk_id="h1", allow=frozenset(Guard))
        assert isinstance(result, Refused) and not isinstance(result, Held), (path, hunk.action)
        missing = hunk.action is not Action.ADD and result.code is RefusalCode.MISSING_FILE
        exists = hunk.path == "other.txt" and result.code is RefusalCode.EXISTS
        assert missing or exists or result.code is RefusalCode.OUTSIDE_PROJECT, (path, result)
    assert project.read_bytes() == before and project.ledger.entries() == []
    foreseen = landing.foresee(path)
    assert isinstance(foreseen, Refused) and foreseen.code is RefusalCode.OUTSIDE_PROJECT


@pytest.mark.parametrize(
    "path",
    [
        ".config/spark/config.toml",
        ".config/spark/trust.json",
        ".config/SPARK/config.toml",
        ".local/state/spark/projects/x/locks.json",
        ".cache/spark/x",
        ".bashrc",
        ".zshenv",
        ".profile",
        ".config/fish/config.fish",
        ".config/autostart/x.desktop",
        ".local/bin/git",
        ".gitconfig",
        ".config/git/config",
        ".aws/config",
        ".aws/sso/cache.json",
        ".kube/config",
        ".config/gh/hosts.yml",
    ],
)
@pytest.mark.parametrize("there", [True, False])
def test_in_the_home_folder(project: Project, path: str, there: bool) -> None:
    if there:
        project.write({path: "x\n"})
    refused(project, at_home(project), path)


@pytest.mark.parametrize(
    "path",
    [
        ".ssh/authorized_keys",
        "sub/.ssh/config",
        "sub/.SSH/config",
        ".s\u200csh/config",
        "keys/authorized_keys",
        "Authorized_Keys",
        ".netrc",
        ".gnupg/gpg.conf",
        "id_ed25519",
        ".git-credentials",
        ".hg/hgrc",
        "sub/.jj/config",
        ".git/config",
        "sub/.GIT/config",
    ],
)
def test_in_any_project(project: Project, path: str) -> None:
    project.write({path: "x\n"})
    refused(project, project.landing, path)


@pytest.mark.parametrize("layout", ["bare", "separate", "worktree", "submodule", "open"])
def test_git_directories_are_known_by_what_is_in_them(project: Project, layout: str) -> None:
    root = project.root

    def git(*command: str, at: Path = root) -> None:
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e", *command], cwd=at, check=True)

    match layout:
        case "bare":
            git("init", "-q", "--bare", "pkg/data")
            inside = ["pkg/data/config", "pkg/data/hooks/post-checkout", "pkg/data/HEAD", "pkg/data/info/new"]
        case "separate":
            git("init", "-q", "--separate-git-dir", "store", "work")
            inside = ["store/config", "store/hooks/pre-commit", "work/.git"]
        case "worktree":
            git("init", "-q", "main")
            git("commit", "-q", "--allow-empty", "-m", "m", at=root / "main")
            git("worktree", "add", "-q", "../linked", at=root / "main")
            (root / "main/.git/worktrees/linked").rename(root / "moved")
            (root / "moved/commondir").write_text(str(root / "main/.git"))
            inside = ["moved/gitdir", "moved/config.worktree", "linked/.git"]
        case "submodule":
            git("init", "-q")
            (root / ".git/modules").mkdir()
            git("init", "-q", "--separate-git-dir", ".git/modules/sub", "sub")
            (root / ".git/modules").rename(root / "modules")
            inside = ["modules/sub/config", "modules/sub/hooks/x"]
        case _:
            git("init", "-q", "--bare", ".")
            inside = ["config", "hooks/post-update", "HEAD"]
    for path in inside:
        refused(project, Landing(root, project.ledger), path)


@pytest.mark.parametrize("last", ["HEAD", "objects/x", "refs/x", "commondir"])
def test_no_edit_completes_a_git_directory(project: Project, last: str) -> None:
    parts = {"HEAD": "ref: refs/heads/main\n", "objects/info": "x\n", "refs/heads": "x\n"}
    first = last.partition("/")[0]
    project.write({f"pkg/{name}": text for name, text in parts.items() if name.partition("/")[0] != first})
    refused(project, project.landing, f"pkg/{last}")


def test_a_work_tree_in_a_bare_repository_can_be_edited(project: Project) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "."], cwd=project.root, check=True)
    tree = project.root / "main"
    project.write({"main/src/a.txt": "x\n", "main/.git": f"gitdir: {project.root}/worktrees/main\n"})
    for root, path in ((tree, "src/a.txt"), (tree / "src", "a.txt")):
        result = Landing(root, project.ledger).land(hunks(path)[0], hunk_id="h1", dry_run=True)
        assert isinstance(result, Landed)


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        *itertools.product(
            ("symbolic", "hard", "folder"), (".ssh/config", ".config/spark/config.toml", "store/config")
        ),
        ("symbolic", ".bashrc"),
        ("hard", ".bashrc"),
    ],
)
def test_no_link_gets_around_it(project: Project, kind: str, target: str) -> None:
    project.write({target: "x\n", "store/HEAD": "x\n", "store/objects/x": "x\n", "store/refs/x": "x\n"})
    root = project.root
    path = "innocent.txt"
    if kind == "symbolic":
        (root / path).symlink_to(target)
    elif kind == "hard":
        os.link(root / target, root / path)
    else:
        (root / "innocent").symlink_to(Path(target).parent)
        path = f"innocent/{Path(target).name}"
    landing = at_home(project)
    for hunk in hunks(path)[:3]:
        result = landing.land(hunk, hunk_id="h1", allow=frozenset(Guard))
        assert isinstance(result, Refused) and result.code is RefusalCode.OUTSIDE_PROJECT, result
    assert (root / target).read_text() == "x\n"


def test_files_outside_the_project_that_are_linked_into_it(project: Project) -> None:
    home = project.folder / "home"
    for name in (".ssh/config", ".netrc", ".config/spark/themes/own.toml", "notes.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("x\n")
    landing = Landing(project.root, project.ledger, off_limits=OffLimits([home / ".config/spark"], home))
    names = {"a": ".ssh/config", "b": ".netrc", "c": ".config/spark/themes/own.toml", "d": "notes.txt"}
    for name, target in names.items():
        os.link(home / target, project.root / name)
        result = landing.land(hunks(name)[0], hunk_id="h1", dry_run=True)
        assert isinstance(result, Landed) == (name == "d"), target
        (project.root / f"link-{name}").symlink_to(name)
        result = landing.land(hunks(f"link-{name}")[0], hunk_id="h1", dry_run=True)
        assert isinstance(result, Landed) == (name == "d"), f"a link to {target}"
    (project.root / "linked").write_text("x\n")
    (home / ".pgpass").symlink_to(project.root / "linked")
    result = landing.land(hunks("linked")[0], hunk_id="h1")
    assert isinstance(result, Refused) and "~/.pgpass" in result.message


def test_ordinary_files_of_the_home_folder_can_be_edited(project: Project) -> None:
    files = (
        "notes.txt",
        ".config/other/config.toml",
        "code/refs/x",
        "code/HEAD",
        "spark/x.toml",
        "ssh/x",
    )
    project.write(dict.fromkeys(files, "x\n"))
    landing = at_home(project)
    for path in files:
        assert landing.foresee(path) is None
        assert isinstance(landing.land(hunks(path)[0], hunk_id="h1", dry_run=True), Landed)
