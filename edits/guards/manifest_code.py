"""Manifests that are programs: ``setup.py``, which runs when the project is installed."""

from __future__ import annotations

import ast

from edits.guards.manifest_lines import read_requirements
from edits.guards.taken import Taken

_PACKAGES = ("install_requires", "setup_requires", "tests_require", "extras_require", "requires")
_SOURCES = (
    "dependency_links",
    "cmdclass",
    "ext_modules",
    "command_options",
    "options",
    "distclass",
    "script_args",
)
_FINDERS = ("find_packages", "find_namespace_packages", "setuptools.find_packages")


def read_setup_py(text: str) -> Taken | None:
    """What a ``setup.py`` takes from elsewhere, and all that it runs: everything but the plain values that it
    gives to ``setup``. None if it does not parse."""
    try:
        tree = ast.parse(text)
        names: set[str] = set()
        sources: set[str] = set()
        for call in (node for node in ast.walk(tree) if _is_setup(node)):
            assert isinstance(call, ast.Call)
            call.keywords = [word for word in call.keywords if not _is_plain(word, names, sources)]
        sources.update(ast.unparse(one) for one in tree.body if not _is_nothing(one))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return Taken(frozenset(names), frozenset(sources))


def _is_setup(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    return (isinstance(called, ast.Name) and called.id == "setup") or (
        isinstance(called, ast.Attribute) and called.attr == "setup"
    )


def _is_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, imports the installer's own module, or calls ``setup`` with plain
    values only."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module in ("setuptools", "distutils.core")
    if isinstance(statement, ast.Import):
        return all(one.name == "setuptools" for one in statement.names)
    value = statement.value if isinstance(statement, ast.Expr) else None
    plain = isinstance(value, ast.Call) and _is_setup(value) and not value.args and not value.keywords
    return plain or isinstance(value, ast.Constant)


def _is_plain(word: ast.keyword, names: set[str], sources: set[str]) -> bool:
    """Whether a value runs nothing and takes nothing from elsewhere; packages that it names are added."""
    if word.arg is None or word.arg in _SOURCES:
        return False
    if word.arg == "entry_points" and "distutils" in ast.unparse(word.value):
        return False  # they take the place of commands of the installer
    if isinstance(word.value, ast.Call) and ast.unparse(word.value.func) in _FINDERS:
        return all(isinstance(one, ast.Constant) for one in word.value.args) and not word.value.keywords
    try:
        value = ast.literal_eval(word.value)
    except ValueError:
        return False
    if word.arg in _PACKAGES:
        values = list(value.values()) if isinstance(value, dict) else [value]
        flat = [one for each in values for one in ([each] if isinstance(each, str) else each)]
        taken = read_requirements("\n".join(map(str, flat)))
        names |= taken.names
        sources |= taken.sources
    return True
