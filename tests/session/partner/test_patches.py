"""The partner's patches: what a script says is what goes out."""

from __future__ import annotations

import pytest

from session.partner.script_text import read_patch, search_replace, v4a

_MOVES = (
    "*** Update File: old.txt\n*** Move to: sub/new.txt\n@@\n-two\n+TWO\n",
    "*** Update File: old.txt\n*** Move to: sub/new.txt\n@@\n-two\n+TWO\n@@ class A:\n-a\n+b\n",
    "*** Update File: old.txt\n*** Move to: new.txt\n*** Delete File: gone.txt\n*** Add File: a.txt\n+a\n",
)


@pytest.mark.parametrize("body", _MOVES)
def test_a_move_goes_out_as_it_was_written(body: str) -> None:
    text = f"*** Begin Patch\n{body}*** End Patch\n"
    assert v4a(read_patch(text)) == text


def test_blocks_tell_of_a_move_in_a_sentence() -> None:
    hunks = read_patch(f"*** Begin Patch\n{_MOVES[0]}*** End Patch\n")
    written = search_replace(hunks)
    assert "`old.txt` is now called `sub/new.txt`" in written
    assert "two\n=======\nTWO" in written
