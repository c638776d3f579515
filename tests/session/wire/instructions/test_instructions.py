from __future__ import annotations

import re
import tomllib
from importlib import resources

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from context.text.tokens import Counter
from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Prose
from edits.hunk import Action, Format, Hunk
from session.wire.instructions import load_instructions, patch_tool

FORMATS = ("v4a", "search-replace")


def words(name: str) -> str:
    return resources.files("session.wire.instructions").joinpath(name).read_text("utf-8")


def parsed(text: str, step: int | None = None) -> tuple[list[Hunk], str]:
    """The hunks of ``text`` as an answer, fed in pieces of ``step`` characters, and the prose around them."""
    parser = AutoParser()
    step = step or len(text)
    events = [event for at in range(0, len(text), step) for event in parser.feed(text[at : at + step])]
    events += parser.close(clean=True)
    assert [event for event in events if isinstance(event, Broken)] == []
    hunks = [event.hunk for event in events if isinstance(event, Completed)]
    return hunks, "".join(event.text for event in events if isinstance(event, Prose))


def examples(name: str) -> str:
    """The worked examples: an answer such as the model shall write."""
    return words(f"{name}.md").split("## Examples\n", 1)[1]


def brief(hunk: Hunk) -> tuple[str, Action, tuple[str, ...], tuple[str, ...]]:
    return hunk.path, hunk.action, hunk.old, hunk.new


TOTAL = "    def total(self) -> Decimal:"
SUM_OLD = "        return sum(line.price for line in self.lines)"
SUM_NEW = "        return sum((line.price for line in self.lines), Decimal(0))"
ROUNDED = "        return round(sum((line.price for line in self.lines), Decimal(0)), 2)"
ROWS = "    rows = [format_line(line) for line in invoice.lines]"
ROW_OLD, ROW_NEW = "    rows.append(str(invoice.total() or 0))", "    rows.append(str(invoice.total()))"
RETURN = '    return "\\n".join(rows)'
EUROS = ('  return (cents / 100).toFixed(2) + " €";', "}")


@pytest.mark.parametrize("step", [None, 1, 7])
def test_the_v4a_examples_are_the_edits_they_are_meant_to_be(step: int | None) -> None:
    hunks, _ = parsed(examples("v4a"), step)
    assert {hunk.format for hunk in hunks} == {Format.V4A}
    invoice = "billing/invoice.py"
    assert [brief(hunk) for hunk in hunks] == [
        (invoice, Action.UPDATE, (TOTAL, SUM_OLD), (TOTAL, SUM_NEW)),
        (invoice, Action.UPDATE, (ROWS, ROW_OLD, RETURN), (ROWS, ROW_NEW, RETURN)),
        ("web/src/money.ts", Action.ADD, (), ("export function euros(cents: number): string {", *EUROS)),
        (
            "web/src/cart.ts",
            Action.UPDATE,
            ('import { Cart } from "./types";',),
            ('import { euros } from "./money";', 'import { Cart } from "./types";'),
        ),
        (invoice, Action.UPDATE, (TOTAL, SUM_NEW), (TOTAL, ROUNDED)),
        (invoice, Action.UPDATE, (ROWS, ROW_OLD, RETURN), (ROWS, ROW_NEW, RETURN)),
    ]
    assert [hunk.anchors for hunk in hunks] == [
        ("class Invoice",),
        ("def render(invoice: Invoice) -> str:",),
        (),
        (),
        ("class Invoice",),
        ("def render(invoice: Invoice) -> str:",),
    ]


@pytest.mark.parametrize("step", [None, 1, 7])
def test_the_search_replace_examples_are_the_edits_they_are_meant_to_be(step: int | None) -> None:
    hunks, _ = parsed(examples("search-replace"), step)
    assert {hunk.format for hunk in hunks} == {Format.SEARCH_REPLACE}
    assert [(hunk.path, hunk.old, hunk.new) for hunk in hunks] == [
        ("EXAMPLE-1.py", (TOTAL, SUM_OLD), (TOTAL, SUM_NEW)),
        ("EXAMPLE-2.ts", (), ("export function euros(cents: number): string {", *EUROS)),
        ("EXAMPLE-2.ts", (), ("export function formatEuros(cents: number): string {", *EUROS)),
    ]


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("search-replace", "lines exactly as they are in the file now"),
        ("brief-search-replace", "the lines as they are in the file now"),
    ],
)
def test_the_search_replace_template_is_a_block_without_a_name_that_could_be_copied(
    name: str, old: str
) -> None:
    parser = AutoParser(lenient=True)
    events = [*parser.feed(words(f"{name}.md").split("## Examples", 1)[0]), *parser.close(clean=True)]
    (hunk,) = [event.hunk for event in events if isinstance(event, Completed)]
    assert brief(hunk) == ("", Action.UPDATE, (old,), ("the lines to stand in their place",))


@pytest.mark.parametrize("name", ["whole", "search-replace"])
def test_the_short_form_is_short_and_says_nothing_of_tools(name: str) -> None:
    counter = Counter()
    counter.load()
    short = load_instructions(name, ("read", "search", "run"), brief=True)
    assert counter.count(short.text) <= 350 and short.text.startswith("You are spark")
    assert "`read`" not in short.text and re.fullmatch(r"[\w-]+\.\d+\+brief\.\d+", short.version)


@pytest.mark.parametrize("name", FORMATS)
def test_the_text_around_the_examples_holds_no_edit(name: str) -> None:
    _, prose = parsed(examples(name))
    assert "A new file" in prose and "After an interrupt." in prose
    assert "Begin Patch" not in prose and "SEARCH" not in prose


# --- the grammar ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grammar() -> Lark:
    return Lark(str(patch_tool()["format"]["definition"]), parser="earley")


def patches(text: str) -> list[str]:
    return re.findall(r"^\*\*\* Begin Patch\n.*?^\*\*\* End Patch\n", text, re.DOTALL | re.MULTILINE)


def test_every_example_patch_obeys_the_grammar(grammar: Lark) -> None:
    found = patches(examples("v4a"))
    assert len(found) == 3
    for patch in found:
        grammar.parse(patch)


def patch(*lines: str) -> str:
    return "\n".join(("*** Begin Patch", *lines, "*** End Patch")) + "\n"


GOOD = {
    "add": patch("*** Add File: a b/c.txt", "+one", "+", "+ two"),
    "delete": patch("*** Delete File: a.txt"),
    "move alone": patch("*** Update File: a.txt", "*** Move to: b.txt"),
    "move and change": patch("*** Update File: a.txt", "*** Move to: b.txt", "@@", "-one", "+two"),
    "end of file": patch("*** Update File: a.txt", "@@ def f():", " one", "+two", "*** End of File"),
    "no anchor": patch("*** Update File: a.txt", "-one", "+two"),
    "anchors under one another": patch("*** Update File: a.txt", "@@ class A", "@@ def f", "-one"),
    "empty lines": patch("*** Update File: a.txt", "@@", " ", "-", "+"),
    "several files": patch("*** Add File: a", "+1", "*** Delete File: b", "*** Update File: c", "@@", "-x"),
    "no newline at the end": patch("*** Delete File: a.txt")[:-1],
    "markers as content": patch("*** Update File: a", "@@", "+*** End Patch", "-@@ x", " *** Begin Patch"),
}


@pytest.mark.parametrize("name", GOOD)
def test_the_grammar_accepts_what_the_parser_lands(grammar: Lark, name: str) -> None:
    grammar.parse(GOOD[name])
    hunks, prose = parsed(GOOD[name])
    assert hunks
    assert prose.strip() == ""


BAD = {
    "prose": "I will fix it.\n",
    "prose before": "Sure!\n" + GOOD["delete"],
    "prose after": GOOD["delete"] + "Done.\n",
    "no begin": "*** Delete File: a.txt\n*** End Patch\n",
    "no end": "*** Begin Patch\n*** Delete File: a.txt\n",
    "nothing in it": "*** Begin Patch\n*** End Patch\n",
    "line without its mark": patch("*** Update File: a.txt", "@@", "one"),
    "empty new file": patch("*** Add File: a.txt"),
    "context in a new file": patch("*** Add File: a.txt", " one"),
    "no path": patch("*** Delete File: "),
    "an update of nothing": patch("*** Update File: a.txt"),
    "fenced": f"```\n{GOOD['delete']}```\n",
    "json": '{"patch": "*** Begin Patch"}',
    "empty": "",
}


@pytest.mark.parametrize("name", BAD)
def test_the_grammar_rejects_what_is_no_patch(grammar: Lark, name: str) -> None:
    with pytest.raises(UnexpectedInput):
        grammar.parse(BAD[name])


def test_the_patch_tool_is_a_freeform_tool() -> None:
    tool = patch_tool()
    assert (tool["type"], tool["name"]) == ("custom", "apply_patch")
    assert (tool["format"]["type"], tool["format"]["syntax"]) == ("grammar", "lark")


# --- versions and wording -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["common", "alone", "tools", "run", "idle", *FORMATS])
def test_each_file_has_a_head_with_its_version(name: str) -> None:
    empty, head, body = words(f"{name}.md").split("+++\n", 2)
    assert empty == ""
    version = tomllib.loads(head)["version"]
    assert type(version) is int and version >= 1
    assert body.startswith(("You are spark", "# "))


@pytest.mark.parametrize("name", FORMATS)
def test_instructions_are_the_common_part_and_the_formats_own(name: str) -> None:
    instructions = load_instructions(name)
    assert re.fullmatch(rf"{name}\.\d+\+common\.\d+\+alone\.\d+\+idle\.\d+", instructions.version)
    assert instructions.text.startswith("You are spark")
    assert "# How to write an edit" in instructions.text
    assert "+++" not in instructions.text


def test_a_model_is_told_of_the_tools_that_it_has_and_of_no_others() -> None:
    alone = load_instructions("v4a").text
    reading = load_instructions("v4a", ("read", "search", "list", "outline")).text
    running = load_instructions("v4a", ("read", "search", "list", "outline", "run")).text
    assert "`search`" not in alone and "You cannot run anything" in alone
    assert "`search`" in reading and "You cannot run anything" in reading
    assert "`search`" in running and "`run` runs a command" in running
    assert "You cannot run anything" not in running


def test_a_format_without_instructions_is_refused() -> None:
    with pytest.raises(FileNotFoundError):
        load_instructions("json")


@pytest.mark.parametrize(
    "word", ["applied", "applied_fuzzy", "already_applied", "rejected", "not_received", "undone_by_user"]
)
def test_every_word_of_the_report_is_explained(word: str) -> None:
    assert f"`{word}`" in words("common.md")
