"""What parsers say of the project's files: the names that one defines and imports, and which files hunks of a
turn left with a syntax error.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from edits.files.tree import Tree
from edits.guards.broken_files import broken_files
from edits.placing.place import Checker
from session.base.events import Event, FileBroken, HunkLanded, TurnEnded
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean, clean_line
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder

_NAME = re.compile(r"identifier|^(?:name|constant|word|variable_name|simple_symbol|atom)$")
"""The kinds of nodes that are names, in the grammars that there are."""
_LARGEST = 2_000_000
"""Characters of a text above which no definitions are looked for."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: its kind (``function``, ``class``, …), its name with those around it (``Store.add``), its
    lines from 0, ``end`` one past the last, and the line where its signature begins."""

    kind: str
    name: str
    start: int
    end: int
    head: int


def definitions_in(path: str, text: str) -> tuple[Definition, ...]:
    """The definitions in ``text``, in their order; none in a language without a grammar. It waits for
    a parser: call it in a worker thread."""
    from context.code.languages import language_of
    from context.index.outliner import OUTLINER

    language = language_of(path)
    if language is None or len(text) > _LARGEST:
        return ()
    found: list[Definition] = []
    around: list[str] = []
    for symbol in OUTLINER.definitions(language.name, text):
        del around[symbol.depth :]
        name = clean_line(symbol.name)
        whole = name if "." in name or not around else f"{around[-1]}.{name}"
        around.append(whole)
        found.append(Definition(symbol.kind, whole, symbol.start, symbol.end, symbol.head or symbol.start))
    return tuple(found)


def imported_words(path: str, text: str) -> frozenset[str]:
    """The words of the statements that import names in ``text``: the names, and where they are from. It
    parses: call it in a worker thread."""
    from context.code.languages import language_of
    from context.code.uses import imports
    from context.text.words import identifiers

    language = language_of(path)
    if language is None or len(text) > _LARGEST:
        return frozenset()
    return frozenset(word for each in imports(language, text) for word in identifiers(each.text))


def names_used(path: str, text: str, rows: Collection[int]) -> frozenset[str]:
    """The names in these rows (from 0) of ``text`` that are code: words of comments, strings and prose are
    none. It parses: call it in a worker thread."""
    from context.code.languages import is_code, language_of
    from context.code.parsing import nodes, text_of
    from context.text.words import identifiers

    if not is_code(path) or len(text) > _LARGEST or not rows:
        return frozenset()
    language = language_of(path)
    if language is None:
        lines = text.splitlines()
        return frozenset(word for row in rows if row < len(lines) for word in identifiers(lines[row]))
    return frozenset(
        text_of(node)
        for node in nodes(language, text)
        if node.start_point.row in rows and not node.named_child_count and _NAME.search(node.type)
    )


def innermost(found: tuple[Definition, ...], line: int) -> str:
    """The name of the definition that line ``line`` (from 0) is in; empty outside of all."""
    names = [each.name for each in found if each.start <= line < each.end and each.kind != "section"]
    return names[-1] if names else ""


class SyntaxVerdicts:
    """Judges the files of each turn once it has ended, however it ended: their last hunks are in."""

    def __init__(
        self,
        session: str,
        workspace: Workspace,
        thread: EditThread,
        recorder: Recorder,
        tasks: BackgroundTasks,
    ) -> None:
        self._session = session
        self._workspace = workspace
        self._thread = thread
        self._publish = recorder.publish
        self._tasks = tasks
        self._landed: set[str] = set()
        """The turns in which a hunk has landed."""
        recorder.subscribe(self.take)

    def take(self, event: Event) -> None:
        """Note what landed, and judge when its turn ends."""
        match event:
            case HunkLanded(turn=turn):
                self._landed.add(turn)
            case TurnEnded(turn=turn) if turn in self._landed:
                self._landed.discard(turn)
                doing = "looking for syntax errors"
                self._tasks.start(self._judge(turn), doing, consequence="the turn's files are not checked")
            case _:
                pass

    async def _judge(self, turn: str) -> None:
        from context.code.parsing import syntax_error

        checker: Checker = syntax_error
        workspace = self._workspace
        found = await self._thread.run(
            lambda: broken_files(Tree(workspace.root), workspace.ledger, self._session, turn, checker)
        )
        for broken in found:
            path, message = clean_line(broken.path), clean(broken.message)
            self._publish(FileBroken(turn=turn, path=path, message=message, hunks=broken.hunks))
