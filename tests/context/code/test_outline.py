from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context.code import definitions, parsing
from context.code.languages import Language, Loaded, fence_of, language_of, languages, load
from context.code.outline import outline
from context.code.parsing import LARGEST, syntax_error
from tests.faults import in_processes

pytestmark = pytest.mark.xdist_group("grammars")
"""Each worker that outlines all languages would load their grammars and queries, for more than a second."""

SAMPLES = Path(__file__).parent / "samples"
PROJECTS = Path(__file__).parent / "projects"
NAMES, PROJECT_NAMES = (
    sorted(file.name.removesuffix(".sample") for file in folder.glob("*.sample"))
    for folder in (SAMPLES, PROJECTS)
)


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.sample").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_outlines_of_samples(name: str) -> None:
    assert outline(name, sample(name)).text == (SAMPLES / f"{name}.outline").read_text()


def test_the_time_for_a_text_begins_once_its_query_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def slowly(language: Language) -> Loaded:
        now[0] += 60.0
        return load(language)

    monkeypatch.setattr(
        parsing, "time", SimpleNamespace(thread_time=lambda: now[0], perf_counter=lambda: now[0])
    )
    monkeypatch.setattr(definitions, "load", slowly)
    assert outline("Store.swift", sample("Store.swift")).symbols


def test_what_is_embedded_has_no_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    clock = SimpleNamespace(thread_time=lambda: next(ticks) / 200, perf_counter=lambda: next(ticks) / 200)
    monkeypatch.setattr(parsing, "time", clock)
    text = "# Title\n" + ("```python\n" + "def f():\n    pass\n" * 16 + "```\n") * 20
    assert outline("notes.md", text).symbols == ()


@pytest.mark.parametrize("name", PROJECT_NAMES)
def test_outlines_of_real_code(name: str) -> None:
    text = (PROJECTS / f"{name}.sample").read_text()
    assert outline(name, text).text == (PROJECTS / f"{name}.outline").read_text()


@pytest.mark.parametrize("names", [NAMES, PROJECT_NAMES])
def test_every_language_has_a_sample(names: list[str]) -> None:
    sampled = {language_of(name) for name in names}
    # A notebook's cells are Python's.
    assert {each for each in languages().values() if each.name != "notebook"} <= sampled


@pytest.mark.parametrize(
    ("name", "symbol", "first", "last"),
    [
        (
            "inventory.py",
            "Item",
            "@dataclass(frozen=True)",
            "        return Item(self.sku, self.count - amount, self.tags)",
        ),
        ("inventory.py", "low", "    @property", "        return self.count < REORDER_AT"),
        ("cart.js", "Cart", "/**", "}"),
        ("queue.ts", "push", "  // Puts a job at the end.", "  }"),
        ("panel.tsx", "Panel", "/** A panel that can be closed. */", "};"),
        ("server.go", "New", "// New makes a server.", "}"),
        ("ring.rs", "Ring", "/// A fixed ring.", "}"),
        ("list.c", "list_push", "/*", "}"),
        ("list.c", "list_sort", "int", "}"),
        ("Ledger.java", "book", "    // Books an entry and answers its number.", "    }"),
        ("grid.cpp", "Cell", "/// One cell of the grid.", "};"),
        ("Orders.cs", "TakeAsync", "    // Takes one order.", "    }"),
        ("queue.rb", "push", "    # Puts a job at the end.", "    end"),
        ("Mailer.php", "Mailer", "/**", "}"),
        ("MailTest.php", "'throws'", "it('throws', function () {", "})->throws(Exception::class);"),
        ("stack_test.cpp", '"empty"', '    SECTION("empty")', "    }"),
        ("StackSpec.scala", '"pops what was pushed"', '  test("pops what was pushed") {', "  }"),
        ("release.sh", "log", "# Says what is being done.", "}"),
        ("page.html", "greet", "    // Says hello.", "    }"),
        ("guide.md", "Client", "class Client:", "        return self.send(item, count)"),
        ("guide.md", "Install", "## Install", ""),
        ("package.json", '"config"', '  "config": {', "  }"),
        ("Store.swift", "put", "    /// Puts a value under a name.", "    }"),
        ("schema.sql", "customers", "-- Who buys.", ");"),
        ("broken.py", "After", "class After:", "        pass"),
    ],
)
def test_a_symbol_spans_its_comments_and_decorators(name: str, symbol: str, first: str, last: str) -> None:
    lines = sample(name).split("\n")
    found = next(found for found in outline(name, sample(name)).symbols if found.name == symbol)
    assert (lines[found.start], lines[found.end - 1]) == (first, last)


def test_an_edit_inside_a_function_leaves_the_outline_unchanged() -> None:
    text = sample("server.go")
    moved = text.replace("\tstart()\n", "\tstart()\n\tstart()\n\tstart()\n")
    assert outline("a.go", moved).text == outline("a.go", text).text


def test_one_unfinished_line_hides_few_definitions() -> None:
    text = sample("inventory.py").replace("def dump(items", "def half(a, (b\n\ndef dump(items")
    assert {"Item", "low", "dump"} <= outline("a.py", text).names


@pytest.mark.parametrize("extension", [*sorted(name for name in languages() if name[0] == "."), ".unknown"])
def test_any_text_has_an_outline(extension: str) -> None:
    for text in ("", "\n", "\0", "((((", "}" * 500, "\ufeff\ud800", 'a = """', "x" * 10_000, "class", "/*"):
        found = outline(f"f{extension}", text)
        assert found.text == "" or found.text.endswith("\n")


@given(st.sampled_from(NAMES), st.data())
@settings(max_examples=60, deadline=None)
def test_cut_and_spliced_code_never_fails(name: str, data: st.DataObject) -> None:
    text = sample(name)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    spliced = text[:start] + text[end:]
    count = spliced.count("\n") + 1
    for symbol in outline(name, spliced).symbols:
        assert 0 <= symbol.start < symbol.end <= count
        assert "\n" not in symbol.signature + symbol.doc


def test_a_file_in_an_unknown_language_is_shown_by_its_first_lines() -> None:
    assert outline("notes.txt", "\n\none\n" + "x" * 500).head == ("one", "x" * 100)


def test_a_long_data_file_shows_its_upper_levels() -> None:
    inner = ", ".join(f'"k{at}": {at}' for at in range(30))
    text = "{" + ", ".join(f'"top{at}": {{{inner}}}' for at in range(5)) + "}"
    shown = outline("a.json", text).text.splitlines()
    assert [line for line in shown if not line.startswith(" ")][:5] == [f'"top{at}"' for at in range(5)]
    assert (len(shown), shown[-1]) == (41, "… more")


def test_deeper_entries_of_a_long_data_file_are_shown_in_turn() -> None:
    text = "".join(f"[t{at}]\n" + "".join(f"k{key} = 1\n" for key in range(30)) for at in range(3))
    shown = outline("a.toml", text).text.splitlines()
    assert [shown.count(f"  k{key} = 1") for key in (0, 18, 19)] == [3, 3, 0]
    assert len(shown) == 61


EQUAL = "struct P\n  static func == (a: P, b: P) -> Bool\n"


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        (
            "a.py",
            'class Color(Enum):\n    RED = "r"\n    __slots__ = ()\n',
            'class Color(Enum)\n  RED = "r"\n',
        ),
        (
            "a.c",
            'void help(void) {\n  char *text[] = {\n"a"\n  };\n}\n\nint after(int x) {\n  return x;\n}\n',
            "void help(void)\nint after(int x)\n",
        ),
        ("a.c", "typedef struct point {\n  int x;\n} point;\n", "struct point\n  int x\n"),
        ("a.c", "typedef struct _p {\n  int x;\n} p;\n", "typedef struct _p p\n  struct _p\n    int x\n"),
        (
            "a.c",
            "struct u {\n  union {\n    struct { int a; } one;\n    int b;\n  };\n};\n",
            "struct u\n  union\n    struct one\n      int a\n    int b\n",
        ),
        ("a.h", "#ifndef A_H\nextern struct server srv;\n#endif\n", "extern struct server srv\n"),
        ("a.c", "static int table[] = {\n  1,\n  2,\n};\n", "static int table[]\n"),
        ("a.cpp", "class A {\n  struct B {\n    int c;\n  };\n};\n", "class A\n  struct B\n    int c\n"),
        (
            "a.h",
            "/* in the\n   namespace p.\n   class of things. */\n\nint template;\n",
            "int template\n",
        ),
        ("a.js", 'const a = require("a");\nvar b = a.c;\n', "var b = a.c\n"),
        (
            "a.js",
            "module.exports = {\n  run: function (x) {},\n  stop: (y) => 1,\n  plain: 2,\n};\n",
            "run: function (x)\nstop: (y)\n",
        ),
        ("a.d.ts", "declare var flag: boolean\n", "declare var flag: boolean\n"),
        (
            "a.lua",
            'local m = require "m"\nlocal function f() end\nlocal g = function(a) -- b\nreturn\nend\nm.x=1\n',
            "local function f()\nlocal g = function(a)\nm.x=1\n",
        ),
        ("a.kt", "@Target(FILE)\nannotation class Flaky\n", "Flaky\n"),
        ("a.kt", "val a: Int\n  get() {\n    val b = 1\n    return b\n  }\n", "val a: Int\n"),
        (
            "a.kt",
            "fun interface A : B { fun go(x: Int) }\nclass C { val x = 1; fun d() {} }\n",
            "fun interface A : B\n  fun go(x: Int)\nclass C\n  val x = 1\n  fun d()\n",
        ),
        ("a.kts", "val a = make {\n  val b = 1\n}\n", "val a = make { val b = 1 }\n"),
        (
            "a.go",
            "type (\n\tA struct {\n\t\tX int\n\t}\n\tI interface {\n\t\tM()\n\t}\n)\n",
            "A struct\n  X int\nI interface\n  M()\n",
        ),
        ("a.go", "// A is.\ntype A struct {\n\tX int\n}\n", "type A struct — A is.\n  X int\n"),
        ("a.php", "<?php\nget('/', function () {});\n$f = fn($x) => 1;\n", "$f = fn($x)\n"),
        ("a.php", "<?php\ndefine('A', 2);\nrun('A', 2);\n", "define('A', 2)\n"),
        ("a.swift", "struct P {\n  static func == (a: P, b: P) -> Bool { true }\n}\n", EQUAL),
        ("a.ts", "class A {\n  count = 0\n}\n", "class A\n  count = 0\n"),
        ("a.toml", 'dep = { version = "1", path = "x" }\n', 'dep = { version = "1", path = "x" }\n'),
        ("a.sql", "ALTER TABLE a OWNER TO b;\nCREATE SCHEMA app;\n", "CREATE SCHEMA app\n"),
    ],
)
def test_outlines_of_unusual_forms(name: str, text: str, shown: str) -> None:
    assert outline(name, text).text == shown


def test_names_are_those_that_other_code_uses() -> None:
    assert outline("a.lua", "function M.sub.add(x) end").names == {"add"}
    assert outline("a.js", "module.exports.run = function () {};").names == {"run"}
    assert outline("a.md", "# Title\n\n```python\ndef shown(): ...\n```\n").names == frozenset()
    assert outline("a.html", "<script>function go() {}</script>").names == {"go"}


def test_languages_are_found_by_whole_file_names_too() -> None:
    found = language_of("lib/Gemfile")
    assert found is not None and found.name == "ruby"
    assert outline("Rakefile", "def build\nend\n").text == "def build\n"


def test_fences() -> None:
    assert (fence_of("a.py"), fence_of("A.TSX"), fence_of("x.toml"), fence_of("a.odd+")) == (
        "python",
        "tsx",
        "toml",
        "",
    )


def test_a_header_is_parsed_as_c_or_cpp_by_its_content() -> None:
    held = "class Grid {\n public:\n  int at(int x) const;\n};\n"
    assert "  int at(int x) const\n" in outline("grid.h", f"namespace grid {{\n{held}}}\n").text
    plain = "/* of class */\nstruct grid { int class; };\nint grid_at(struct grid *template);\n"
    assert outline("grid.h", plain).names >= {"grid", "grid_at"}


def test_emptied_bodies_hide_no_definitions() -> None:
    text = (
        "static void first(void)\n{\n}\n\nint second(void)\n{\n\treturn 1;\n}\n\n"
        "static struct ops table = {\n\t.one = first,\n};\n\nint third(void)\n{\n\tif (1) {\n\t}\n}\n"
        "#define ONE 1\n/* documented */\n#define TWO 2\n#define LONG \\\n\t3\n"
    )
    found = outline("a.c", text)
    assert found.names == {"first", "second", "table", "third", "ONE", "TWO", "LONG"}
    assert [(symbol.start, symbol.end) for symbol in found.symbols if symbol.name == "third"] == [(13, 18)]
    assert "#define TWO 2 — documented\n" in found.text


HARD_TEXTS = pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.yaml", "- " * 8_000),
        ("a.yaml", "? - " * 200),
        ("a.yml", "".join(f"{' ' * depth}a:\n" for depth in range(600))),
        ("a.md", f"---\n{'- ' * 8_000}\n---\n"),
        ("a.json", "[" * 500_000),
        ("a.c", "*" * 200_000),
        ("a.c", f"int f() {{{'*' * 200_000}"),
        ("a.py", "\\\n" * 400_000),
        ("a.java", "a<" * 30_000),
    ],
    ids=lambda value: value[:8],
)
"""Texts that crash a parser, or that it takes very long for."""


@HARD_TEXTS
def test_no_text_crashes_or_hangs_the_outline(path: str, text: str) -> None:
    assert in_processes(lambda: repr(outline(path, text).symbols)) == ["()"]


@HARD_TEXTS
def test_no_text_crashes_or_hangs_the_syntax_check(path: str, text: str) -> None:
    (answer,) = in_processes(lambda: syntax_error(path, text[:LARGEST]))
    assert answer is None or answer.startswith("syntax error at line ")


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        (
            "a.kt",
            '@Suppress("https://a") // why\n@Old /* x */ fun get(name: String): Instant? = null\n',
            '@Suppress("https://a") @Old fun get(name: String): Instant?\n',
        ),
        ("a.py", "def f(a,  # first\n      b='#x'):  # end\n    pass\n", "def f(a, b='#x')\n"),
        (
            "a.go",
            "func f(a int, // first\n\tb string /* x */) error {\n}\n",
            "func f(a int, b string) error\n",
        ),
        ("b.py", "HALF = WHOLE // 2  # of it\n", "HALF = WHOLE // 2\n"),
        ("a.yml", "home: https://a.org/b # there\n", "home: https://a.org/b\n"),
        ("a.c", "TEST_END /* of one */\nstatic int next(void)\n{\n}\n", "TEST_END static int next(void)\n"),
    ],
)
def test_comments_inside_a_signature_are_left_out(name: str, text: str, shown: str) -> None:
    assert outline(name, text).text == shown


def test_test_blocks_define_no_names_and_hide_what_is_local_to_them() -> None:
    found = outline(
        "a.spec.js", "describe('a queue', () => {\n  function helper() {\n  }\n})\nfunction open() {\n}\n"
    )
    assert found.names == {"open"}
    assert [symbol.inside_function for symbol in found.symbols] == [False, True, False]


def test_assertions_about_go_types_are_in_no_outline() -> None:
    text = "package a\n\nvar _ Reader = (*File)(nil)\n\nvar (\n\t_ Writer = File{}\n\tsize = 1\n)\n"
    assert outline("a.go", text).text == "size = 1\n"


@pytest.mark.parametrize(
    ("comment", "doc"),
    [
        ("/** A word.\t It goes on. **/", "A word. It goes on."),
        ("/* <!-- A word. --> */", "A word."),
        ("// -- a -- b */ -->*", "a -- b"),
        pytest.param("// A word " + "-->" * 300_000, "A word", id="a long row of marks"),
    ],
)
def test_a_comment_documents_a_definition_without_the_marks_around_it(comment: str, doc: str) -> None:
    assert outline("a.js", f"{comment}\nfunction f() {{}}\n").text == f"function f() — {doc}\n"
