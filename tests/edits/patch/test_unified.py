"""Diffs for the model, in the form that ``patch`` and git read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edits.git_patch import unified_hunks

LINES = st.lists(st.sampled_from(["", "a", "b", "c", "}", "-x", "+y", "@@"]), max_size=14)


def patched(old: list[str], diff: list[str]) -> list[str]:
    """``old`` after the hunks in ``diff``, each of which has to say the truth about its lines."""
    result: list[str] = []
    at = 0
    lines = iter(diff)
    line = next(lines, None)
    while line is not None:
        assert line.startswith("@@ -")
        removed, added = (part[1:].split(",") for part in line.split(" ")[1:3])
        count = int(removed[1]) if len(removed) == 2 else 1
        new_count = int(added[1]) if len(added) == 2 else 1
        start = int(removed[0]) - (count > 0)
        result += old[at:start]
        assert len(result) == int(added[0]) - (new_count > 0)
        at = start
        while count or new_count:
            line = next(lines)
            kind, text = line[0], line[1:]
            if kind in " -":
                assert old[at] == text
                at, count = at + 1, count - 1
            if kind in " +":
                result.append(text)
                new_count -= 1
        line = next(lines, None)
    return result + old[at:]


@given(LINES, LINES, st.integers(0, 3))
def test_the_hunks_turn_one_text_into_the_other(old: list[str], new: list[str], context: int) -> None:
    assert patched(old, list(unified_hunks(old, new, context=context))) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([], ["first"]),
        (["only"], []),
        (["a", "b", "c", "d", "e", "f", "g"], ["a", "B", "c", "d", "e", "F", "g"]),
        (["a", "b", "c"], ["a", "b", "c", "d"]),
        (["a"] * 20, ["b", *["a"] * 18, "c"]),
    ],
)
def test_git_takes_the_hunks_as_a_patch(tmp_path: Path, old: list[str], new: list[str]) -> None:
    file = tmp_path / "a.txt"
    file.write_text("".join(f"{line}\n" for line in old))
    diff = ["--- a/a.txt", "+++ b/a.txt", *unified_hunks(old, new, context=1)]
    command = ["git", "apply", "--unidiff-zero", "-"]
    subprocess.run(command, input="\n".join(diff) + "\n", text=True, cwd=tmp_path, check=True)
    assert file.read_text() == "".join(f"{line}\n" for line in new)
