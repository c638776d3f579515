"""The tools that a check's command runs, and in what two machines differ there. Pure.

A worker judges only with the tools of the machine that judged the project before any edit: the same versions
of the programs in the command, and for those written in Python the same packages.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping

Tools = Mapping[str, str]
"""Versions by the name of a program or package; empty for a program that is not installed."""

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ENDS = frozenset({";", "&&", "||", "|", "&", "(", ")", "\n"})
_PREFIXES = frozenset({"env", "exec", "command", "time", "nice", "!"})
_MARK = "spark-tool"
_MOST_TOLD = 3
_PACKAGES = """
import importlib.metadata as m, os, sys
here = ("", os.getcwd())  # the project itself is no tool
for d in m.distributions(path=[each for each in sys.path if each not in here]):
    where = d.read_text("direct_url.json") or ""
    if d.metadata["Name"] and '"dir_info"' not in where:
        print("@", d.metadata["Name"].lower().replace("_", "-"), d.version)
"""


def programs(command: str) -> tuple[str, ...]:
    """The programs that ``command`` runs, in their order. Those of the project itself are left out, and
    where the command cannot be read as words there are none."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    found: dict[str, None] = {}
    expected = True
    try:
        for word in lexer:
            if word in _ENDS:
                expected = True
            elif expected and not _ASSIGNMENT.match(word) and word not in _PREFIXES:
                expected = False
                if "/" not in word or word.startswith("/"):
                    found[word] = None
    except ValueError:
        return ()
    return tuple(found)


def probe(names: Iterable[str]) -> str:
    """A shell line that prints the versions of the programs ``names``, for :func:`read`."""
    lines = [
        'packages() { "$1" -c ' + shlex.quote(_PACKAGES) + " 2>/dev/null; }",
        "probe() {",
        f"  printf '{_MARK} %s\\n' \"$1\"",
        '  found=$(command -v "$1") || return 0',
        '  "$1" --version </dev/null 2>&1 | head -n 1',
        '  case "$1" in *python*) packages "$1"; return 0;; esac',
        '  case "$found" in /*) ;; *) return 0;; esac',
        '  first=$(head -c 256 "$found" 2>/dev/null | head -n 1 | tr -d "\\000")',
        '  case "$first" in "#!"*python*) packages "${first#??}";; esac',
        "}",
        *(f"probe {shlex.quote(name)}" for name in names),
    ]
    return "\n".join(lines)


def read(output: str) -> Tools:
    """The tools in the output of :func:`probe`."""
    found: dict[str, str] = {}
    name = ""
    for line in output.splitlines():
        if line.startswith(f"{_MARK} "):
            name = line.removeprefix(f"{_MARK} ")
            found[name] = ""
        elif line.startswith("@ ") and len(parts := line.split()) == 3:
            found[f"{parts[1]} (Python)"] = parts[2]
        elif name and not found[name]:
            found[name] = line.strip()
    return found


def differences(here: Tools, there: Tools) -> str:
    """In what the tools ``there`` are not those ``here``, in words; empty where nothing is missing and every
    version is the same. More packages than here do no harm."""
    told = []
    for name, version in here.items():
        if name not in there or (version and not there[name]):
            told.append(f"{name} is not installed")
        elif there[name] != version:
            told.append(f"{name} is {there[name]!r} and not {version!r}")
    more = f" and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return f"{', '.join(told[:_MOST_TOLD])}{more}" if told else ""
