"""Finds the programs that spark starts by itself, never in the project, and gives them an environment without
keys."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

_PASSED_ON = frozenset(
    {"PATH", "HOME", "LANG", "TMPDIR", "TZ", "XDG_CONFIG_HOME"}
    | {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH"}
    | {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
)
"""Variables that programs need to start; API keys and tokens are in none of them."""


def plain_environment() -> dict[str, str]:
    """The variables a helper program needs to start, and no others."""
    return {name: value for name, value in os.environ.items() if name in _PASSED_ON or name.startswith("LC_")}


def find_program(name: str, root: Path, environ: Mapping[str, str] | None = None) -> str | None:
    """The program ``name`` on the search path of ``environ``, as a rule that of this process.

    It is never one that lies in the project ``root`` or is reached by way of it, whatever the path says.
    """
    root = Path(os.path.abspath(root))  # noqa: PTH100 - ``resolve`` would follow links
    real = root.resolve()
    if os.sep in name:
        return None
    for folder in map(Path, os.get_exec_path(environ)):
        file = folder / name
        # Checked first: ``is_file`` raises for a folder that may not be entered.
        if not folder.is_absolute() or not os.access(file, os.X_OK) or not file.is_file():
            continue
        plain = Path(os.path.abspath(file))  # noqa: PTH100 - as above
        ways = (plain, plain.parent.resolve(), file.resolve())
        if not any(way.is_relative_to(each) for way in ways for each in (root, real)):
            return str(file)
    return None
