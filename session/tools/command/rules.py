"""Rules by which commands run without a question: "always for ``pytest …``", by the first words of a command.

A rule covers only a plain command (``plain_command.py``) that begins with its words, unquoted. What it may be
about is data (``rules.toml``): a program that runs other programs gets none. Rules come from the user's
``config.toml``, from the project's ``.spark.toml`` once its content is agreed to, and from the user's
answers, which are kept for the project or for the session.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from session.base.storage.private_files import StoreError, changed_alone, replace_private
from session.tools.command.plain_command import plain_words


class RuleError(ValueError):
    """A text cannot be a rule; the message says why."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The words with which the commands begin that run without a question."""

    words: tuple[str, ...]

    def covers(self, command: str) -> bool:
        """Whether ``command`` may run by this rule."""
        found = plain_words(command)[: len(self.words)]
        return bool(found) and tuple(word.text for word in found if word.bare) == self.words

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
    if name in data["runs_anything"] or two in data["never"]:
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
    """Whether ``name`` is an interpreter, with or without its version, as in ``python3.12``."""
    return name.rstrip("0123456789.") in _data()["interpreters"] or name in _data()["interpreters"]


@cache
def _data() -> dict[str, Any]:
    return {
        name: frozenset(each)
        for name, each in tomllib.loads(Path(__file__).with_name("rules.toml").read_text("utf-8")).items()
    }


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
        return None if rule is None or self._leads_out(command) else rule

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
