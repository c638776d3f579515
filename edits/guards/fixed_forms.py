"""Files that are text and more: an edit that would leave them without their form is refused.

A Git LFS pointer stands for a file that was not fetched (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md):
what is edited in it is lost, or breaks it. A Jupyter notebook is one JSON object
(https://nbformat.readthedocs.io): no program opens one that does not parse.
"""

from __future__ import annotations

import json

from edits.hunk import RefusalCode

_POINTERS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")
_LONGEST_POINTER = 1_024
_NOTEBOOK = ".ipynb"


def is_pointer(data: bytes | None) -> bool:
    """Whether a file is a Git LFS pointer in place of its contents."""
    return data is not None and len(data) < _LONGEST_POINTER and data.startswith(_POINTERS)


def loses_its_form(path: str, before: bytes | None, after: bytes | None) -> tuple[RefusalCode, str] | None:
    """Why a change of the file ``path`` must not be made; None where it may. ``after`` is None for a file
    that is deleted."""
    if after is None or after == before:
        return None
    if is_pointer(before):
        fetch = f"git lfs pull --include '{path}'"
        return RefusalCode.BINARY, f"{path} is a Git LFS pointer, not the file itself; `{fetch}` fetches that"
    if path.lower().endswith(_NOTEBOOK):
        wrong = _not_a_notebook(after)
        if wrong and (before is None or not before.strip() or not _not_a_notebook(before)):
            return RefusalCode.MALFORMED, f"{path} would no longer parse as a notebook: {wrong}"
    return None


def _not_a_notebook(data: bytes) -> str:
    """Why ``data`` is no notebook; empty where it is one."""
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as problem:
        return f"line {problem.lineno}, column {problem.colno}: {problem.msg}"
    except (ValueError, RecursionError):
        return "it is no JSON in UTF-8"
    if not isinstance(found, dict):
        return "it is no JSON object"
    cells = found.get("cells", found.get("worksheets"))
    if not isinstance(cells, list):
        return 'it has no list of "cells"'
    return "" if all(isinstance(cell, dict) for cell in cells) else 'each of "cells" is an object'
