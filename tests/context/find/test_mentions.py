from __future__ import annotations

from pathlib import Path

import pytest

from context.find.completion import Target, complete
from context.find.mentions import (
    Mention,
    find_mentions,
    resolve_target,
    unresolved_mentions,
)
from context.project.project import Project
from context.project.project_paths import ProjectPaths
from context.project.snapshot import Snapshot
from context.text.globs import glob
from context.text.tokens import Counter
from context.window.window import WindowRequest, build
from tests.context.conftest import Repo

PATHS = (
    "README.md",
    "src/app.py",
    "src/ui/app.ts",
    "src/ui/view.ts",
    "docs/a b.md",
    "lib/util.py",
    "test/util.py",
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at @src/app.py please", ("src/app.py",)),
        ("look at @src/app.py, then @README.md.", ("src/app.py", "README.md")),
        ("(@./src/app.py:12)", ("src/app.py",)),
        ('see @"docs/a b.md"', ("docs/a b.md",)),
        ("all of @src/ui/", ("src/ui/app.ts", "src/ui/view.ts")),
        ("fix src/app.py:10:4: it fails", ("src/app.py",)),
        ("does view.ts work?", ("src/ui/view.ts",)),
        ("util.py is ambiguous", ()),
        ("@util.py too", ()),
        ("mail me at someone@src/app.py", ()),
        ("src is a word, and so is docs", ()),
        ("@nowhere/at.all", ()),
        ("", ()),
    ],
)
def test_mentions(text: str, found: tuple[str, ...]) -> None:
    snapshot = Snapshot(Path("/project"), paths=tuple(sorted(PATHS)))
    assert tuple(mention.path for mention in find_mentions(text, snapshot)) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.ts", ("src/ui/app.ts", "src/ui/view.ts")),
        ("src/*", ("src/app.py",)),
        ("src/**/*.ts", ("src/ui/app.ts", "src/ui/view.ts")),
        ("src/**", ("src/app.py", "src/ui/app.ts", "src/ui/view.ts")),
        ("**/util.p?", ("lib/util.py", "test/util.py")),
        ("[!t]*/util.py", ("lib/util.py",)),
        ("src/[a-c]pp.py", ("src/app.py",)),
        ("src/[z-a]pp.py", ()),
        ("[", ()),
    ],
)
def test_globs(pattern: str, found: tuple[str, ...]) -> None:
    assert ProjectPaths(tuple(sorted(PATHS))).matching(pattern) == found


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*a" * 40 + "b", False),
        ("**/*a" * 40 + "b", False),
        ("**/" * 2_000 + "a*", True),
        ("*" * 3_000, True),
        ("?" * 3_000, False),
        ("[!" * 1_000, False),
        ("**a**a**", True),
    ],
)
def test_no_glob_takes_exponential_time(pattern: str, found: bool) -> None:
    path = f"{'a/' * 60}{'a' * 200}"
    assert ProjectPaths((path,)).matching(pattern) == (path,) * found


def test_a_glob_finds_what_the_matcher_says_of_each_path() -> None:
    paths = ProjectPaths(tuple(sorted(PATHS)))
    for pattern in ("./src/ui/*.ts", "src/u*/a*", "*/util.py", "lib/[tu]til.py", "no/*", "lib", "**pp.py"):
        assert paths.matching(pattern) == tuple(filter(glob(pattern), paths.all)), pattern


def test_a_request_with_too_many_patterns_says_so(repo: Repo, counter: Counter) -> None:
    repo.commit(**{f"src/part{n:03}.py": f"x = {n}\n" for n in range(40)})
    text = " ".join(f"@src/*{n:03}.py" for n in range(40)) + " @src/*001.py @src/part039.py"
    window = build(WindowRequest(text, "", 90_000), Project(repo.root).scan(), counter)
    named = [piece.path for piece in window.pieces if piece.why == "named in the request; whole"]
    assert named == [f"src/part{n:03}.py" for n in (*range(30), 39)]
    told = {left.path: left.why for left in window.left_out if left.named}
    assert told.keys() == {f"@src/*{n:03}.py" for n in range(30, 40)}
    assert set(told.values()) == {"is not looked up: a request may have 30 patterns"}


CODE = '''class Queue:
    """Waits."""

    def push(self, job):
        return self.jobs.append(job)

    def pop(self):
        return self.jobs.pop()


def start_worker(queue):
    return queue
'''


def test_parts_of_files_are_mentioned_by_lines_and_by_definitions(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"src/queue.py": CODE, "src/other.py": "def pop_all(): ...\n", "a b.py": "x = 1\ny = 2\n"})
    snapshot = Project(repo.root).scan()
    assert find_mentions('@src/queue.py:4-5, @"a b.py":2-1', snapshot) == (
        Mention("src/queue.py", lines=range(3, 5)),
        Mention("a b.py", lines=range(2)),
    )
    assert find_mentions("see @start_worker.", snapshot) == (Mention("src/queue.py", symbol="start_worker"),)
    assert find_mentions("@Queue.pop and @nothing", snapshot) == (
        Mention("src/queue.py", symbol="Queue.pop"),
    )
    assert find_mentions("@src/*.py", snapshot) == (Mention("src/other.py"), Mention("src/queue.py"))
    shown = next(
        piece
        for piece in build(WindowRequest("@Queue.pop", "", 9000), snapshot, counter).pieces
        if piece.path == "src/queue.py"
    )
    assert shown.why == "named in the request: Queue.pop"
    assert "        return self.jobs.pop()\n" in shown.text and "jobs.append" not in shown.text


def test_a_qualified_name_selects_one_of_several_definitions(repo: Repo, counter: Counter) -> None:
    repo.commit(
        **{
            "src/queue.py": f"{CODE}\n\nclass Stack:\n    def pop(self):\n        return self.top.pop()\n",
            "src/stack.go": "type Stack struct{}\n\nfunc (s *Stack) Pop() int {\n\treturn 1\n}\n\n"
            "type Queue struct{}\n\nfunc (q *Queue) Pop() int {\n\treturn 2\n}\n",
        }
    )
    snapshot = Project(repo.root).scan()

    def text(request: str, path: str) -> str:
        window = build(WindowRequest(request, "", 9000), snapshot, counter)
        return next(piece.text for piece in window.pieces if piece.path == path)

    assert "self.top.pop()" not in text("@Queue.pop", "src/queue.py")
    assert "self.jobs.pop()" not in text("@src/queue.py::Stack.pop", "src/queue.py")
    assert "self.top.pop()" in text("@src/queue.py:Stack.pop", "src/queue.py")
    assert "self.jobs.pop()" in text("@Unheard.pop", "src/queue.py")
    assert "return 2" in text("@Queue.Pop", "src/stack.go")
    assert "return 1" not in text("@Queue.Pop", "src/stack.go")
    assert find_mentions("@src/queue.py::nothing", snapshot) == ()


def test_lines_of_a_quoted_path(repo: Repo) -> None:
    repo.commit(**{"src/queue.py": CODE})
    snapshot = Project(repo.root).scan()
    assert find_mentions('@"src/queue.py":4-5', snapshot) == (Mention("src/queue.py", lines=range(3, 5)),)


def test_mentions_without_a_result_are_reported(repo: Repo, counter: Counter) -> None:
    repo.commit(
        **{f"src/m{at}.py": "def run():\n    pass\n" for at in range(9)},
        **{"a.py": CODE, "b/m.py": "", "lib/m.py": "", "x/m.py": ""},
    )
    repo.write("data.bin", b"\0\1")
    repo.write(".gitignore", "out/\n")
    repo.write("out/made.py", "x = 1\n")
    (repo.root / "lib/nested").mkdir()
    repo.git("init", "-q", "lib/nested")
    request = "@out/made.py @lib/nested/a.py @src/nope.py @../x.py @/etc/passwd.d/"
    left = build(WindowRequest(request, "", 9000), Project(repo.root).scan(), counter).left_out
    assert {each.path: each.why for each in left if each.named} == {
        "@out/made.py": "is not a file of the project: it is ignored, or has just been created",
        "@lib/nested/a.py": "is in lib/nested, which is not shown: a folder with a repository of its own",
        "@src/nope.py": "names nothing that belongs to this project",
        "@../x.py": "is outside of this project",
        "@/etc/passwd.d/": "is outside of this project",
    }
    request = "@src/nope.py, @lib/*.js @nope.py @property @a.py:3-4 @run @m.py @data.bin; mail to a@b.py"
    window = build(WindowRequest(request, "", 9000), Project(repo.root).scan(), counter)
    assert {left.path: left.why for left in window.left_out if left.named} == {
        "@src/nope.py": "names nothing that belongs to this project",
        "@lib/*.js": "names nothing that belongs to this project",
        "@nope.py": "names nothing that belongs to this project",
        "@m.py": "could be any of b/m.py, lib/m.py and 1 more: give its folder too",
        "@run": "is defined in 9 files: name one of them, as in @src/m0.py::run",
        "data.bin": "a binary file",
    }


def test_a_file_of_a_submodule_is_shown_where_it_is_named(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"a.py": CODE})
    repo.git("init", "-q", "lib/nested")
    for name in ("far.py", ".env", "data.bin", ".git/config"):
        repo.write(f"lib/nested/{name}", "TOKEN=1\0\n" if name == "data.bin" else "far = 1\n")
    (repo.root / "lib/nested/link.py").symlink_to(repo.root / "a.py")
    snapshot = Project(repo.root).scan()
    assert find_mentions("@lib/nested/far.py:1-1.", snapshot) == (
        Mention("lib/nested/far.py", lines=range(1)),
    )
    window = build(WindowRequest("See @lib/nested/far.py.", "", 9000), snapshot, counter)
    assert "## File: lib/nested/far.py\n\n```python\nfar = 1\n```" in window.text
    assert not [left for left in window.left_out if left.named]
    request = (
        "far @lib/nested/.env @lib/nested/data.bin @lib/nested/.git/config @lib/nested/link.py @lib/nested/"
    )
    assert find_mentions(f"{request} @lib/nested/../nested/far.py", snapshot) == ()


def reasons(request: str, snapshot: Snapshot) -> dict[str, str]:
    assert find_mentions(request, snapshot) == ()
    return unresolved_mentions(request, snapshot)


@pytest.mark.parametrize("place", ["/etc/passwd", "~/notes", "../other", "/etc/passwd:1-3", "./../x"])
def test_a_place_outside_of_the_project_is_reported(repo: Repo, place: str) -> None:
    repo.commit(**{"a.py": CODE})
    snapshot = Project(repo.root).scan()
    assert reasons(f"look at @{place}.", snapshot) == {f"@{place}": "is outside of this project"}
    assert reasons(f'look at @"{place}"', snapshot).popitem()[1] == "is outside of this project"
    # These are no places: an import by an alias, a package, a handle, a decorator.
    assert (
        reasons("import x from '@/parts/Button' and '@scope/name', ask @org/team, @property", snapshot) == {}
    )


def test_a_range_without_a_line_is_refused(repo: Repo) -> None:
    repo.commit(**{"a.py": CODE})
    snapshot = Project(repo.root).scan()
    why = "names no line: lines are counted from 1"
    assert reasons("@a.py:0-0, @a.py:00-0", snapshot) == {"@a.py:0-0": why, "@a.py:00-0": why}
    assert resolve_target("a.py:0-0", snapshot) == ()
    assert find_mentions("@a.py:0-2", snapshot) == (Mention("a.py", lines=range(2)),)


def test_numbers_of_any_length_are_read(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"a.py": CODE})
    snapshot = Project(repo.root).scan()
    request = f"@a.py:3-{'9' * 5_000} and a.py{':1' * 30_000}x a.py:{'9' * 5_000}"
    window = build(WindowRequest(request, "", 90_000), snapshot, counter)
    (shown,) = [piece for piece in window.pieces if piece.path == "a.py"]
    assert "return self.jobs.pop()" in shown.text and len(shown.why) < 100


def test_a_symbol_that_its_file_does_not_define_is_reported(repo: Repo, counter: Counter) -> None:
    repo.commit(
        **{f"src/m{at}.py": "def run():\n    pass\n" for at in range(9)},
        **{"a.py": CODE},
    )
    request = WindowRequest("@a.py::absent @a.py::run, @src/m1.py:Missing.run and @src/m2.py::run", "", 9000)
    left = build(request, Project(repo.root).scan(), counter).left_out
    assert {each.path: each.why for each in left if each.named} == {
        "@a.py::absent": "is not defined in a.py",
        "@a.py::run": "is not defined in a.py",
    }


def test_a_mention_is_not_called_ignored_while_the_project_is_indexed(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"a.py": CODE})
    scanned = Project(repo.root).scan()
    unread = Snapshot(scanned.root, scanned.paths)
    request = WindowRequest("@a.py::absent", "", 9000)
    left = build(request, unread, counter).left_out
    assert [each.why for each in left if each.named] == ["is not known yet: a.py is still being indexed"]
    left = build(WindowRequest("@a.py", "", 9000), Snapshot(scanned.root), counter).left_out
    assert [each.why for each in left if each.named] == [
        "is not known yet: the project is still being indexed"
    ]


def test_lines_past_the_end_of_a_changed_file(repo: Repo, counter: Counter) -> None:
    repo.commit(**{"a.py": CODE, "empty.py": ""})
    repo.write("a.py", CODE.replace("append(job)", "append(job, 1)"))
    request = WindowRequest("@a.py:900-1000 @empty.py:1-2", "", 9000)
    window = build(request, Project(repo.root).scan(), counter)
    shown = next(piece for piece in window.pieces if piece.path == "a.py")
    assert "append(job, 1)" in shown.text and "    return queue\n" in shown.text
    assert any(piece.path == "empty.py" for piece in window.pieces)


def test_completion_ranks_by_how_well_it_matches(repo: Repo) -> None:
    repo.commit(
        **{
            "src/queue.py": CODE,
            "src/main.py": "",
            "docs/queue notes.md": "# Q\n",
            "lib/unique.py": "",
            "lib/equeue.py": "",
        }
    )
    repo.write("lib/equeue.py", "x = 1\n")
    snapshot = Project(repo.root).scan()

    def texts(prefix: str) -> list[str]:
        return [found.text for found in complete(prefix, snapshot)]

    assert texts("queue") == [
        "@src/queue.py",
        "@Queue",
        '@"docs/queue notes.md"',
        "@lib/equeue.py",
    ]
    assert texts("srqu") == ["@src/queue.py"]
    assert texts("lib/") == ["@lib/equeue.py", "@lib/unique.py"]
    assert texts("lib") == ["@lib/", "@lib/equeue.py", "@lib/unique.py"]
    assert texts("Que")[0] == "@Queue" and texts("zzz") == []
    assert texts("")[0] == "@lib/equeue.py" and len(complete("", snapshot, 3)) == 3
    start = complete("start_w", snapshot)
    assert [(found.text, found.target, found.detail) for found in start] == [
        ("@start_worker", Target.SYMBOL, "src/queue.py")
    ]


def test_completion_of_parts_and_globs(repo: Repo) -> None:
    repo.commit(**{"src/queue.py": CODE, "src/other.py": "def pop_all(): ...\n", "a b.py": "x = 1\n"})
    snapshot = Project(repo.root).scan()

    def told(prefix: str, limit: int = 12) -> list[tuple[str, str]]:
        return [(found.text, found.detail) for found in complete(prefix, snapshot, limit)]

    assert told("src/queue.py::po") == [("@src/queue.py::pop", "")]
    assert [text for text, _ in told("src/queue.py:")] == [
        "@src/queue.py::pop",
        "@src/queue.py::push",
        "@src/queue.py::Queue",
        "@src/queue.py::start_worker",
    ]
    assert told("src/queue.py:10-") == []
    assert told("src/*.py") == [("@src/*.py", "2 files"), ("@src/other.py", ""), ("@src/queue.py", "")]
    assert told('"a*.py') == [("@a*.py", "1 file"), ('@"a b.py"', "")]
    assert told("src/*.py", 2) == [("@src/*.py", "2 files"), ("@src/other.py", "")]
    assert told("lib/*") == [] and told("[") == []
    for text, _ in told("src/queue.py::"):
        assert find_mentions(f"see {text}", snapshot)
