"""Completions of a mention, best first, as a table; and the forms of words."""

from __future__ import annotations

import pytest

from context.find import completion
from context.find.completion import complete
from context.find.expansion import forms, other_forms
from context.find.mentions import Mention, find_mentions, resolve_target, unresolved_mentions
from context.project.project import Project
from context.project.snapshot import Snapshot
from tests.context.conftest import Repo

CODE = "class Queue:\n    def push(self): ...\n\n    def pop(self): ...\n\n\ndef quick_start(): ...\n"
FILES = {
    "src/queue.py": CODE,
    "src/quiet.py": "def queue_all(): ...\n",
    "src/deep/que.py": "x = 1\n",
    "my queue.md": "# Q\n",
    "lib/unique.py": "",
    "lib/equeue.py": "y = 1\n",
    "Makefile": "all:\n",
    "que/other.py": "z = 1\n",
    ".jjj/w.txt": "words\n",
}


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    root = tmp_path_factory.mktemp("completed") / "project"
    root.mkdir()
    repo = Repo(root)
    repo.commit(**FILES)
    repo.write("lib/equeue.py", "y = 2\n")
    repo.write("new.py", "n = 1\n")
    return Project(root).scan()


COMPLETIONS: list[tuple[str, list[str]]] = [
    ("src/queue.py", ["@src/queue.py file"]),
    ("new.py", ["@new.py file untracked"]),
    ("none.py:q", []),
    ("queue.py", ["@src/queue.py file", "@lib/equeue.py file modified"]),
    (
        "e",
        [
            "@lib/equeue.py file modified",
            "@new.py file untracked",
            "@que/ folder",
            "@Makefile file",
            "@src/deep/ folder",
            '@"my queue.md" file',
            "@que/other.py file",
            "@src/queue.py file",
            "@src/quiet.py file",
            "@lib/unique.py file",
            "@src/deep/que.py file",
        ],
    ),
    (
        "",
        [
            "@new.py file untracked",
            "@lib/equeue.py file modified",
            "@lib/ folder",
            "@que/ folder",
            "@src/ folder",
            "@Makefile file",
            "@src/deep/ folder",
            '@"my queue.md" file',
            "@que/other.py file",
            "@src/queue.py file",
            "@src/quiet.py file",
            "@lib/unique.py file",
        ],
    ),
    (
        "q",
        [
            "@que/ folder",
            "@src/queue.py file",
            "@src/quiet.py file",
            "@src/deep/que.py file",
            "@que/other.py file",
            "@lib/equeue.py file modified",
            '@"my queue.md" file',
            "@lib/unique.py file",
        ],
    ),
    (
        "que",
        [
            "@que/ folder",
            "@src/deep/que.py file",
            "@src/queue.py file",
            "@Queue symbol src/queue.py",
            "@queue_all symbol src/quiet.py",
            "@que/other.py file",
            "@lib/equeue.py file modified",
            '@"my queue.md" file',
            "@lib/unique.py file",
            "@src/quiet.py file",
        ],
    ),
    ("Que", ["@Queue symbol src/queue.py"]),
    ("QUE", []),
    (
        "qu",
        [
            "@que/ folder",
            "@src/queue.py file",
            "@src/quiet.py file",
            "@src/deep/que.py file",
            "@Queue symbol src/queue.py",
            "@queue_all symbol src/quiet.py",
            "@quick_start symbol src/queue.py",
            "@que/other.py file",
            "@lib/equeue.py file modified",
            '@"my queue.md" file',
            "@lib/unique.py file",
        ],
    ),
    ("src/q", ["@src/queue.py file", "@src/quiet.py file", "@src/deep/que.py file"]),
    ("./src/q", ["@src/queue.py file", "@src/quiet.py file", "@src/deep/que.py file"]),
    ('"my', ['@"my queue.md" file']),
    (
        "src/queue.py:",
        [
            "@src/queue.py::pop symbol",
            "@src/queue.py::push symbol",
            "@src/queue.py::Queue symbol",
            "@src/queue.py::quick_start symbol",
        ],
    ),
    ("src/queue.py::p", ["@src/queue.py::pop symbol", "@src/queue.py::push symbol"]),
    ("src/queue.py:PO", []),
    ("src/*.py", ["@src/*.py glob 2 files", "@src/queue.py file", "@src/quiet.py file"]),
    ("src/queue.py:9", []),
    ("Makefile:", ["@Makefile::all symbol"]),
    ("sque", ["@src/queue.py file", "@src/quiet.py file", "@src/deep/que.py file"]),
    (
        "src",
        [
            "@src/ folder",
            "@src/deep/ folder",
            "@src/queue.py file",
            "@src/quiet.py file",
            "@src/deep/que.py file",
        ],
    ),
    ("zz", []),
    ("que/", ["@que/other.py file"]),
    ("quick", ["@quick_start symbol src/queue.py"]),
    ("n?w.py", ["@n?w.py glob 1 file", "@new.py file"]),
    ("[n]ew.py", ["@[n]ew.py glob 1 file", "@new.py file"]),
    ("my*", ["@my* glob 1 file", '@"my queue.md" file']),
    ("l", ["@lib/ folder", "@lib/equeue.py file modified", "@lib/unique.py file", "@Makefile file"]),
]
"""What was typed, and what it could become: the mention, what it is of, and what is told of that."""

FORMS = {
    "connecting": (
        "connectinge connectings connectinges connectinged connectinging connectinger connectingers "
        "connectingion connectingor connect connecte connects connectes connected connecter connecters "
        "connection connector "
    ),
    "parsing": (
        "parsinge parsings parsinges parsinged parsinging parsinger parsingers parsingion parsingor "
        "pars parse parss parses parsed parser parsers parsion parsor "
    ),
    "queries": (
        "queriese queriess querieses queriesed queriesing querieser queriesers queriesion queriesor "
        "queri querie queris queried queriing querier queriers queriion querior "
        "query querye querys queryes queryed querying queryer queryers queryion "
        "queryor queriee queriees querieed querieing querieer querieers querieion querieor "
    ),
    "editors": (
        "editorse editorss editorses editorsed editorsing editorser editorsers editorsion editorsor "
        "editor editore editores editored editoring editorer editorers editorion editoror "
        "edit edite edits edites edited editing editer editers edition "
    ),
    "as": ("ase ass ases ased asing aser asers asion asor "),
    "users": (
        "userse userss userses usersed usersing userser usersers usersion usersor "
        "user usere useres usered usering userer userers userion useror "
    ),
    "creation": (
        "creatione creations creationes creationed creationing creationer creationers creationion creationor "
        "cre cree cres crees creed creing creer creers creion "
        "creor creat create creats creates created creating creater creaters "
        "creator "
    ),
    "errorors": (
        "errororse errororss errororses errororsed errororsing errororser errororsers errororsion errororsor "
        "erroror errorore errorores errorored errororing errororer errororers errororion errororor "
        "error errore errors errores errored erroring errorer errorers errorion "
    ),
    "class": (
        "classe classs classes classed classing classer classers classion classor "
        "clas clase clases clased clasing claser clasers clasion clasor "
    ),
}
"""Words, and the forms that they may have in a name, in order."""

MENTIONS: list[tuple[str, list[str], dict[str, str]]] = [
    ('@"nothing here"', [], {"@nothing here": "names nothing that belongs to this project"}),
    ("@src/queue.py:3-1", ["src/queue.py range(0, 3)"], {}),
    ("@src/queue.py:0-3", ["src/queue.py range(0, 3)"], {}),
    ("@src/queue.py:3", ["src/queue.py"], {}),
    ("@src/queue.py#Queue.pop", ["src/queue.py  Queue.pop"], {}),
    ("@src/queue.py:Queue", ["src/queue.py  Queue"], {}),
    ("@Queue::pop", ["src/queue.py  Queue.pop"], {}),
    ("@pop", ["src/queue.py  pop"], {}),
    ("@src/", ["src/deep/que.py", "src/queue.py", "src/quiet.py"], {}),
    ("@src", ["src/deep/que.py", "src/queue.py", "src/quiet.py"], {}),
    ("src/", [], {}),
    ("@src/deep/", ["src/deep/que.py"], {}),
    ("./src/queue.py", ["src/queue.py"], {}),
    ("src/queue.py:3:1:2", ["src/queue.py"], {}),
    ("src/queue.py:1:2:3:4", [], {}),
    ("quiet.py", ["src/quiet.py"], {}),
    ("@quiet.py.", ["src/quiet.py"], {}),
    ("(@quiet.py)", ["src/quiet.py"], {}),
    ('@"my queue.md":1-2', ["my queue.md range(0, 2)"], {}),
    ('@"my queue.md"', ["my queue.md"], {}),
    ("my queue.md", [], {}),
    ("@@src/queue.py", [], {"@@src/queue.py": "names nothing that belongs to this project"}),
    ("a@src/queue.py", [], {}),
    ("@src/queue.py:1234567890123-2", ["src/queue.py range(1, 123456789)"], {}),
    ("queue.py quiet.py queue.py", ["src/queue.py", "src/quiet.py"], {}),
    ("@Makefile", ["Makefile"], {}),
    ("Makefile", [], {}),
    ("@src/q*.py", ["src/queue.py", "src/quiet.py"], {}),
    ("@./src/q*.py:1-2", [], {"@./src/q*.py:1-2": "names nothing that belongs to this project"}),
    ("@*.md @my", ["my queue.md"], {}),
]
"""Requests, the mentions in them, and what of them could not be found."""

TARGETS: list[tuple[str, list[str]]] = [
    ("src/queue.py", ["src/queue.py"]),
    ('"my queue.md"', ["my queue.md"]),
    ("@src/queue.py:2-3", ["src/queue.py range(1, 3)"]),
    ('"my queue.md":2-2', ["my queue.md range(1, 2)"]),
    ("Queue.pop", ["src/queue.py  Queue.pop"]),
    ("src", ["src/deep/que.py", "src/queue.py", "src/quiet.py"]),
    ("src/", ["src/deep/que.py", "src/queue.py", "src/quiet.py"]),
    ("src/*.py", ["src/queue.py", "src/quiet.py"]),
    ("none", []),
    ("", []),
    ("@", []),
]
"""Targets of commands, and what they mean."""


def told(mentions: tuple[Mention, ...]) -> list[str]:
    return [f"{each.path} {each.lines or ''} {each.symbol or ''}".strip() for each in mentions]


@pytest.mark.parametrize(
    ("typed", "found"), COMPLETIONS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_was_typed_is_completed(snapshot: Snapshot, typed: str, found: list[str]) -> None:
    completions = complete(typed, snapshot)
    assert [f"{each.text} {each.target} {each.detail}".strip() for each in completions] == found
    assert complete(typed, snapshot, 2) == completions[:2]


@pytest.mark.parametrize("word", FORMS)
def test_the_forms_of_a_word(word: str) -> None:
    assert list(forms(word)) == FORMS[word].split()


@pytest.mark.parametrize(("request_text", "found", "lost"), MENTIONS)
def test_what_a_request_mentions(
    snapshot: Snapshot, request_text: str, found: list[str], lost: dict[str, str]
) -> None:
    assert told(find_mentions(request_text, snapshot)) == found
    assert unresolved_mentions(request_text, snapshot) == lost


@pytest.mark.parametrize(("target", "found"), TARGETS)
def test_what_the_target_of_a_command_means(snapshot: Snapshot, target: str, found: list[str]) -> None:
    assert told(resolve_target(target, snapshot)) == found


def test_the_names_of_a_large_project_are_searched_up_to_a_limit(
    snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    defined = {path: len(entry.names) for path, entry in snapshot.entries.items() if entry.names}
    assert list(defined.values()) == [1, 1, 1, 1, 1, 4, 1], "the files with names, in order"
    for most, found in ((10, 3), (9, 2), (8, 0)):
        monkeypatch.setattr(completion, "_MOST_NAMES", most)
        symbols = [each for each in complete("qu", snapshot) if each.target == "symbol"]
        assert len(symbols) == found, most


def test_the_weight_of_another_form_is_less_in_a_longer_request(snapshot: Snapshot) -> None:
    def weight(others: int) -> float:
        asked = {"queues": 0.5, **{f"word{chr(97 + n // 26)}{chr(97 + n % 26)}": 1.0 for n in range(others)}}
        return round(other_forms(asked, snapshot.words).get("queue", 0.0), 4)

    assert [weight(others) for others in (0, 9, 10, 19, 39, 40)] == [0.3, 0.3, 0.2727, 0.15, 0.075, 0.0]
    assert other_forms({"queues": 0.5, "queued": 1.0}, snapshot.words)["queue"] == 0.6, "the larger counts"
    assert other_forms({"queue": 1.0, "q9s": 1.0, "quéues": 1.0}, snapshot.words) == {}


def test_a_word_that_is_no_english_word_leaves_the_others_their_forms(snapshot: Snapshot) -> None:
    assert other_forms({"q9s": 1.0, "queues": 1.0}, snapshot.words) == {"queue": 0.6}


def test_a_qualified_name_means_the_files_that_define_what_is_around_it(repo: Repo) -> None:
    stack = "class Stack:\n    def pop(self): ...\n"
    repo.commit(**{"a.py": CODE, "b.py": stack, "c.py": "def pop(): ...\n"})
    snapshot = Project(repo.root).scan()
    for name, paths in (("Stack.pop", "b.py"), ("Queue.pop", "a.py"), ("None.pop", "a.py b.py c.py")):
        assert " ".join(each.path for each in find_mentions(f"@{name}", snapshot)) == paths
