"""A notebook (``.ipynb``) as the text of its cells, with the lines by which edits find them.

The text is the one that ``edits/files/notebook.py`` writes back: a test holds both to the same.
"""

from __future__ import annotations

import json
import re

LARGEST_NOTEBOOK = 8_000_000
"""Size in bytes above which no notebook is read: pictures in its outputs make it long, and are not shown."""
HEAD = re.compile(r"# %%(?: \[(markdown|raw)\])?")
"""Matches the line above each cell."""


def is_notebook(path: str) -> bool:
    """Whether a file is a notebook by its name."""
    return path.lower().endswith(".ipynb")


def cells_text(raw: str) -> str | None:
    """The cells' sources, each below a line that says its kind; None if ``raw`` is no notebook of version 4,
    or if its cells could not be told apart again."""
    try:
        whole = json.loads(raw)
        cells = [_cell(cell) for cell in whole["cells"]]
        text = "".join(f"{head}\n{source}\n" for head, source in cells)
        text.encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    heads = sum(HEAD.fullmatch(line) is not None for line in text.split("\n"))
    fits = whole["nbformat"] == 4 and isinstance(whole["cells"], list)
    return text if fits and heads == len(cells) and "\r" not in text else None


def without_prose(text: str) -> str:
    """The text of cells with empty lines in place of the lines above cells, and of what is no code."""
    lines, code = [], True
    for line in text.split("\n"):
        if head := HEAD.fullmatch(line):
            code = head[1] is None
        lines.append(line if code and not head else "")
    return "\n".join(lines)


def _cell(cell: dict[str, object]) -> tuple[str, str]:
    kind, source = cell["cell_type"], cell["source"]
    joined = "".join(source) if isinstance(source, list) else source
    if kind not in ("code", "markdown", "raw") or not isinstance(joined, str):
        raise ValueError("an unknown cell")
    return f"# %%{'' if kind == 'code' else f' [{kind}]'}", joined
