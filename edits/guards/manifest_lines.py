"""Manifests that are lines or programs: requirements of pip, ``setup.py``, and all for which Python has no
parser.

What is read from them is what they take from elsewhere, and which words are only versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

_FROM_SOMEWHERE = re.compile(r"[:/\\]|^\s*\.")
_PINNED = re.compile(r"(?<=[@:#])[\^~]?v?\d[\w.+*-]*$")


@dataclass(frozen=True, slots=True)
class Taken:
    """What a manifest takes from elsewhere: the packages it names, and each statement of where code comes
    from or what runs at install, in a few words."""

    names: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()


def source_in(spec: str) -> str | None:
    """Where a package comes from by ``spec``, without the version; None if that is a version only.

    Versions of all package managers do without ``:``, ``/`` and a dot at their beginning; addresses, paths,
    aliases and names of repositories do not.
    """
    if not _FROM_SOMEWHERE.search(spec):
        return None
    return _PINNED.sub("", spec.strip())


_VERSION = re.compile(r"""(?<=["':@=,\s^~<>(\[-])[vV]?\d+(?:\.[\w*+-]+)*(?=["'\s,)\]};/]|$)""")
_OPERATORS = re.compile(r"[~^<>=!]+\s*(?=[\"'\s,)\]};]|$)")
_WHERE = re.compile(
    r"(?i)://|\b(?:source|url|uri|repo\w*|mirror|registry|index|path|git\w*|file\w*|replace\w*|override\w*|checksum|"
    r"sha\d*|patch\w*|hosted|channel\w*|catalog\w*|maven\w*|ivy|exec|system|import|load|apply|eval)\b|[`$%]"
)
_HASH = re.compile(r"\s--hash[= ]\S+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_HEAD = re.compile(r"[\w.]+ \{")
_LONGEST = 2_000
"""Characters up to which a line is looked into; a longer one counts whole."""
_GO_BLOCK = re.compile(r"([a-z]+)\s*\($")
_TAKES = ("require", "replace", "exclude", "toolchain", "tool", "use")


@dataclass(frozen=True, slots=True)
class Lines:
    """How comments begin, the lines that say nothing new, and the blocks whose lines count; without any, all
    do."""

    comment: str
    usual: frozenset[str]
    blocks: tuple[str, ...] = ()


def read_requirements(text: str) -> Taken:
    """What lines of pip take from elsewhere (the requirements file format): packages by their names; options,
    addresses and paths are sources."""
    names: set[str] = set()
    sources: set[str] = set()
    for raw in re.sub(r"\\\r?\n", " ", text).splitlines():
        line = _HASH.sub("", re.sub(r"(^|\s)#.*", "", raw)).strip()
        if line:
            name, source = _requirement(line)
            names.update([name] if name else ())
            sources.update([source] if source else ())
    return Taken(frozenset(names), frozenset(sources))


def _requirement(line: str) -> tuple[str | None, str | None]:
    """The package that a line names and where it comes from, if that is said."""
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    if line.startswith("-") or " --" in line:
        return None, line
    try:
        found = Requirement(line)
    except InvalidRequirement:
        known = None if source_in(line) is not None else _NAME.match(line)
        return (canonicalize_name(known[0]), None) if known else (None, line)
    name = canonicalize_name(found.name)
    return name, f"{name} from {found.url}" if found.url is not None else None


def read_go(text: str) -> Taken:
    """What a go.mod or go.work takes from elsewhere (https://go.dev/ref/mod#go-mod-file)."""
    names: set[str] = set()
    sources: set[str] = set()
    block = ""
    for raw in text.splitlines():
        line = raw.partition("//")[0].strip()
        if opened := _GO_BLOCK.fullmatch(line):
            block = opened[1]
            continue
        if line == ")":
            block = ""
            continue
        verb, _, rest = (block, "", line) if block else line.partition(" ")
        rest = " ".join(rest.replace('"', "").replace("`", "").split())
        if verb == "require" and rest:
            names.add(rest.split(" ")[0])
        elif verb in _TAKES and rest:
            sources.add(f"{verb} {rest}")
    return Taken(frozenset(names), frozenset(sources))


def read_lines(text: str, how: Lines) -> Taken:
    """All lines of a text without comments and versions: those that say where code comes from as sources, the
    others as names."""
    return _taken((_bare(raw, how.comment) for raw in text.splitlines()), how.usual)


def read_blocks(text: str, how: Lines) -> Taken:
    """As :func:`read_lines`, of the blocks that ``how`` names and of lines that load code by themselves."""
    heads = "|".join(map(re.escape, how.blocks))
    opens = re.compile(rf"(?:^|[^\w.-])(?:{heads})\b[^{{\n]*(?:\{{|:\s*$|\bdo\s*$)")
    loads = re.compile(
        rf"\b(?:{heads})\b"
        r"|\b(?:Exec|JavaExec|commandLine|executable|apply|from|id|classpath|includeBuild|mavenLocal|url|uri|ext|ProcessBuilder|execute|evaluate|exec|git|path|plugin)\b"
        r"|://|https?:|\w[\w.-]*:[\w.-]+:"
    )
    kept: list[str] = []
    depth, indent = 0, -1
    for raw in text.splitlines():
        line = _bare(raw, how.comment)
        if not line:
            continue
        place = len(raw) - len(raw.lstrip())
        if indent >= 0 and place <= indent:
            indent = -1
        inside = depth > 0 or indent >= 0
        if len(line) > _LONGEST:
            kept.append(line)
            continue
        if inside or loads.search(line) or opens.search(line):
            kept.append(line)
        if opens.search(line) and not inside and "{" not in line:
            indent = place
        elif inside or opens.search(line):
            depth = max(0, depth + line.count("{") - line.count("}"))
    return _taken(kept, how.usual)


def _bare(raw: str, comment: str) -> str:
    if len(raw) > _LONGEST:
        return raw
    line = re.sub(rf"(^|\s){re.escape(comment)}.*", "", raw).strip()
    return " ".join(_OPERATORS.sub("", _VERSION.sub("", f" {line}")).split())


def _taken(lines: Iterable[str], usual: frozenset[str]) -> Taken:
    found = {line: _says_where(line, usual) for line in lines if re.search(r"\w", line)}
    return Taken(
        frozenset(line for line, where in found.items() if not where),
        frozenset(line for line, where in found.items() if where),
    )


def _says_where(line: str, usual: frozenset[str]) -> bool:
    if len(line) > _LONGEST:
        return True
    return line not in usual and not _HEAD.fullmatch(line) and bool(_WHERE.search(line))


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
