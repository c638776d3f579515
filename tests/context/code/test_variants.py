"""Definitions that the preprocessor chooses between are outlined once, with their conditions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.code import definitions
from context.code.outline import definitions_called, outline

pytestmark = pytest.mark.xdist_group("grammars")
"""Each worker that outlines all languages would load their grammars and queries, for more than a second."""

OPEN = """\
#ifdef _WIN32
/* Opens it. */
static int open_it(const char *path)
{
  return 1;
}
#else
static int open_it(const char *path)
{
  return 2;
}
#endif
"""


@pytest.mark.parametrize("name", ["a.c", "a.h", "a.cpp"])
def test_two_variants_of_a_function_are_one_line(name: str) -> None:
    found = outline(name, OPEN)
    assert found.text == "static int open_it(const char *path) — #ifdef _WIN32, #else; Opens it.\n"
    both = definitions_called("open_it", found)
    assert [(symbol.start, symbol.end) for symbol in both] == [(1, 6), (7, 11)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("#if A\nint f(void);\n#elif B /* b */\nint f(void);\n#endif\n", "int f(void) — #if A, #elif B\n"),
        ("#ifdef A\nint f(void);\n#endif\n#ifdef B\nint f(void);\n#endif\n", "int f(void)\n" * 2),
        ("#ifdef A\nint f(void);\n#else\nint g(void);\n#endif\n", "int f(void)\nint g(void)\n"),
        (
            "#ifndef A\n#define SIZE 1\n#else\n#if B\n#define SIZE 2\n#endif\n#endif\n",
            "#define SIZE 1 — #ifndef A, #else\n",
        ),
        (
            "#if A\nstruct v { int one; };\n#else\nstruct v { int two; };\n#endif\n",
            "struct v — #if A, #else\n  int one\n",
        ),
        (
            "".join(f"#{'el' * (n > 0)}if A{n}\nint f(void);\n" for n in range(6)) + "#endif\n",
            "int f(void) — #if A0, #elif A1, #elif A2, #elif A3, …\n",
        ),
        ("#else\nint f(void);\n#endif\n#elif\nint f(void);\n", "int f(void)\n" * 2),
        (
            f"#if {' && '.join(['LONG_NAME'] * 9)}\nint f(void);\n# else\nint f(void);\n# endif\n",
            "int f(void) — #if LONG_NAME && LONG_NAME && LONG_NAME…, #else\n",
        ),
    ],
)
def test_what_is_a_variant(text: str, shown: str) -> None:
    assert outline("a.c", text).text == shown


def test_members_of_different_structs_are_no_variants() -> None:
    text = "struct a {\n#ifdef X\n  int (*f)(void);\n#else\n  long g;\n#endif\n};\nstruct b { int g; };\n"
    assert outline("a.c", text).text == ("struct a\n  int (*f)(void)\n  long g\nstruct b\n  int g\n")


def test_a_file_of_nothing_but_conditions_is_outlined() -> None:
    nested = "#if A\n" * 60_000 + "int f(void);\n#else\nint f(void);\n"
    alike = "#ifndef G\n" + "#if A\nint f(void);\n#endif\n" * 3_000 + "#else\n#endif\n"
    assert [outline("a.c", text).text.count("int f(void)") for text in (nested, alike)] == [2, 3_000]


CASES = {
    "a.ts": (
        "export const vModel: Directive = {\n  deep: true,\n  created(el) {\n    return el\n  },\n}\n"
        "export enum Color { Red, Green = 2 }\n",
        "export const vModel: Directive\n  created(el)\nexport enum Color\n  Red\n  Green = 2\n",
    ),
    "a.js": (
        "const table = {\n  size: 1,\n  find: (key) => key,\n}\nconst plain = { size: 1 }\n",
        "const table\n  find: (key)\nconst plain = { size: 1 }\n",
    ),
    "a.go": (
        "package a\n\nvar _ io.Reader = (*T)(nil)\n\nconst _ = uint(1)\n\n"
        "var (\n\t_ io.Writer = (*T)(nil)\n\tx = 1\n)\n",
        "x = 1\n",
    ),
    "a.rb": (
        "class A\n  alias_method :old, :new\n  alias older newer\n  def shown; end\n\n  private\n\n"
        "  def hidden; end\n  private def secret(x) = x\n  private :shown\nend\n",
        "class A\n  alias_method :old, :new\n  alias older newer\n  def shown\n  private\n  def hidden\n"
        "  private def secret(x)\n  private :shown\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_an_outline_says_in_other_languages(name: str) -> None:
    text, shown = CASES[name]
    assert outline(name, text).text == shown


@given(
    st.lists(
        st.sampled_from(
            [*"# \t\nx", "if", "ifdef A", "elif", "else", "endif", "#if B", "\\\n", "\\\r\n", "\r"]
        ),
        max_size=14,
    )
)
def test_conditions_are_lines_of_their_own(parts: list[str]) -> None:
    source = "".join(parts).encode()
    lines = re.compile(
        rb"^[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b((?:\\\r?\n|[^\n])*)", re.MULTILINE
    )
    assert [(found.end(), *found.groups()) for found in definitions._conditions(source)] == [
        (found.end(), *found.groups()) for found in lines.finditer(source)
    ]
