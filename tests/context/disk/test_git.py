from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from context.disk.file_list import list_git
from context.disk.git import Git, GitUnavailable
from context.disk.git_changes import git_changes
from context.disk.private_git_dir import remove_abandoned
from context.disk.programs import find_program
from context.project.project import Project
from tests.context.conftest import Repo


def test_nothing_the_repository_configures_is_run(repo: Repo) -> None:
    trap = repo.root.parent / "ran"
    program = repo.root / "trap.sh"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {trap}\ncat\n")
    program.chmod(0o755)
    repo.write(".gitattributes", "*.py filter=evil diff=evil\n*.js filter=slow\n")
    repo.commit(**{"a.py": "a = 1\n", "b.js": "let b\n"})
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.slow.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "core.sshCommand",
    ):
        repo.git("config", key, str(program))
    repo.git("config", "filter.evil.required", "true")
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(program.read_text())
    (hooks / "post-index-change").chmod(0o755)
    repo.write("a.py", "a = 2\n")
    repo.write("b.js", "let c\n")
    os.utime(repo.root / "trap.sh", (1, 1))
    snapshot = Project(repo.root).scan()
    assert {"a.py", "b.js"} <= snapshot.changes.keys()
    Project(repo.root).update(["a.py"])
    assert not trap.exists(), trap.read_text()


def test_variables_that_redirect_git_are_not_followed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert Git.open(repo.root).prefix == ""


def test_not_a_repository_is_expected(tmp_path: Path) -> None:
    with pytest.raises(GitUnavailable) as caught:
        Git.open(tmp_path)
    assert caught.value.expected


def test_a_missing_git_is_reported(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    monkeypatch.setenv("PATH", str(repo.root / "empty"))
    snapshot = Project(repo.root).scan()
    assert not snapshot.git and "a.py" in snapshot.entries
    assert snapshot.notes == ("git is not installed; without git, changes are found by comparing contents",)


def test_a_damaged_repository_is_reported(repo: Repo) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    repo.write(".git/HEAD", "garbage")
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries
    assert f"there is no repository in {repo.root / '.git'}: it is damaged" in snapshot.notes[0]


def test_a_repository_of_another_user_above_the_folder_is_not_used(repo: Repo) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    repo.commit(**{"sub/a.py": "a = 1\n"})
    os.chown(repo.root / ".git", 12_345, 12_345)
    with pytest.raises(GitUnavailable, match=f"the repository in {repo.root} belongs to another user"):
        Git.open(repo.root / "sub")


def test_a_folder_of_another_user_is_read_with_its_repository(repo: Repo) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    repo.commit(**{"a.py": "a = 1\n"})
    for folder in (repo.root, repo.root / ".git"):
        os.chown(folder, 12_345, 12_345)
    assert list_git(Git.open(repo.root)).files == ("a.py",)


def test_a_linked_work_tree_is_read_with_its_own_head_and_index(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    linked = repo.root.parent / "linked"
    repo.git("worktree", "add", "-q", "-b", "side", str(linked))
    (linked / "a.py").write_text("a = 2\n")
    git = Git.open(linked)
    assert git.run("symbolic-ref", "HEAD") == b"refs/heads/side\n"
    assert git_changes(git).keys() == {"a.py"} and not git_changes(Git.open(repo.root))


def test_a_new_commit_and_another_branch_are_seen_through_the_same_object(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    git = Git.open(repo.root)
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(**{"b.py": "b = 1\n"})
    assert git.run("symbolic-ref", "HEAD") == b"refs/heads/side\n"
    assert git.run("rev-parse", "HEAD").decode() == repo.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "settings",
    [("init", "-q", "--object-format=sha256"), ("update-index", "--split-index")],
    ids=["sha256", "split index"],
)
def test_other_kinds_of_repositories_are_read(tmp_path: Path, settings: tuple[str, ...]) -> None:
    if settings[0] != "init":
        Repo(tmp_path)
    repo = Repo.__new__(Repo)
    repo.root = tmp_path
    repo.git(*settings)
    repo.write("a.py", "a = 1\n")
    repo.git("add", "-A")
    assert git_changes(Git.open(tmp_path)).keys() == {"a.py"}


def test_the_users_own_ignore_rules_count(repo: Repo, own_folders: Path) -> None:
    (own_folders / ".gitconfig").write_text("[core]\n\texcludesFile = ~/my ignore\n")
    (own_folders / "my ignore").write_text("*.log\n")
    repo.commit(**{"a.py": "a = 1\n"})
    repo.write("b.log", "x\n")
    assert list_git(Git.open(repo.root)).files == ("a.py",)


def test_line_ends_are_compared_as_the_repository_says(repo: Repo) -> None:
    repo.git("config", "core.autocrlf", "true")
    repo.commit(**{"a.txt": "a\r\nb\r\n"})
    os.utime(repo.root / "a.txt", (1, 1))
    assert not git_changes(Git.open(repo.root))


def test_a_partial_clone_is_read_without_its_missing_objects(repo: Repo) -> None:
    repo.commit(**{"a.py": "one\ntwo\nthree\n", "b.py": "b = 1\n"})
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = repo.root.parent / "clone"
    options = ("-c", "protocol.file.allow=always", "clone", "-q", "--filter=blob:none", "--no-checkout")
    repo.git(*options, f"file://{repo.root}", str(clone))
    repo.root = clone
    repo.git("read-tree", "HEAD")
    repo.write("c.py", "one\ntwo\nthree\nfour\n")
    repo.write("b.py", "b = 2\n")
    repo.git("add", "c.py")
    repo.git("rm", "-q", "--cached", "a.py")
    git = Git.open(clone)
    assert git.partial
    assert git_changes(git).keys() == {"a.py", "b.py", "c.py"}


def test_keys_are_not_in_the_environment_of_git(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("MY_TOKEN", "secret")
    given = Git.open(repo.root).environment
    assert "PATH" in given and not {"OPENAI_API_KEY", "MY_TOKEN"} & given.keys()


def test_an_unknown_extension_of_the_format_is_reported(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    repo.git("config", "core.repositoryFormatVersion", "1")
    repo.git("config", "extensions.fromTheFuture", "true")
    with pytest.raises(GitUnavailable, match="needs the extension 'fromthefuture'"):
        Git.open(repo.root)


@pytest.mark.parametrize("pointer", ["loop", "x" * 5_000, "", "\0"])
def test_a_git_file_that_points_nowhere_is_reported(tmp_path: Path, pointer: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / ".git").write_text(f"gitdir: {pointer}\n")
    with pytest.raises(GitUnavailable) as caught:
        Git.open(tmp_path)
    assert not caught.value.expected


@pytest.mark.parametrize("line", ["autocrlf = fal\u017fe", 'eol = "lf\\n[alias]"', "[broken"])
def test_unusual_values_in_a_configuration_are_ignored(repo: Repo, line: str) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    repo.write(".git/config", f"[core]\n\tautocrlf = input\n\t{line}\n")
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries
    assert snapshot.git is (line != "[broken")


def test_the_private_folder_is_deleted_with_the_object(repo: Repo) -> None:
    git = Git.open(repo.root)
    folder = Path(git.environment["GIT_DIR"])
    assert folder.is_dir()
    del git
    gc.collect()
    assert not folder.exists()
    assert (repo.root / ".git" / "objects").is_dir()


@pytest.mark.parametrize("name", [".gitignore", "src/deep/.gitignore", ".gitattributes"])
def test_a_named_pipe_in_place_of_rules_is_named_and_not_waited_for(repo: Repo, name: str) -> None:
    repo.commit(**{"a.py": "x = 1\n", "src/deep/b.py": "y = 1\n"})
    repo.write("src/deep/b.py", "y = 2\n")
    os.mkfifo(repo.root / name)
    git = Git.open(repo.root)
    try:
        git.run("status", "--porcelain")
    except GitUnavailable as problem:
        assert f"{repo.root / name} is a named pipe" in str(problem)
    else:
        assert name == ".gitattributes", "this version of git does not wait for it"
    snapshot = Project(repo.root).scan()
    assert {"a.py", "src/deep/b.py"} <= set(snapshot.paths)


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_uses_is_not(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"a.py": "x = 1\n"})
    there = tmp_path / "tmp"
    there.mkdir()
    script = (
        "import os, sys, time; from pathlib import Path; from context.disk.git import Git\n"
        "git = Git.open(Path(sys.argv[1])); print('ready', flush=True); time.sleep(600)"
    )
    environ = {**os.environ, "TMPDIR": str(there), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", script, str(repo.root)]
    ones = [subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) for _ in range(2)]
    for one in ones:
        assert one.stdout is not None and one.stdout.readline() == b"ready\n"
    foreign = there / "spark-git-link"
    foreign.symlink_to(repo.root)
    killed, living = ones
    left = {folder for folder in there.iterdir() if not folder.is_symlink()}
    assert len(left) == 2
    for folder in left:
        os.utime(folder, (1, 1))
    killed.kill()
    killed.communicate()
    monkeypatch.setattr("tempfile.tempdir", str(there))
    remove_abandoned.cache_clear()
    remove_abandoned()
    still = {folder for folder in there.iterdir() if not folder.is_symlink()}
    assert len(still) == 1 and still < left and foreign.is_symlink() and (repo.root / "a.py").exists()
    living.kill()
    living.communicate()


def test_a_named_pipe_in_place_of_a_repository_file_does_not_hang(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    for name in ("config", "index", "packed-refs"):
        (repo.root / ".git" / name).unlink(missing_ok=True)
        os.mkfifo(repo.root / ".git" / name)
    with pytest.raises(GitUnavailable, match="config cannot be read"):
        Git.open(repo.root)
    (repo.root / ".git" / "config").unlink()
    assert list_git(Git.open(repo.root)).files == ("a.py",)


def test_unreadable_folders_of_the_search_path_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setenv("PATH", os.pathsep.join((str(loop), "x" * 5_000, os.environ["PATH"])))
    assert find_program("git", tmp_path) is not None


def test_no_program_of_the_project_is_found_by_whatever_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (root / "bin", outside):
        folder.mkdir(parents=True)
    program = root / "bin" / "tool"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (outside / "tool").symlink_to(program)
    (root / "bin" / "sh").symlink_to("/bin/sh")
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(root / "bin")
    ways = (".", "", "bin", f"{root}/bin", f"{tmp_path}/link/bin", f"{outside}/../project/bin", str(outside))
    for name in ("tool", "sh"):
        for path in ways:
            for given in (root, tmp_path / "link"):
                assert find_program(name, given, {"PATH": path}) is None, (name, path)
                monkeypatch.setenv("PATH", path)
                assert find_program(name, given) is None
    assert find_program("./tool", root) is None and find_program(str(program), root) is None
    assert find_program("tool", tmp_path / "another", {"PATH": f"{root}/bin"}) == str(program)
    assert find_program("sh", root, {"PATH": f"{root}/bin:/bin"}) == "/bin/sh"


def test_a_broken_index_is_reported_and_the_files_are_listed(repo: Repo) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    repo.write(".git/index", b"garbage")
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries and snapshot.notes


def test_blobs_are_read_together_and_large_ones_skipped(repo: Repo) -> None:
    repo.commit(a="one\n", b="two\n\nthree", c="x" * 5000)
    names = {line.split()[3]: line.split()[2] for line in repo.git("ls-tree", "HEAD").splitlines()}
    blobs = Git.open(repo.root).blobs([names["a"], names["b"], names["c"], "0" * 40], 1000)
    assert blobs == {names["a"]: b"one\n", names["b"]: b"two\n\nthree"}


def test_a_folder_inside_a_repository_has_its_own_files(repo: Repo) -> None:
    repo.commit(**{"top.py": "t = 1\n", "sub/a.py": "a = 1\n"})
    repo.write("top.py", "t = 2\n")
    repo.write("sub/a.py", "a = 2\n")
    snapshot = Project(repo.root / "sub").scan()
    assert snapshot.paths == ("a.py",)
    assert list(snapshot.changes) == ["a.py"]
    assert git_changes(Git.open(repo.root / "sub")).keys() == {"a.py"}
