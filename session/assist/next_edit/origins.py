"""Which file a name of another file comes from: import statements, read in each language's own way.

A file *exports* a definition that is in it, or that it imports under the same name from one that exports it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText

if TYPE_CHECKING:
    from tree_sitter import Node

_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs")
_HEADS = {
    "python": rb"\b(?:from|import)\b",
    "javascript": rb"\b(?:import|export|require)\b",
    "go": rb"\bimport\b",
    "rust": rb"\buse\b",
}
_STATEMENTS = {
    "import_from_statement", "import_statement", "export_statement", "import_declaration", "use_declaration",
    "variable_declarator", "import", "using_directive", "namespace_use_declaration",
}  # fmt: skip
_OTHER_HEADS = rb"\b(?:import|use|using)\b"
_PATHS = frozenset({"crate", "self", "super", "Self"})


@dataclass(slots=True)
class Origin:
    """What a file sees of a definition. ``taken`` are the nodes of the name in imports of it, ``others``
    those that import the name from elsewhere; ``modules`` are the names of the modules that export it."""

    taken: set[int] = field(default_factory=set)
    others: set[int] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    everything: bool = False
    """Whether all that such a module exports is imported."""
    exports: bool = False
    default: str = ""
    keeps: bool = False
    """Whether it exports the name by a list, in which the new name can have the old one as its alias."""
    asked: set[str] = field(default_factory=set)
    """Files that may pass the name on: those that it is imported from, and those of which all is."""


def origin(
    text: NamedText,
    path: str,
    name: str,
    exporters: Collection[str],
    paths: Collection[str],
    default: str = "",
) -> Origin:
    """What the file ``path`` sees of ``name``, which the files ``exporters`` have; ``paths`` are all files,
    and ``default`` is the one whose default export it is."""
    made = Origin(default=default)
    readers = {"python": _python, "go": _go, "rust": _rust}
    kind = text.language.name
    reader = readers.get(kind, _script if kind in ("javascript", "typescript", "tsx") else _dotted)
    for statement in _statements(text):
        reader(made, statement, path, name, exporters, paths)
    return made


def _statements(text: NamedText) -> Iterator[Node]:
    if text.root is None:
        return
    kind = "javascript" if text.language.name in ("typescript", "tsx") else text.language.name
    seen: set[int] = set()
    for match in re.finditer(_HEADS.get(kind, _OTHER_HEADS), text.source):
        node = text.root.descendant_for_byte_range(match.start(), match.end())
        while node is not None and not (node.is_named and node.type in _STATEMENTS):
            node = node.parent
        if node is not None and node.id not in seen:
            seen.add(node.id)
            yield node


def _python(
    made: Origin, node: Node, path: str, name: str, exporters: Collection[str], paths: Collection[str]
) -> None:
    module = text_of(node.child_by_field_name("module_name"))
    listed = node.children_by_field_name("name")
    if not module:
        for each in listed:
            whole = text_of(each.child_by_field_name("name") or each)
            if _any(made, python_files(path, whole, paths), exporters, paths):
                made.modules.add(text_of(each.child_by_field_name("alias")) or whole)
        return
    wanted = not listed or any(text_of(each.child_by_field_name("name") or each) == name for each in listed)
    from_it = _any(made if wanted else None, python_files(path, module, paths), exporters, paths)
    if not listed and from_it:
        made.everything = made.exports = True
    for each in listed:
        alias = each.child_by_field_name("alias")
        named = each.child_by_field_name("name") or each
        if text_of(named) == name:
            leaf = named.named_children[-1] if named.named_children else named
            (made.taken if from_it else made.others).add(leaf.id)
            if alias is not None and text_of(alias) == name and from_it:
                made.taken.add(alias.id)
            made.exports = made.exports or (from_it and text_of(alias) in ("", name))
        else:
            inside = f"{module}{'' if module.endswith('.') else '.'}{text_of(named)}"
            if _any(made, python_files(path, inside, paths), exporters, paths):
                made.modules.add(text_of(alias) or text_of(named))


def python_files(path: str, module: str, paths: Collection[str]) -> Iterator[str]:
    """The files that a module's name can mean in the file ``path``."""
    rest = module.lstrip(".")
    up = len(module) - len(rest)
    steps = rest.split(".") if rest else []
    folder = path.split("/")[:-1]
    if up:
        if up - 1 > len(folder):
            return
        roots = [folder[: len(folder) - up + 1]]
    else:
        roots = [folder[:length] for length in range(len(folder) + 1)]
        roots = [root for root in roots if "/".join([*root, "__init__.py"]) not in paths] or [[]]
        roots = [*reversed(roots), ["src"]]
    inside = bool(not up and steps and "__init__.py" in paths)  # the project's folder is itself the package
    for whole in [*([*root, *steps] for root in roots), *([steps[1:]] if inside else [])]:
        yield "/".join(whole) + ".py"
        yield "/".join([*whole, "__init__.py"])
        yield "/".join(whole) + ".pyi"


def _script(
    made: Origin, node: Node, path: str, name: str, exporters: Collection[str], paths: Collection[str]
) -> None:
    source = node.child_by_field_name("source")
    value = node.child_by_field_name("value")
    if node.type == "variable_declarator":
        if value is None or text_of(value.child_by_field_name("function")) != "require":
            return
        source = value.child_by_field_name("arguments")
    if source is None:
        for clause in node.named_children:
            for each in clause.named_children if clause.type == "export_clause" else ():
                made.keeps = made.keeps or text_of(each) == name
        return
    whole = name in text_of(node) or "*" in text_of(node) or node.type == "variable_declarator"
    files = script_files(path, text_of(source).strip("()'\"` \n"), paths)
    from_it = _any(made if whole else None, files, exporters, paths)
    if node.type == "variable_declarator":
        # What a CommonJS module exports is a property, which has its own name.
        names = node.child_by_field_name("name")
        for leaf in _leaves(names, name):
            made.others.add(leaf.id)
        return
    clauses = [child for child in node.named_children if child.type in ("import_clause", "export_clause")]
    if node.type == "export_statement" and not clauses and from_it:
        named = next((child for child in node.named_children if child.type == "namespace_export"), None)
        made.exports = made.exports or named is None
    for clause in clauses:
        for each in clause.named_children:
            if each.type == "namespace_import":
                if from_it:
                    made.modules.add(text_of(each.named_children[0]))
            elif each.type == "identifier":
                if text_of(each) == name:
                    itself = made.default in script_files(path, text_of(source).strip("()'\"` \n"), paths)
                    (made.taken if made.default and itself else made.others).add(each.id)
            else:
                for one in each.named_children if each.type == "named_imports" else [each]:
                    _specifier(made, one, name, from_it)


def _specifier(made: Origin, node: Node, name: str, from_it: bool) -> None:
    named = node.child_by_field_name("name")
    if named is not None and text_of(named) == name:
        (made.taken if from_it else made.others).add(named.id)


def script_files(path: str, module: str, paths: Collection[str]) -> Iterator[str]:
    """The files that a module can mean in the file ``path``."""
    if not module.startswith("."):
        return
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(path), module))
    stem, extension = posixpath.splitext(whole)
    bases = [whole, stem] if extension in _SCRIPTS else [whole]
    for base in bases:
        yield base
        for each in _SCRIPTS:
            yield base + each
            yield f"index{each}" if base == "." else f"{base}/index{each}"


def _go(
    made: Origin, node: Node, path: str, name: str, exporters: Collection[str], paths: Collection[str]
) -> None:
    folders = {posixpath.dirname(each) for each in exporters}
    specs = [each for child in node.named_children for each in (child, *child.named_children)]
    for each in specs:
        if each.type != "import_spec":
            continue
        module = text_of(each.child_by_field_name("path")).strip('"')
        for folder in folders:
            root_of_it = not folder and "/" in module and "." in module.split("/")[0]
            if module == folder or (folder and module.endswith(f"/{folder}")) or root_of_it:
                alias = text_of(each.child_by_field_name("name"))
                last = [part for part in module.split("/") if not re.fullmatch(r"v\d+", part)][-1]
                made.modules.add(alias or re.sub(r"\.v\d+$|^go-|-go$", "", last))
                made.everything = made.everything or alias == "."


def _rust(
    made: Origin, node: Node, path: str, name: str, exporters: Collection[str], paths: Collection[str]
) -> None:
    public = text_of(node).lstrip().startswith("pub")
    argument = node.child_by_field_name("argument")
    for steps, leaf, alias in _uses(argument, ()):
        from_it = rust_module(path, steps if leaf is None else steps[:-1], exporters)
        if leaf is None:
            made.everything = made.everything or from_it
            made.exports = made.exports or (from_it and public)
        elif text_of(leaf) == name:
            (made.taken if from_it else made.others).add(leaf.id)
            made.exports = made.exports or (from_it and public and not alias)


def _uses(node: Node | None, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Node | None, str]]:
    """The paths of a ``use``: their steps, the last one's node (None for all of a module), and the alias."""
    if node is None:
        return
    steps = (*above, *_steps(node.child_by_field_name("path")))
    if node.type == "scoped_use_list":
        for child in _listed(node.child_by_field_name("list")):
            yield from _uses(child, steps)
    elif node.type == "use_list":
        for child in _listed(node):
            yield from _uses(child, above)
    elif node.type == "use_wildcard":
        yield (*above, *_steps(node.named_children[0] if node.named_children else None)), None, ""
    elif node.type == "use_as_clause":
        path = node.child_by_field_name("path")
        leaf = path.child_by_field_name("name") if path is not None else None
        yield (*above, *_steps(path)), leaf or path, text_of(node.child_by_field_name("alias"))
    else:
        yield (*above, *_steps(node)), node.child_by_field_name("name") or node, ""


def _listed(node: Node | None) -> list[Node]:
    return [] if node is None else node.named_children


def _steps(node: Node | None) -> list[str]:
    return re.findall(r"\w+", text_of(node))


def rust_module(path: str, steps: Collection[str], exporters: Collection[str]) -> bool:
    """Whether a path in the file ``path`` means the module of a file that exports the name."""
    named = [step for step in steps if step not in _PATHS]
    first = next(iter(steps), "")
    here = posixpath.dirname(path)
    for each in exporters:
        stem = posixpath.splitext(posixpath.basename(each))[0]
        folder = posixpath.dirname(each)
        root = stem in ("lib", "main") or (stem == "mod" and not folder)
        module = posixpath.basename(folder) if stem == "mod" else stem
        if named:
            if named[-1] == module or (
                root and len(named) == 1 and first not in _PATHS and not here.startswith(folder)
            ):
                return True
        elif first == "crate":
            if root:
                return True
        elif first == "self":
            if each == path:
                return True
        elif first == "super":
            mine = posixpath.splitext(posixpath.basename(path))[0]
            above = posixpath.dirname(here) if mine == "mod" else here
            at = folder if stem in ("mod", "lib", "main") else posixpath.join(folder, stem)
            if each == path or at == above:
                return True
    return False


def _dotted(
    made: Origin, node: Node, path: str, name: str, exporters: Collection[str], paths: Collection[str]
) -> None:
    text = text_of(node)
    folders = {posixpath.dirname(each) for each in exporters}
    words = re.findall(r"\w+", re.sub(r"\bas\b.*", "", text))
    steps = [word for word in words if word not in ("import", "static", "use", "using", "function", "const")]
    if not steps:
        return
    inside = any(_ends(folder.split("/"), steps[:-1]) for folder in folders)
    if re.search(r"[*_]\s*;?\s*$", text):
        made.everything = made.everything or any(_ends(folder.split("/"), steps) for folder in folders)
    elif steps[-1] == name:
        for leaf in list(_leaves(node, name))[-1:]:
            (made.taken if inside else made.others).add(leaf.id)


def _ends(folder: list[str], steps: list[str]) -> bool:
    """Whether a folder is a package's: the last steps agree, without regard to case."""
    last = [step.lower() for step in steps][-2:]
    return bool(last) and [each.lower() for each in folder][-len(last) :] == last


def _leaves(node: Node | None, name: str) -> Iterator[Node]:
    rest = [node] if node is not None else []
    while rest:
        each = rest.pop(0)
        if not each.named_children and text_of(each) == name:
            yield each
        rest += each.named_children


def _any(
    made: Origin | None, files: Iterator[str], exporters: Collection[str], paths: Collection[str]
) -> bool:
    """Whether one of the files that a module can mean exports the name; the first that is there is asked."""
    found = next((each for each in files if each in paths), None)
    if made is not None and found is not None:
        made.asked.add(found)
    return found in exporters
