"""Makes the list of renames with their true places: ``python -m tests.bench.rename_truth WORK --servers
DIR``.

Packages are fetched with ``pip``, ``npm`` and ``apt-get`` in the versions of ``rename_packages.toml``. In
each some definitions are chosen by a seed, half of them members of others, and the language's own server
renames them: Pyright, TypeScript's, gopls and rust-analyzer, which ``DIR`` has. Where they would write, and
what, is written to ``rename_cases.json``: numbers and names, and none of the packages' text."""

from __future__ import annotations

import argparse
import json
import os
import random
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.bench.language_server import LanguageServer, ServerError
from tests.bench.rename_packages import Package, packages

CASES = Path(__file__).parent / "rename_cases.json"
SUFFIXES = {"python": (".py",), "typescript": (".ts", ".tsx", ".js"), "go": (".go",), "rust": (".rs",)}
OUTER = {5, 10, 11, 12, 13, 14, 23, 26}
"""Kinds of symbols: classes, enums, interfaces, functions, variables, constants, structs, type parameters."""
MEMBERS = {6, 7, 8, 22}
"""Methods, properties, fields, members of enums."""
MOST_PLACES = 300
PER_PACKAGE = 4
SHORTEST = 3
NEVER = ("constructor", "get", "set", "value")
"""Names that a language gives, those of a script's property descriptors among them."""


def server_of(language: str, tools: Path, root: Path) -> LanguageServer:
    """The server of a language, started in a package's folder."""
    node = tools / "node_modules"
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local"}
    commands = {
        "python": ["node", str(node / "pyright/langserver.index.js"), "--stdio"],
        "typescript": [str(node / ".bin/typescript-language-server"), "--stdio"],
        "go": ["gopls"],
        "rust": ["unshare", "-rn", str(tools / "rust-analyzer")],
    }
    if language == "rust":
        _describe_crate(root, tools)
    if language == "go" and not (root / "go.mod").exists():
        (root / "go.mod").write_text(f"module {root.name}\n\ngo 1.18\n")
    if language == "typescript":
        settings = {"allowJs": True, "checkJs": True, "target": "es2022", "module": "esnext"}
        settings |= {"moduleResolution": "bundler", "strict": True, "noEmit": True, "jsx": "react"}
        (root / "tsconfig.json").write_text(json.dumps({"compilerOptions": settings}))
    return LanguageServer(commands[language], root, environment)


def _describe_crate(root: Path, tools: Path) -> None:
    """Say what rust-analyzer would ask Cargo, which cannot fetch what the crate depends on."""
    cargo = tomllib.loads((root / "Cargo.toml").read_text())
    optional = [name for name, table in cargo.get("dependencies", {}).items() if "optional" in table]
    features = [f'feature="{name}"' for name in (*cargo.get("features", {}), *optional)]
    library = cargo.get("lib", {}).get("path", "src/lib.rs")
    crate = {
        "root_module": library,
        "edition": cargo["package"].get("edition", "2015"),
        "deps": [],
        "cfg": ["unix", "debug_assertions", "test", *features],
    }
    library_source = str(tools / "rust-src/usr/src/rustc-1.63.0/library")
    (root / "rust-project.json").write_text(json.dumps({"sysroot_src": library_source, "crates": [crate]}))


def symbols(found: list[dict[str, Any]], inside: bool = False) -> Iterator[tuple[str, int, int, int]]:
    """Names with their kind and place (from 0), without what is local to a function."""
    for each in found:
        kind = each["kind"]
        at = each["selectionRange"]["start"]
        yield each["name"], kind, at["line"], at["character"]
        if kind not in (6, 7, 9, 12, 13, 14):
            yield from symbols(each.get("children", []), True)


def files_of(root: Path, language: str) -> list[str]:
    """The source files of a package."""
    found = [path for path in sorted(root.rglob("*")) if path.suffix in SUFFIXES[language] and path.is_file()]
    names = [path.relative_to(root).as_posix() for path in found]
    return [name for name in names if not name.endswith(".d.ts") and "node_modules/" not in name]


def cases(package: Package, root: Path, tools: Path, dice: random.Random, count: int) -> list[dict[str, Any]]:
    """The renames that are chosen in one package, with their places."""
    language = package.language
    files = files_of(root, language)
    with server_of(language, tools, root) as server:
        for path in files[:150]:
            server.open(path, language)
        server.settle()
        listed = [(path, *each) for path in files for each in symbols(server.symbols(path, language))]
        dice.shuffle(listed)
        found: list[dict[str, Any]] = []
        for kinds in (OUTER, MEMBERS):
            here = [each for each in listed if each[2] in kinds]
            found += _some(package, server, root, here, count)
    return found


def _some(
    package: Package,
    server: LanguageServer,
    root: Path,
    listed: list[tuple[str, str, int, int, int]],
    count: int,
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path, name, _, line, column in listed[: 15 * count]:
        lines = (root / path).read_text("utf-8").split("\n")
        if len(name) < SHORTEST or not name.isidentifier() or name.startswith("__") or name in NEVER:
            continue
        if not lines[line][column:].startswith(name) or not lines[line].isascii():
            continue
        new = f"{name}Now"
        try:
            edits = server.rename(path, package.language, line, column, new)
        except ServerError:
            continue
        places = [each for each in edits if (each[0], each[1]) != (path, line)]
        if not 1 <= len(places) <= MOST_PLACES or len(places) == len(edits):
            continue
        if any(each[4] != new and name not in each[4] for each in edits):
            continue
        found.append(
            {"package": package.name, "language": package.language, "path": path, "line": line,
             "column": column, "old": name, "new": new, "edits": sorted(edits)}
        )  # fmt: skip
        if len(found) == count // 2:
            break
    return found


def main() -> None:
    """Make the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--servers", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--half", default="")
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--count", type=int, default=PER_PACKAGE, help="renames in each package")
    parser.add_argument("--cases", type=Path, default=CASES)
    given = parser.parse_args()
    known = json.loads(given.cases.read_text()) if given.cases.exists() else []
    for package in packages():
        if given.only not in (package.language, package.name, "") or given.half not in (package.half, ""):
            continue
        root = package.fetched(given.work.resolve())
        made = cases(
            package, root, given.servers.resolve(), random.Random(f"{given.seed} {package.name}"), given.count
        )
        print(package.name, [(each["old"], len(each["edits"])) for each in made], flush=True)
        named = package.name, package.language
        known = [each for each in known if (each["package"], each["language"]) != named] + made
        given.cases.write_text("[\n" + ",\n".join(json.dumps(each) for each in known) + "\n]\n")


if __name__ == "__main__":
    main()
