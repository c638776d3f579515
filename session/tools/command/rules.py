"""Rules by which commands run without a question: "always for ``pytest …``", by the first words of a command.

A rule covers only a plain command that begins with its words, unquoted: one program with its arguments as
they are written. Two readings have to agree on that: the grammar of bash (tree-sitter-bash), which knows what
a shell makes of a text, and Python's ``shlex``, which knows what words it has. Lists, pipes, substitutions,
redirections, variables, globs, braces, comments, escapes and continued lines are no such command.

 What it may be
about is data (``rules.toml``): a program that runs other programs gets none. Rules come from the user's
``config.toml``, from the project's ``.spark.toml`` once its content is agreed to, and from the user's
answers, which are kept for the project or for the session.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from session.base.storage.private_files import StoreError, changed_alone, replace_private

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
"""A word that every shell takes as it is."""
_UNQUOTABLE = re.compile(r"[$`\\!\"]")
"""What a shell looks for within double quotes."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command; ``bare`` if it stands there without quotes."""

    text: str
    bare: bool = True


def plain_words(command: str) -> tuple[Word, ...]:
    """The words of ``command``; empty if it is not one program with its arguments alone."""
    if not command.isprintable():
        return ()
    data = command.encode()
    root = _parser().parse(data).root_node
    if root.has_error or root.child_count != 1 or root.children[0].type != "command":
        return ()
    parts = root.children[0].children
    words = [_word(part) for part in parts]
    gaps = [data[one.end_byte : two.start_byte] for one, two in pairwise(parts)]
    around = data[: parts[0].start_byte] + data[parts[-1].end_byte :]
    if (
        parts[0].type != "command_name"
        or any(gap.strip(b" ") or not gap for gap in gaps)
        or around.strip(b" ")
    ):
        return ()
    found = tuple(word for word in words if word is not None)
    if len(found) != len(words) or not found[0].bare or "=" in found[0].text:
        return ()
    return found if [word.text for word in found] == _by_shlex(command) else ()


def _word(node: Node) -> Word | None:
    text = (node.text or b"").decode()
    match node.type:
        case "command_name" if node.child_count == 1 and node.children[0].type == "word":
            return Word(text) if _PLAIN.fullmatch(text) else None
        case "word" | "number":
            return Word(text) if _PLAIN.fullmatch(text) else None
        case "raw_string":
            return Word(text[1:-1], bare=False)
        case "string" if all(child.type in ('"', "string_content") for child in node.children):
            return None if _UNQUOTABLE.search(text[1:-1]) else Word(text[1:-1], bare=False)
        case _:
            return None


def _by_shlex(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


@cache
def _parser() -> Parser:
    import tree_sitter_bash  # only for commands, so not at the start
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


class RuleError(ValueError):
    """A text cannot be a rule; the message says why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The words with which the commands begin that run without a question."""

    words: tuple[str, ...]

    def covers(self, command: str) -> bool:
        """Whether ``command`` may run by this rule."""
        found = plain_words(command)
        first, rest = found[: len(self.words)], found[len(self.words) :]
        named = bool(first) and tuple(word.text for word in first if word.bare) == self.words
        return named and not _hands_on(self.words, [word.text for word in rest])

    def __str__(self) -> str:
        return " ".join(self.words)


def rule_for(command: str) -> Rule | None:
    """The narrowest rule that covers commands like this one; None where there can be none."""
    found = plain_words(command)
    words: list[str] = []
    for word in found:
        if not word.bare:
            break
        words.append(word.text)
    count = _needed(words)
    return Rule(tuple(words[:count])) if count else None


def parsed_rule(text: str) -> Rule:
    """The rule that the user wrote as ``text``, as in ``npm run test``. Raises RuleError."""
    words = plain_words(text)
    if not words or not all(word.bare for word in words):
        raise RuleError(
            f"{text!r} is not a program and its first arguments, without quotes or signs of a shell"
        )
    count = _needed([word.text for word in words])
    if not count:
        raise RuleError(f"{text!r} can run anything, so it cannot be a rule")
    return Rule(tuple(word.text for word in words))


def _needed(words: list[str]) -> int:
    """How many of the first ``words`` a rule needs; 0 where there can be none."""
    if not words or words[0].startswith("-"):
        return 0
    data, name = _data(), words[0].rpartition("/")[2]
    second = words[1] if len(words) > 1 else ""
    two = f"{name} {second}"
    if {name, _unversioned(name)} & data["runs_anything"] or two in data["never"]:
        return 0
    if _is_interpreter(name):
        return 3 if second == "-m" and len(words) > 2 and words[2] in data["modules"] else 0
    for taken in (1, 2):
        if " ".join((name, *words[1:taken])) in data["runs_next"] and len(words) >= taken:
            more = _needed(words[taken:])
            return taken + more if more else 0
    if name not in data["does"]:
        return 1
    if not second or second.startswith("-") or "=" in second:
        return 0
    if two in data["runs_script"]:
        return 3 if len(words) > 2 and not words[2].startswith("-") else 0
    return 2


def _is_interpreter(name: str) -> bool:
    return bool({name, _unversioned(name)} & _data()["interpreters"])


def _unversioned(name: str) -> str:
    """The name of a program without its version, as in ``python3.12`` and ``lua-5.4``."""
    return name.rstrip("0123456789.-")


def _hands_on(words: Sequence[str], rest: Sequence[str]) -> bool:
    """Whether one of ``rest``, the words behind those of a rule, lets the program run another one, or write
    a file, though it does neither without."""
    asks = _options_that_ask()
    names = [each.rpartition("/")[2] for each in words]
    spans = (" ".join(names[at : at + count]) for at in range(len(names)) for count in (1, 2))
    options = [option for span in spans for option in asks.get(span, ())]
    return any(_is_option(word, option) for word in rest for option in options)


def _is_option(word: str, option: str) -> bool:
    """Whether ``word`` gives ``option``: a long one may be cut short, a letter may stand among others."""
    if option.startswith("--"):
        name = word.partition("=")[0]
        return len(name) > 2 and name.startswith("--") and option.startswith(name)
    if len(option) == 2 and option[0] == "-":
        return word[:1] == "-" and word[:2] != "--" and option[1] in word
    return word.lstrip("-").startswith(option.lstrip("-")) and word[:1] == option[:1]


@cache
def _data() -> dict[str, Any]:
    return {name: frozenset(each) for name, each in _tables().items() if name != "asks"}


@cache
def _options_that_ask() -> dict[str, list[str]]:
    return _tables()["asks"]  # type: ignore[no-any-return]


def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8"))


NAME = "rules.json"


class KeptRules:
    """The rules that the user gave at a question in the project whose state is kept in ``folder``. Every
    method touches the disk."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME

    def read(self) -> tuple[Rule, ...]:
        """The rules, in the order in which they were given. Raises StoreError where they cannot be read."""
        try:
            return tuple(parsed_rule(_text(each)) for each in json.loads(self._file.read_bytes())["rules"])
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise StoreError(
                f"the rules in {self._file} cannot be read ({problem}); repair or remove that file"
            ) from problem

    def add(self, rule: Rule) -> None:
        """Keep one more rule. Raises StoreError."""
        self._change(lambda rules: [*(each for each in rules if each != rule), rule])

    def remove(self, rule: Rule) -> bool:
        """Take a rule back; false where it is not kept. Raises StoreError."""
        there = rule in self.read()
        if there:
            self._change(lambda rules: [each for each in rules if each != rule])
        return there

    def forget(self) -> bool:
        """Take all rules back, damaged ones too; false where there were none. Raises StoreError."""
        try:
            self._file.unlink()
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise StoreError(f"cannot remove {self._file}: {problem.strerror}") from problem
        return True

    def _change(self, changed: Callable[[Sequence[Rule]], Sequence[Rule]]) -> None:
        try:
            with changed_alone(self._file.parent):
                rules = changed(self.read())
                data = json.dumps({"rules": [str(rule) for rule in rules]}, indent=1)
                replace_private(self._file, data.encode() + b"\n")
        except OSError as problem:
            raise StoreError(f"cannot write {self._file}: {problem.strerror}") from problem


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a rule")
    return value


class CommandRules:
    """The rules of a session in the project at ``root``: ``given`` by settings, kept answers, and those for
    this session alone."""

    def __init__(self, given: Iterable[Rule], kept: KeptRules, root: Path) -> None:
        self._given = tuple(given)
        self._kept = kept
        self._root = root.resolve()
        self._session: set[Rule] = set()
        self._commands: set[str] = set()
        """Commands that no rule can be about, which the user allowed for the session as they are."""

    def allow(self, command: str) -> bool:
        """Whether ``command`` runs without a question. Reads the kept rules: they may be taken back
        meanwhile. Raises StoreError."""
        if command in self._commands:
            return True
        rules = (*self._given, *self._session, *self._kept.read())
        return any(rule.covers(command) for rule in rules) and not self._leads_out(command)

    def rule_for(self, command: str) -> Rule | None:
        """The rule that the user can give for ``command``; None where none would cover it."""
        rule = rule_for(command)
        return rule if rule is not None and rule.covers(command) and not self._leads_out(command) else None

    def for_session(self, command: str) -> None:
        """Ask no more about commands like this one in this session."""
        rule = self.rule_for(command)
        if rule is None:
            self._commands.add(command)
        else:
            self._session.add(rule)

    def always(self, command: str) -> None:
        """Ask no more about commands like this one in this project. Raises StoreError."""
        rule = self.rule_for(command)
        if rule is not None:
            self._kept.add(rule)

    def _leads_out(self, command: str) -> bool:
        """Whether an argument names a place outside of the project, or an address."""
        words = plain_words(command)[1:]
        return any(self._is_outside(place) for word in words for place in _places(word.text))

    def _is_outside(self, place: str) -> bool:
        try:
            return not (self._root / place).resolve().is_relative_to(self._root)
        except (OSError, RuntimeError, ValueError):
            return True


def _places(word: str) -> Iterator[str]:
    """What in an argument may be a path: ``-c/x``, ``--output=../x``, ``a:/x`` and ``@/x`` name one too."""
    for part in (word, *_WITHIN_WORD.split(word)[1:]):
        if "/" in part or part in ("~", ".."):
            yield part if part[0] != "~" else "/"
    if (found := _AFTER_FLAG.match(word)) is not None:
        yield found[1]


_WITHIN_WORD = re.compile("[=,:@]")
_AFTER_FLAG = re.compile(r"-{1,2}\w[\w-]*?((?:~|\.\.)?/.*)", re.DOTALL)
"""A path right behind the letter of an option."""
