"""Unified diffs by git land as git applies them, and the variants that models write are parsed."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Typed
from edits.hunk import Action, Format, Hunk, LineKind, RefusalCode
from tests.edits.helpers import Project, merged, parse, prose

DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n x\n-y\n+z\n w\n"


def hunks(text: str, *, clean: bool = True, format: Format | None = None) -> list[Hunk]:
    """The hunks that are well formed."""
    events = parse([text], clean=clean, format=format)
    return [event.hunk for event in events if isinstance(event, Completed) and not event.hunk.flaw]


def broken(text: str, *, clean: bool = True) -> list[RefusalCode]:
    """The codes of refusals; a hunk with a flaw is malformed, unless a file has its lines as read."""
    flawed = RefusalCode.MALFORMED
    return [
        event.code if isinstance(event, Broken) else flawed
        for event in parse([text], clean=clean)
        if isinstance(event, Broken) or (isinstance(event, Completed) and event.hunk.flaw)
    ]


def git(folder: Path, *words: str) -> str:
    env = {
        **os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
    }  # fmt: skip
    done = subprocess.run(["git", "-C", str(folder), *words], env=env, check=True, capture_output=True)
    return done.stdout.decode()


def changed(lines: list[str], chance: random.Random) -> list[str]:
    """Lines as an author leaves them: some rewritten, some gone, some new, some that look like headers."""
    new: list[str] = []
    for line in lines:
        throw = chance.random()
        if throw < 0.1:
            new.append(f"-- {chance.randrange(99)}")
        elif throw < 0.2:
            new += [line, f"++ new {chance.randrange(99)}"]
        elif throw < 0.9:
            new.append(line)
    return new


@pytest.mark.parametrize("seed", range(12))
def test_a_diff_by_git_lands_as_its_commit(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    project = Project(tmp_path)
    git(project.root, "init", "-q")
    newline = "\r\n" if seed % 5 == 4 else "\n"
    for name in ("src/one.py", "two words.txt", "b/café.txt", "gone.txt", "old/name.py"):
        lines = [
            f"-- line {name} {number}" if number % 7 == 3 else f"{name} {number}" for number in range(40)
        ]
        project.write({name: (newline.join(lines) + (newline if chance.random() < 0.7 else "")).encode()})
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "before")
    for name in ("src/one.py", "two words.txt", "b/café.txt"):
        path = project.root / name
        after = changed(path.read_bytes().decode().replace("\r", "").splitlines(), chance)
        ending = newline if chance.random() < 0.6 else ""
        path.write_bytes((newline.join(after) + ending).encode())
    (project.root / "gone.txt").unlink()
    (project.root / "new").mkdir()
    (project.root / "old/name.py").rename(project.root / "new/name.py")
    project.write({"new/file.txt": "one\ntwo" + "\n" * (seed % 2), "empty.txt": ""})
    git(project.root, "add", "-A")
    options = [["-M"], ["--no-prefix", "-M"], ["-U1", "-M"], ["--no-renames"], ["-U5", "--patience"]][
        seed % 5
    ]
    diff = git(project.root, "diff", "--cached", *options, "HEAD")
    wanted = {name: data for name, data in project.read_bytes().items() if not name.startswith(".git/")}
    git(project.root, "reset", "-q", "--hard", "HEAD")
    project.apply(diff)
    assert project.refusals == []
    now = {name: data for name, data in project.read_bytes().items() if not name.startswith(".git/")}
    assert now == wanted
    assert merged(parse(list(diff))) == merged(parse([diff]))


@pytest.mark.parametrize("end", ["@@", "diff --git ", "--- a/b\n+++ b/b\n", "--- one\n+++ two\n@@"])
def test_a_hunk_is_complete_at_the_next_header_and_not_before(end: str) -> None:
    parser = AutoParser()
    text = DIFF.replace(",3", ",9")
    assert not any(isinstance(event, Completed) for event in parser.feed(text + end[:-1]))
    assert any(isinstance(event, Completed) for event in parser.feed(end[-1]))


def test_lines_that_look_like_a_header_are_text_unless_a_hunk_follows() -> None:
    text = DIFF.replace("-y\n+z\n", "--- y\n+++ z\n")
    (hunk,) = hunks(text)
    assert hunk.old == ("x", "-- y", "w") and hunk.new == ("x", "++ z", "w")


def test_wrong_line_counts_are_tolerated() -> None:
    (hunk,) = hunks(DIFF.replace("-1,3 +1,3", "-1,77 +1,1"))
    assert (hunk.old, hunk.new, hunk.line_hint) == (("x", "y", "w"), ("x", "z", "w"), 1)


@pytest.mark.parametrize("heading", ["@@ ... @@", "@@", "@@ @@", "@@ -? +? @@", ""])
def test_a_heading_without_numbers(heading: str) -> None:
    text = f"```diff\n--- a.py\n+++ a.py\n{heading + chr(10) if heading else ''}-y\n+z\n```\n"
    (hunk,) = hunks(text)
    assert (hunk.path, hunk.old, hunk.line_hint) == ("a.py", ("y",), None) and prose(parse([text])) == ""


def test_a_name_in_a_heading_without_numbers_is_an_anchor() -> None:
    (hunk,) = hunks("--- a.py\n+++ a.py\n@@ def f(): @@\n-y\n+z\n")
    assert hunk.anchors == ("def f():",)


def test_a_diff_without_a_header_takes_its_path_from_above_its_fence() -> None:
    text = "Now:\n\nsrc/a.py\n```diff\n@@ -1 +1 @@\n-y\n+z\n```\nDone.\n"
    (hunk,) = hunks(text)
    assert hunk.path == "src/a.py" and prose(parse([text])) == "Now:\n\nDone.\n"
    assert hunks("```diff\n-y\n+z\n```\n") == []


@pytest.mark.parametrize(
    ("names", "path"),
    [
        ("--- a/x.py\n+++ b/x.py\n", "x.py"),
        ("--- x.py\t2026-01-01 10:00:00\n+++ x.py\t2026-01-02\n", "x.py"),
        ("--- x.py 2026-01-01 10:00:00.0 +0000\n+++ x.py 2026-01-02 10:00:00.0 +0000\n", "x.py"),
        ("--- x.py.orig\n+++ x.py\n", "x.py"),
        ("--- /dev/null\n+++ b/x.py\n", "x.py"),
        ("--- a/x.py\n+++ a/x.py\n", "a/x.py"),
        ("--- a/dir name/x.py\n+++ b/dir name/x.py\n", "dir name/x.py"),
        ('--- "a/caf\\303\\251.py"\n+++ "b/caf\\303\\251.py"\n', "café.py"),
    ],
)
def test_names(names: str, path: str) -> None:
    assert [hunk.path for hunk in hunks(names + "@@ -1 +1 @@\n-y\n+z\n")] == [path]


def test_the_action_is_in_the_header() -> None:
    moved = "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n"
    gone = "diff --git a/g b/g\ndeleted file mode 100644\n--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    made = "diff --git a/m b/m\nnew file mode 100644\n--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+x\n"
    said = [(hunk.action, hunk.path, hunk.move_to) for hunk in hunks(moved + gone + made)]
    assert said == [(Action.MOVE, "o", "n"), (Action.DELETE, "g", None), (Action.ADD, "m", None)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("diff --git a/a b/a\nold mode 100644\nnew mode 100755\n", RefusalCode.MALFORMED),
        ("diff --git a/a b/b\ncopy from a\ncopy to b\n", RefusalCode.MALFORMED),
        ("diff --git a/a b/a\nnew file mode 120000\n@@ -0,0 +1 @@\n+t\n", RefusalCode.MALFORMED),
        ("diff --git a/a b/a\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKc${Nk\n", RefusalCode.BINARY),
        ("diff --git a/a b/a\nBinary files a/a and b/a differ\n", RefusalCode.BINARY),
        ("diff --git a/a b/a\nindex 1..2 100644\n", RefusalCode.MALFORMED),
        ("```diff\n--- a\n+++ a\n@@ -1 +1 @@\n-x\nno mark\n+y\n```\n", RefusalCode.MALFORMED),
    ],
)  # fmt: skip
def test_impossible_edits_are_refused(text: str, code: RefusalCode) -> None:
    assert hunks(text) == [] and broken(text) == [code]
    assert [hunk.path for hunk in hunks(f"{text}diff --git a/a.py b/a.py\n{DIFF}")] == ["a.py"]


def test_after_a_wrong_line_the_next_hunk_is_read() -> None:
    text = f"```diff\n{DIFF}oops\n+v\n@@ -9 +9 @@\n-q\n+r\n```\n".replace(",3", ",5")
    assert broken(text) == [RefusalCode.MALFORMED] and [hunk.old for hunk in hunks(text)] == [("q",)]


def test_prose_after_a_diff_is_prose() -> None:
    text = f"{DIFF}\nThat was it:\n- a point\n"
    assert [hunk.old for hunk in hunks(text)] == [("x", "y", "w")]
    assert prose(parse(list(text))) == "That was it:\n- a point\n"


def test_prose_in_the_middle_of_a_diff_refuses_its_hunk() -> None:
    loose = DIFF.replace("@@ -1,3 +1,3 @@", "@@")
    assert broken(f"{loose}\ndef g():\n-v\n+u\n") == [RefusalCode.MALFORMED]
    text = f"{loose}\ndef g():\n@@\n-q\n+r\n"
    assert broken(text) == [RefusalCode.MALFORMED] and [hunk.old for hunk in hunks(text)] == [("q",)]


def test_text_that_only_looks_like_a_diff_is_prose() -> None:
    text = "diff --git is a command.\n---\ntitle: x\n---\n\n--- a note ---\nand +++ text\n- old\n+ new\n"
    assert prose(parse(list(text))) == text == prose(parse([text]))


def test_a_mail_signature_is_not_a_deleted_line() -> None:
    (hunk,) = hunks(DIFF + "-- \n2.43.0\n")
    assert hunk.old == ("x", "y", "w")


def test_a_cut_diff_is_incomplete() -> None:
    assert hunks(DIFF, clean=False) == [] and broken(DIFF, clean=False) == [RefusalCode.INCOMPLETE]
    assert len(hunks(DIFF)) == 1


def test_a_heredoc_around_a_diff_is_its_wrapping() -> None:
    events = parse([f"git apply <<'EOF'\n{DIFF}EOF\nDone.\n"])
    assert prose(events) == "Done.\n" and any(isinstance(event, Completed) for event in events)


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("a\nb", "-b\n\\ No newline at end of file\n+b\n", "a\nb\n"),
        ("a\nb\n", "-b\n+b\n\\ No newline at end of file\n", "a\nb"),
        ("a\nb\n", "-b\n+c\n\\ No newline at end of file\n", "a\nc"),
        ("a\nb", "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", "a\nc"),
        ("a\r\nb", "-b\n\\ No newline at end of file\n+b\n+c\n", "a\r\nb\r\nc\r\n"),
    ],
)
def test_the_final_newline_is_as_the_diff_says(tmp_path: Path, before: str, body: str, after: str) -> None:
    project = Project(tmp_path)
    project.write({"a": before})
    project.apply(f"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\n{body}")
    assert project.refusals == [] and project.read_bytes()["a"].decode() == after
    project.landing.undo()
    assert project.read_bytes()["a"].decode() == before


def test_a_deletion_must_show_the_file_as_it_is(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write({"a": "mine\n"})
    project.apply("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-theirs\n")
    assert [getattr(refused, "code", None) for refused in project.refusals] == [RefusalCode.NO_MATCH]
    project.apply("--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-mine\n")
    assert project.read() == {}


def test_lines_of_a_diff_are_shown_as_they_are_typed() -> None:
    parser = AutoParser()
    parser.feed("--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n x\n")
    assert parser.feed("-y") == [Typed(1, LineKind.OLD, "y")]
    assert parser.feed("\n--") == [Typed(1, LineKind.OLD, "\n")]
    assert parser.feed("z") == [Typed(1, LineKind.OLD, "-z")]


def test_prose_after_a_binary_file_is_prose() -> None:
    text = "Binary files a/a and b/a differ\n"
    assert prose(parse([f"diff --git a/a b/a\n{text}That is an image.\n"])) == "That is an image.\n"
