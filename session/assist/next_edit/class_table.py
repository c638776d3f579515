"""What the classes of a project have and extend, from the outlines of the files that define them.

It reads files, and outlines them in the outliner's process: call it in a worker thread.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from context.code.languages import family_of, language_of
from context.code.scopes import NamedText
from context.code.symbols import CUT, Symbol
from context.index.outliner import OUTLINER
from context.project.snapshot import Snapshot
from context.text.secrets import is_secret_file
from context.text.words import definition_term
from session.assist.next_edit.written_types import field_type, parameters_of, result_type, type_name

_OWNERS = frozenset({"class", "type"})
_MOST_FILES = 8
_GO_FIELD = re.compile(r"\*?(?:([\w, ]+?)\s+(?=[\w*\[(])|[\w.\[\]*]+$)")
_ADDS = re.compile(r"(?:unsafe\s+)?(?:impl|extension)\b")


@dataclass(slots=True)
class ClassEntry:
    """One class: the types of its members as they are written, those that it extends, and its files."""

    members: dict[str, str] = field(default_factory=dict)
    bases: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    signatures: dict[str, str] = field(default_factory=dict)
    """Those of its methods, and the types of members that are functions."""


class ClassTable:
    """The classes of one language, that of the file ``path``, in a project. A member that was ``renamed``
    from one name to another counts by its old name, which the other classes still have."""

    def __init__(self, snapshot: Snapshot, path: str, renamed: tuple[str, str] = ("", "")) -> None:
        self._snapshot = snapshot
        self.family = family_of(path)
        self._symbols: dict[str, Sequence[Symbol]] = {}
        self._entries: dict[str, ClassEntry] = {}
        self._functions: dict[str, str | None] = {}
        self._known = frozenset(snapshot.paths)
        self._renamed = renamed
        self._module: str | None = None
        self._own: dict[str, bool] = {}
        self._texts: dict[str, NamedText | None] = {}

    def text(self, path: str) -> NamedText | None:
        """The text of a file; None where it cannot be read or may not be shown."""
        if path not in self._texts:
            made, language = None, language_of(path)
            alike = family_of(path) == self.family
            if alike and not is_secret_file(path) and path in self._known:
                lines = getattr(self._snapshot.read(path), "lines", None)
                if lines is not None and language is not None:
                    made = NamedText(language, "\n".join(lines))
            self._texts[path] = made
        return self._texts[path]

    def close(self) -> None:
        """Let the trees go, one after the other: all at once would hold up every thread."""
        while self._texts:
            self._texts.popitem()
            time.sleep(0)

    def symbols(self, path: str) -> Sequence[Symbol]:
        """The outline of a file."""
        if path not in self._symbols:
            text = self.text(path)
            found = OUTLINER.definitions(text.language.name, text.source.decode()) if text is not None else ()
            self._symbols[path] = found
        return self._symbols[path]

    def entry(self, name: str) -> ClassEntry:
        """The class ``name``, as all files that define it say."""
        if name not in self._entries:
            made = ClassEntry()
            self._entries[name] = made
            for path in self._defining(name):
                self._add(made, name, path)
        return self._entries[name]

    def _add(self, entry: ClassEntry, name: str, path: str) -> None:
        for owner, symbol in _members(self.symbols(path)):
            bare = re.sub(r"<.*", "", symbol.name)
            if symbol.kind in _OWNERS and bare == name:
                if not _ADDS.match(symbol.signature):
                    entry.paths.add(path)
                entry.bases |= _bases(name, self._whole(path, symbol))
            elif owner == name:
                member = symbol.name.rpartition(".")[2]
                member = self._renamed[0] if member == self._renamed[1] else member
                if (
                    re.fullmatch(rf"\*?(?:\w+\.)?{re.escape(member)}", symbol.signature)
                    and symbol.kind == "field"
                ):
                    entry.bases.add(member)  # a field without a name: Go's way to extend
                if symbol.kind == "function" or "(" in symbol.signature.partition("=")[0]:
                    written = result_type(symbol.signature) or ""
                else:
                    written = field_type(symbol.signature, member)
                entry.signatures.setdefault(member, self._whole(path, symbol))
                entry.members.setdefault(member, self._written(written, path))

    def _whole(self, path: str, symbol: Symbol) -> str:
        """A signature, in full."""
        text = self.text(path)
        if CUT not in symbol.signature or text is None:
            return symbol.signature
        lines = text.source.split(b"\n")[symbol.head : symbol.head_end]
        return " ".join(b" ".join(lines).decode().split())

    def _written(self, written: str, path: str) -> str:
        """A type as a file writes it; one of another project's package in Go is as one of the language's
        own."""
        package = re.match(r"[*&]?(\w+)\.", written)
        if self.family == "python" and written:
            text = self.text(path)
            names = (package[1] if package is not None else "", type_name(written) or "")
            return "[]" if text is not None and any(self.foreign(text, each) for each in names) else written
        text = self.text(path) if package is not None and self.family == "go" else None
        if package is None or text is None or self.imported_here(text, package[1]):
            return written
        return "[]"

    def imported_here(self, text: NamedText, name: str) -> bool:
        """Whether a package of Go that a file imports as ``name`` is the project's."""
        word = re.escape(name.encode())
        found = re.search(rb'(?:\b%b\s+"([^"]+)")|"((?:[^"]*/)?%b(?:/v\d+)?)"' % (word, word), text.source)
        return found is None or self.own_package((found[1] or found[2]).decode())

    def foreign(self, text: NamedText, name: str) -> bool:
        """Whether a file of Python has a name from another project: what it imports it from, or as, is none
        of this one's folders and files."""
        word = re.escape(name.encode())
        said = rb"^\s*from\s+(\w+)[\w.]*\s+import\b(?:\s*\([^)]*|[^\n(]*)\b%b\b|^\s*import\s+(%b)\b" % (
            word,
            word,
        )
        found = re.search(said, text.source, re.MULTILINE) if name else None
        if found is None:
            return False
        top = (found[1] or found[2]).decode()
        if top not in self._own:
            parts = re.compile(rf"(?:^|/){top}(?:/|\.pyi?$)")
            self._own[top] = any(map(parts.search, self._known))
        return not self._own[top]

    def known(self, name: str) -> bool:
        """Whether the project defines a class ``name``."""
        return bool(self.entry(name).paths)

    def ancestors(self, name: str) -> set[str]:
        """What a class extends, and what that extends."""
        found: set[str] = set()
        rest = [name]
        while rest and len(found) < 50:
            for base in self.entry(rest.pop()).bases - found:
                found.add(base)
                rest.append(base)
        return found - {name}

    def own_package(self, module: str) -> bool:
        """Whether an import of Go is of this project: below what ``go.mod`` names, else of one of its
        folders."""
        if self._module is None:
            lines = (
                getattr(self._snapshot.read("go.mod"), "lines", None)
                if "go.mod" in self._snapshot.paths
                else None
            )
            named = [
                line.split()[1]
                for line in lines or ()
                if line.startswith("module ") and len(line.split()) > 1
            ]
            self._module = named[0].strip('"') if named else ""
        if self._module:
            return module == self._module or module.startswith(f"{self._module}/")
        return any(
            path.rpartition("/")[0].endswith(module.rpartition("/")[2]) for path in self._snapshot.paths
        )

    def member_type(self, name: str, member: str) -> str | None:
        """The written type of a class's member, which it may have from one that it extends."""
        for each in (name, *sorted(self.ancestors(name))):
            if member in self.entry(each).members:
                return self.entry(each).members[member]
        return None

    def parameter(self, owner: str, name: str, at: int) -> str:
        """The written type of the parameter ``at`` (from 0) of a method of ``owner``, or without one, of a
        function or of a type of functions; empty where that is not told."""
        if owner:
            found = [
                self.entry(each).signatures[name]
                for each in (owner, *sorted(self.ancestors(owner)))
                if name in self.entry(each).signatures
            ][:1]
        else:
            found = sorted(
                {
                    self._whole(path, symbol)
                    for path in self._defining(name)
                    for symbol in self.symbols(path)
                    if re.sub(r"<.*", "", symbol.name) == name
                }
            )
        written = parameters_of(found[0]) if len(found) == 1 else []
        return written[at] if at < len(written) else ""

    def result_of(self, function: str) -> str | None:
        """The written type of what a function of the project gives; None where two of the name differ."""
        if function not in self._functions:
            results = {
                result_type(symbol.signature)
                for path in self._defining(function)
                for symbol in self.symbols(path)
                if symbol.name == function and symbol.kind == "function"
            }
            self._functions[function] = next(iter(results)) if len(results) == 1 else None
        return self._functions[function]

    def owners(self, member: str, paths: Sequence[str]) -> set[str]:
        """The classes in some files that have a member ``member``."""
        found: set[str] = set()
        for path in paths:
            for owner, symbol in _members(self.symbols(path)):
                if symbol.name.rpartition(".")[2] == member and owner:
                    found.add(owner)
        return found

    def _defining(self, name: str) -> list[str]:
        scores = self._snapshot.words.score({definition_term(name.lower()): 1.0})
        ranked = sorted(scores, key=lambda path: (-scores[path], path))
        return [path for path in ranked if family_of(path) == self.family][:_MOST_FILES]


def _members(symbols: Sequence[Symbol]) -> list[tuple[str, Symbol]]:
    """The definitions with the class that each is a member of; empty for none."""
    made: list[tuple[str, Symbol]] = []
    around: list[Symbol] = []
    for symbol in symbols:
        del around[symbol.depth :]
        outer = around[-1] if around else None
        owner = (
            outer.name if outer is not None and outer.kind in _OWNERS and not symbol.inside_function else ""
        )
        receiver = re.match(r"func \(\s*(?:\w+\s+)?\*?(\w+)", symbol.signature)
        if receiver is not None:
            owner = receiver[1]
        if not symbol.name and (field := _GO_FIELD.match(symbol.signature)) is not None:
            names = field[1].split(",") if field[1] else [re.split(r"[.\]]", field[0])[-1].strip("* ")]
            parts = [symbol._replace(name=name.strip(), kind="field") for name in names]
            made += [(owner, part) for part in parts[1:]]
            symbol = parts[0]
        around.append(symbol)
        made.append((re.sub(r"<.*", "", owner).rpartition(".")[2].rpartition("::")[2], symbol))
    return made


def _bases(name: str, signature: str) -> set[str]:
    _, _, rest = signature.partition(name)
    if signature.startswith(("impl", "unsafe impl")):
        found = re.search(r"(\w+)(?:<.*>)?\s+for\s", signature)
        return {found[1]} if found is not None else set()
    rest = rest.replace("=>", "")
    while (less := re.sub(r"<[^<>]*>", "", rest)) != rest:
        rest = less
    if (alias := re.match(r"\s*=\s*(.+)", rest)) is not None:
        base = type_name(alias[1])
        return {base} if base else set()
    if re.match(r"\s*(?:\(|:|extends|implements|<)", rest) is None:
        return set()
    return set(re.findall(r"\b[^\W\d]\w+\b", rest)) - {"extends", "implements", "public", "metaclass", "with"}
