"""Which names mean a renamed definition: real files, the real index, all languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from context.project.project import Project
from session.assist.next_edit.causes import MOST_PLACES, Left, left_behind
from session.assist.next_edit.move import Moves


def left(folder: Path, files: str, old: str, new: str) -> Left:
    """What a change of the first file leaves behind; ``files`` are texts, each after a line ``=== path``."""
    texts = dict(part.split("\n", 1) for part in files.lstrip().removeprefix("=== ").split("\n=== "))
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path, text = next(iter(texts.items()))
    assert old in text
    (folder / path).write_text(text.replace(old, new, 1))
    project = Project(folder)
    project.scan()
    return left_behind(((path, tuple(text.split("\n"))),), project.snapshot, Moves())


def places(folder: Path, files: str, old: str, new: str) -> set[tuple[str, str]]:
    """The files and new lines of the places."""
    found = left(folder, files, old, new).places
    return {(each.path, (each.new or ("?",))[0].strip()) for each in found}


SHOP = """
=== shop/cart.py
def total(rows):
    return rows

TEXT = "total"  # the total
x = total
=== shop/__init__.py
from .cart import total

__all__ = ['total']
=== shop/bill.py
from shop import cart

cart.total(1)
row.total = f(total=1)
=== shop/tax.py
from shop import total

def pay(total):
    return total

def due(rows: 'total') -> total:
    return [total for total in rows]
=== other.py
from total import total

total()
=== alias.py
from shop.cart import total as t
=== own.py
def total():
    return 1

total()
"""


def test_python_names_follow_their_imports_and_no_others(tmp_path: Path) -> None:
    assert places(tmp_path, SHOP, "def total", "def amount") == {
        ("shop/cart.py", "x = amount"),
        ("shop/__init__.py", "from .cart import amount"),
        ("shop/__init__.py", "__all__ = ['amount']"),
        ("shop/bill.py", "cart.amount(1)"),
        ("shop/tax.py", "from shop import amount"),
        ("shop/tax.py", "def due(rows: 'amount') -> amount:"),
        ("alias.py", "from shop.cart import amount as t"),
    }


CART = """
=== a.py
class Cart:
    def total(self) -> int:
        return 1

    def tax(self) -> int:
        total = self.total()
        return total
=== b.py
from a import Cart

def f(it: Cart, other: 'Bill'):
    it.total()
    other.total()
    'x'.total()
    made = Cart()
    print(made.total())
=== c.py
class Bill:
    def total(self) -> int:
        return self.total()

class Big(Cart):
    def all(self) -> int:
        return 1 + self.total()
"""


def test_members_are_behind_an_object_of_their_class(tmp_path: Path) -> None:
    assert places(tmp_path, CART, "def total", "def amount") == {
        ("a.py", "total = self.amount()"),
        ("b.py", "it.amount()"),
        ("b.py", "print(made.amount())"),
        ("c.py", "return 1 + self.amount()"),
    }


SCRIPTS = """
=== src/step.ts
/** {@link step} goes, step by step. */
export function step() {}
export const all = { step, x: step }
=== src/index.ts
export * from './step'
=== src/use.tsx
import { step } from '.'
const a = <p step='step'>step {step()}</p>
function f(step: number) { return step }
=== src/other.ts
import { step } from './way'
step()
=== src/list.js
export { step } from './step'
"""


def test_scripts_keep_module_paths_strings_markup_and_keys(tmp_path: Path) -> None:
    assert places(tmp_path, SCRIPTS, "function step", "function walk") == {
        ("src/step.ts", "/** {@link walk} goes, step by step. */"),
        ("src/step.ts", "export const all = { step: walk, x: walk }"),
        ("src/use.tsx", "import { walk } from '.'"),
        ("src/use.tsx", "const a = <p step='step'>step {walk()}</p>"),
        ("src/list.js", "export { walk as step } from './step'"),
    }


def test_a_field_is_no_type_and_no_variable(tmp_path: Path) -> None:
    files = """
=== a.ts
interface Promised { done: boolean }
type done = Promise<void>
function f(it: Promised, done: number) { const { done: d } = it; return it.done || done }
const made: Promised = { done: true }
"""
    assert places(tmp_path, files, "{ done:", "{ over:") == {
        ("a.ts", "function f(it: Promised, done: number) { const { over: d } = it; return it.over || done }"),
        ("a.ts", "const made: Promised = { over: true }"),
    }


GO = """
=== go.mod
module example.com/shop
=== cart/cart.go
package cart

// Total adds up. A Total is an int.
func Total(rows []int) int { return len(rows) }

type Row struct { Total int }

func (r *Row) Sum() int { return r.Total + Total(nil) }
=== cart/more.go
package cart

var x = Total(nil)
=== main.go
package main

import "example.com/shop/cart"
import "other.com/cart2"

var y = cart.Total(nil) + cart2.Total(nil)

func Total() {}
"""


def test_go_sees_its_package_and_what_is_imported(tmp_path: Path) -> None:
    files = GO.split("=== go.mod")[1].split("\n=== ", 1)
    changed = f"=== {files[1]}\n=== go.mod{files[0]}"
    assert places(tmp_path, changed, "func Total", "func Amount") == {
        ("cart/cart.go", "// Amount adds up. A Amount is an int."),
        ("cart/cart.go", "func (r *Row) Sum() int { return r.Total + Amount(nil) }"),
        ("cart/more.go", "var x = Amount(nil)"),
        ("main.go", "var y = cart.Amount(nil) + cart2.Total(nil)"),
    }
    fields = places(tmp_path / "fields", changed, "{ Total int }", "{ Count int }")
    assert fields == {("cart/cart.go", "func (r *Row) Sum() int { return r.Count + Total(nil) }")}


def test_a_rust_type_is_followed_in_its_impl_and_by_use(tmp_path: Path) -> None:
    files = """
=== src/ring.rs
pub struct Ring { pub head: u8 }

impl Ring {
    pub fn new(head: u8) -> Ring { Ring { head } }
}
=== src/lib.rs
mod ring;
pub use ring::Ring;
=== src/use_it.rs
use crate::ring::Ring;
fn f(r: &Ring) -> u8 { r.head }
=== src/own.rs
struct Ring;
fn g() -> Ring { Ring }
"""
    assert places(tmp_path, files, "struct Ring", "struct Circle") == {
        ("src/ring.rs", "impl Circle {"),
        ("src/ring.rs", "pub fn new(head: u8) -> Circle { Circle { head } }"),
        ("src/lib.rs", "pub use ring::Circle;"),
        ("src/use_it.rs", "use crate::ring::Circle;"),
        ("src/use_it.rs", "fn f(r: &Circle) -> u8 { r.head }"),
    }
    assert places(tmp_path / "field", files, "{ pub head", "{ pub first") == {
        ("src/ring.rs", "pub fn new(head: u8) -> Ring { Ring { first: head } }"),
        ("src/use_it.rs", "fn f(r: &Ring) -> u8 { r.first }"),
    }


@pytest.mark.parametrize(
    ("path", "text", "old", "new", "wanted"),
    [
        ("A.java", "class A {\n  int total() { return 1; }\n"
         "  int f(int total) { return total + total(); }\n}\n",
         "int total()", "int amount()", "int f(int total) { return total + amount(); }"),
        ("a.c", "int total(int a) { return a; }\nint f(int b) { return total(b); }\n"
         "int g(int total) { return total; }\n",
         "int total(", "int amount(", "int f(int b) { return amount(b); }"),
        ("a.cpp", "struct Row { int total; };\nint f(Row r, int total) { return r.total + total; }\n",
         "int total;", "int amount;", "int f(Row r, int total) { return r.amount + total; }"),
        ("a.cs", "class A {\n  int Total() { return 1; }\n  int F() { return Total(); } // Total\n}\n",
         "int Total", "int Amount", "int F() { return Amount(); } // Total"),
        ("a.rb", "class Cart\n  def total\n    1\n  end\n  def tax\n    total + 'total'.size\n  end\nend\n",
         "def total", "def amount", "amount + 'total'.size"),
        ("a.php", "<?php\nfunction total($a) { return $a; }\nfunction f($total) { return total($total); }\n",
         "function total", "function amount", "function f($total) { return amount($total); }"),
        ("a.kt", "fun total(a: Int): Int = a\nfun f(b: Int): Int { return total(b) }\n"
         "fun g(total: Int): Int { return total }\n",
         "fun total", "fun amount", "fun f(b: Int): Int { return amount(b) }"),
        ("a.swift", "func total(a: Int) -> Int { return a }\nfunc f(b: Int) -> Int { return total(a: b) }\n"
         "func g(total: Int) -> Int { return total }\n",
         "func total", "func amount", "func f(b: Int) -> Int { return amount(a: b) }"),
        ("a.scala", "object A {\n  def total(a: Int): Int = a\n  def f(b: Int): Int = total(b)\n"
         "  def g(total: Int): Int = total\n}\n",
         "def total", "def amount", "def f(b: Int): Int = amount(b)"),
    ],
)  # fmt: skip
def test_other_languages_leave_what_shadows_and_what_is_text(
    tmp_path: Path, path: str, text: str, old: str, new: str, wanted: str
) -> None:
    assert places(tmp_path, f"=== {path}\n{text}", old, new) == {(path, wanted)}


def test_what_is_not_offered_is_counted(tmp_path: Path) -> None:
    calls = "\n".join("total(1)" for _ in range(MOST_PLACES + 26))
    found = left(tmp_path, f"=== a.py\ndef total(a):\n    return a\n{calls}\n", "def total", "def amount")
    assert (len(found.places), found.total, found.unread) == (MOST_PLACES, MOST_PLACES + 26, 0)


def test_a_changed_signature_is_carried_to_the_callers_that_import_it(tmp_path: Path) -> None:
    files = """
=== a.py
def total(rows, tax):
    return rows
=== b.py
from a import total

total(1, 2)
=== c.py
def total(rows, tax):
    return tax

total(3, 4)
"""
    assert places(tmp_path, files, "(rows, tax)", "(rows)") == {("b.py", "total(1)")}


def test_a_function_follows_its_own_parameters(tmp_path: Path) -> None:
    text = "=== a.py\ndef total(rows, tax):\n    return [tax for tax in rows] + f(tax=tax)\n"
    now = ("a.py", "return [tax for tax in rows] + f(tax=duty)")
    assert places(tmp_path, text, "(rows, tax)", "(rows, duty)") == {now}
    gone = left(tmp_path / "gone", text, "(rows, tax)", "(rows)").places
    assert [(each.line, each.new, each.gone) for each in gone] == [(2, None, "tax")]


HELD = {
    "python": (
        """
=== shelf.py
from pathlib import Path as P
import pathlib

class Book:
    def title(self):
        return 1

class Path:
    def title(self):
        return 2

class Shelf:
    books: list[Book]

    def __init__(self, near: dict[str, Book]):
        self.near: dict[str, "Book"] = near
        self.place = pathlib.Path("x")

    def all(self, other):
        for book in self.books:
            book.title()
        for at, one in enumerate(sorted(self.books)):
            at.title(), one.title()
        for _, each in self.near.items():
            each.title()
        for last in self.near.values():
            last.title()
        for thing in other:
            thing.title()
        for key in self.near:
            key.title()
        return self.place.title()
""",
        ("def title", "def heading"),
        {"book.heading()", "at.title(), one.heading()", "each.heading()", "last.heading()"},
    ),
    "typescript": (
        """
=== grid.ts
export interface Options {
  lanes: number
}
type Handler = (given: Options, n: number) => void
export class Grid {
  options!: Required<Options>
  all: Options[] = []
  named = new Map<string, Options>()
  constructor(private given: Options) {}
  take(n: number, one: Options) {
    this.take(1, { lanes: 2 })
    this.take({ lanes: 3 }, null)
    other({ lanes: 4 })
    free(cond ? { lanes: 5 } : null)
    this.options = { lanes: 6 }
    for (const each of this.all) each.lanes
    this.all.forEach((first, at) => first.lanes + at.lanes)
    this.all.map(only => only.lanes)
    return this.options.lanes
  }
}
const build: Handler = ({ lanes }, n) => n
export function free(it: Options): void {}
new Grid({ lanes: 7 })
const outer: { inner: Options } = { lanes: 8 }
type Count = Options['lanes'] | Pick<Options, 'lanes'> | Foo['lanes']
type Of<T extends Partial<Options>, G extends Grid> = [T['lanes'], G['options']['lanes']]
""",
        ("lanes: number", "columns: number"),
        {
            "this.take(1, { columns: 2 })",
            "free(cond ? { columns: 5 } : null)",
            "this.options = { columns: 6 }",
            "for (const each of this.all) each.columns",
            "this.all.forEach((first, at) => first.columns + at.lanes)",
            "this.all.map(only => only.columns)",
            "return this.options.columns",
            "const build: Handler = ({ columns: lanes }, n) => n",
            "new Grid({ columns: 7 })",
            "type Count = Options['columns'] | Pick<Options, 'columns'> | Foo['lanes']",
            "type Of<T extends Partial<Options>, G extends Grid> = [T['columns'], G['options']['columns']]",
        },
    ),
    "javascript": (
        """
=== port.js
export class Port {
  postMessage(text) {}
  sendAround(text) {}
}
const port = new Port()
port.postMessage(1)
client.postMessage(1)
""",
        ("postMessage", "postText"),
        {"port.postText(1)"},
    ),
}


@pytest.mark.parametrize("language", HELD)
def test_a_member_is_found_by_what_lists_hold_and_functions_take(tmp_path: Path, language: str) -> None:
    files, (old, new), found = HELD[language]
    assert {line for _, line in places(tmp_path, files, old, new)} == found


LOCAL = """
=== a.py
from b import rows as total

class Cell:
    __slots__ = ("width", "text")

    def __init__(self, width):
        self.width = width

class Wide(Cell):
    def __init__(self, width):
        super(Wide, self).__init__(width)
        print(super(Wide, self).width)

def cost(rows):
    tax = rows + 1
    def inner():
        return tax
    return tax + row.tax + f(tax=tax)

def other(tax):
    twice = tax
    if tax:
        twice = tax + 1
    return twice
"""
SCRIPT = """
=== a.ts
import { Rate as Other } from "./c"
import { Rate } from "./b"

export class Clip {
  constructor(private start = 0, end = 1) {
    end = start
  }
  size() {
    return this.start
  }
}
export type Of<T extends Rate> = T
"""


@pytest.mark.parametrize(
    ("files", "old", "new", "found"),
    [
        (LOCAL, "tax = rows", "duty = rows", {"return duty", "return duty + row.tax + f(tax=duty)"}),
        (LOCAL, "twice = tax\n", "double = tax\n", set()),
        (LOCAL, "self.width = ", "self.size = ",
         {'__slots__ = ("size", "text")', "print(super(Wide, self).size)"}),
        (SCRIPT, "private start", "private from", {"return this.from", "end = from"}),
        ("=== b.ts\nexport interface Rate {}\n" + SCRIPT.lstrip(), "Rate {}", "Speed {}",
         {'import { Speed } from "./b"', "export type Of<T extends Speed> = T"}),
        ("=== a.js\nclass Token {\n  unsubscribe() {}\n}\nsignal.unsubscribe = f\nsignal.unsubscribe()\n"
         "it.token.unsubscribe()\n", "unsubscribe", "leave", {"it.token.leave()"}),
    ],
    ids=["local", "bound twice", "slots", "property", "alias", "given"],
)  # fmt: skip
def test_names_in_functions_slots_and_aliases(
    tmp_path: Path, files: str, old: str, new: str, found: set[str]
) -> None:
    assert {line for _, line in places(tmp_path, files, old, new)} == found
