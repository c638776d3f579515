"""Languages without a grammar are outlined by keywords and indentation."""

from __future__ import annotations

import pytest

from context.code.languages import fence_of, is_code
from context.code.outline import outline
from context.code.plain_languages import plain_language_of, plain_languages
from context.find.ranking import rank
from context.project.project import Project
from tests.context.conftest import Repo

# Of each language a file's name, its text, and the definitions with their line numbers, nested ones indented.
FILES = {
    "lib/a.ex": (
        "defmodule Shop.Cart do\n  # Adds one.\n  def add(cart, item) do\n    cart\n  end\n\n"
        "  defp empty?(cart), do: cart == []\nend\n",
        "Shop.Cart 1-8\n  add 2-5\n  empty? 7-7",
    ),
    "A.hs": ("module A where\n\ndata T = A | B\n\nadd :: Int -> Int\nadd x = x + 1\n", "T 3-3\nadd 5-5"),
    "a.dart": (
        "class Foo extends Bar {\n  int add(int y) {\n    if (y > 1) {\n    }\n    return y;\n  }\n}\n",
        "Foo 1-7\n  add 2-6",
    ),
    "a.R": ("mean_of <- function(x) {\n  x\n}\n", "mean_of 1-3"),
    "a.jl": ("struct Point\n  x\nend\n\nfunction norm(p)\n  p.x\nend\n", "Point 1-3\nnorm 5-7"),
    "iam.tf": (
        '# The role.\nresource "aws_iam_role" "main" {\n  name = 1\n}\n\nvariable "x" {\n}\n',
        "main 1-4\nx 6-7",
    ),
    "a.proto": (
        "message Cart {\n  int32 id = 1;\n}\nservice Shop {\n  rpc Buy(A) returns (B);\n}\n",
        "Cart 1-3\nShop 4-6\n  Buy 5-5",
    ),
    "a.graphql": ("type Cart {\n  id: ID\n}\n\nquery All {\n  id\n}\n", "Cart 1-3\nAll 5-7"),
    "Dockerfile": ("FROM python AS base\nARG PORT=1\nFROM alpine\n", "base 1-1\nPORT 2-2\nalpine 3-3"),
    "Makefile": ("CC := gcc\n# Builds.\nall: a b\n\techo\n\nclean:\n\trm\n", "all 2-4\nclean 6-7"),
    "CMakeLists.txt": ("add_library(core a.c)\nfunction(go)\n  x()\nendfunction()\n", "core 1-1\ngo 2-4"),
    "a.pm": ("package Shop::Cart;\n\nsub add {\n  1;\n}\n", "Shop::Cart 1-1\nadd 3-5"),
    "build.gradle": ("plugins {\n  id 'x'\n}\ntask hello {\n}\n", "plugins 1-3\nhello 4-5"),
    "BUILD.bazel": ("py_library(\n    name = 'a',\n)\n", "py_library 1-3"),
    "a.pyx": ("cdef class A:\n    cdef int go(self, int x):\n        return 1\n", "A 1-3\n  go 2-3"),
    "a.m": ("@implementation A\n- (void)go:(int)x\n{\n  [x y];\n}\n@end\n", "A 1-1\ngo 2-5"),
    "a.ps1": ("Function Get-Thing {\n  1\n}\n", "Get-Thing 1-3"),
    "a.clj": ("(ns a)\n\n(defn add [x]\n  x)\n", "add 3-4"),
    "a.erl": ("-record(cart, {id}).\nadd(X) ->\n    X.\n", "cart 1-1\nadd 2-3"),
    "a.ml": ("type t = int\n\nlet add x =\n  x + 1\n", "t 1-1\nadd 3-4"),
    "a.fs": ("module Shop\n\nlet add x =\n    x + 1\n", "Shop 1-1\nadd 3-4"),
    "a.el": (";; Adds.\n(defun add (x)\n  x)\n", "add 1-3"),
    "a.vim": ("function! Add(x)\n  return a:x\nendfunction\n", "Add 1-3"),
    "a.nim": ("proc add(x: int): int =\n  x\n", "add 1-2"),
    "a.fish": ("function add\n  echo\nend\n", "add 1-3"),
}


def told(name: str, text: str) -> str:
    return "\n".join(
        f"{'  ' * found.depth}{found.name} {found.start + 1}-{found.end}"
        for found in outline(name, text).symbols
    )


@pytest.mark.parametrize("name", FILES)
def test_the_definitions_of_a_file(name: str) -> None:
    text, found = FILES[name]
    assert told(name, text) == found
    assert is_code(name) and fence_of(name)


def test_every_language_is_tried() -> None:
    assert {plain_language_of(name) for name in FILES} == set(plain_languages().values())


def test_an_outline_has_signatures_and_what_is_said_above_them() -> None:
    assert outline("lib/a.ex", FILES["lib/a.ex"][0]).text == (
        "defmodule Shop.Cart\n  def add(cart, item) — Adds one.\n  defp empty?(cart), do: cart == []\n"
    )
    long = f"function {'a' * 200} {{\n}}\n"
    assert outline("a.ps1", long).text == f"function {'a' * 90}…\n"


def test_a_file_without_definitions_is_outlined_by_its_head() -> None:
    assert outline("Makefile", "CC := gcc\n").text == "CC := gcc\n"


@pytest.mark.parametrize(
    ("first", "text", "name"),
    [
        ("#!/bin/sh", "go() {\n  echo\n}\n", "go"),
        ("#!/usr/bin/env python3.11", "def go():\n    pass\n", "go"),
        ("#! /usr/bin/env -S node --test", "function go() {}\n", "go"),
        ("#!/usr/bin/perl -w", "sub go {\n}\n", "go"),
    ],
)
def test_a_script_is_known_by_its_first_line(repo: Repo, first: str, text: str, name: str) -> None:
    repo.commit(
        **{"bin/tool": f"{first}\n{text}", "notes.md": f"# {name} {name} quench\n", "LICENSE": "go\n"}
    )
    snapshot = Project(repo.root).scan()
    found = outline("bin/tool", f"{first}\n{text}")
    assert found.names == {name} and "bin/" not in found.text
    assert snapshot.entries["bin/tool"].names == {name}
    discount = rank(snapshot, "go", []).order.discount
    assert (discount("bin/tool"), discount("LICENSE"), discount("notes.md")) == (1.0, 0.3, 0.3)


def test_a_line_that_names_an_unknown_program_says_nothing() -> None:
    assert outline("tool", "#!/opt/odd\ndef go(): ...\n").names == frozenset()
    assert outline("tool.txt", "#!/bin/sh\ngo() {\n}\n").names == frozenset()
