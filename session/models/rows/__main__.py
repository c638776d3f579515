"""``python3 -m session.models.rows [WHEEL] [--dry-run]``: make ``session/models/models.toml``.

The rows come from ``pinned.toml``, a cut of litellm's table with its version and date, and from
``own.toml``, which is written by hand. With a wheel of litellm (``pip download --no-deps litellm``) the cut
is made anew. Each value that changes is printed; ``--dry-run`` writes nothing.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

from session.base.text.tables import TableError
from session.models.rows.making import as_toml, differences, made, names_in
from session.models.rows.public_table import PublicTable, read_wheel

HERE = Path(__file__).parent
PINNED, OWN, MODELS = HERE / "pinned.toml", HERE / "own.toml", HERE.parent / "models.toml"


def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8"))


def pinned() -> PublicTable:
    """The cut of the public table that is in the repository."""
    data = _read(PINNED)
    return PublicTable(data["table"]["version"], data["table"]["date"], data["rows"])


def models_text(own: dict[str, Any], table: PublicTable) -> str:
    """The text of ``models.toml``. Raises TableError."""
    head = (
        f"Made by python3 -m session.models.rows from litellm {table.version} ({table.date}) and own.toml.\n"
        "Change own.toml beside that command, not this file."
    )
    return as_toml("models", made(own, table), head)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python3 -m session.models.rows")
    parser.add_argument("wheel", nargs="?", type=Path, help="a wheel of litellm, to cut the table anew")
    parser.add_argument("--dry-run", action="store_true", help="print what would change, and write nothing")
    given = parser.parse_args(arguments)
    own = _read(OWN)
    try:
        table = _cut(given.wheel, own) if given.wheel else pinned()
        text = models_text(own, table)
    except TableError as problem:
        print(problem, file=sys.stderr)
        return 1
    before = _read(MODELS)["models"] if MODELS.exists() else {}
    for line in differences(before, tomllib.loads(text)["models"]):
        print(line)
    if not given.dry_run:
        head = "A cut of litellm's table of models and prices (MIT), which this folder's command makes."
        version = f'[table]\nversion = "{table.version}"\ndate = "{table.date}"\n'
        PINNED.write_text(as_toml("rows", table.rows, head).replace("\n\n", f"\n\n{version}\n", 1), "utf-8")
        MODELS.write_text(text, "utf-8")
    return 0


def _cut(wheel: Path, own: dict[str, Any]) -> PublicTable:
    return read_wheel(wheel, date.today().isoformat()).kept(names_in(own))


if __name__ == "__main__":
    sys.exit(main())
